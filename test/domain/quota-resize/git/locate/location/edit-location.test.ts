import { describe, expect, it } from 'vitest';
import {
  editLocation,
  editLocations,
  limitsInGit,
} from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { QuotaLocation } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { unifiedDiff } from '../../../../../../domain/quota-resize/git/yaml/unified-diff.ts';
import { generateCheckout, shapeNames } from '../../../../../layouts/generate.ts';
import { type Files, layoutFiles, wholeTree } from '../../../../../layouts/tree.ts';

function placeIn(files: Files, id: string): QuotaLocation {
  const scan = scanQuotas(wholeTree(files));
  const location =
    scan.kind === 'missingFiles' ? undefined : scan.quotas.find(({ namespace, name }) => `${namespace}/${name}` === id);
  if (location === undefined) {
    throw new Error(`${id} is not placed`);
  }
  return location;
}

/** The lines that the edit takes away and adds, each after its file's name; a problem's message where there is one. */
function changes(files: Files, id: string, limits: Readonly<Record<string, string>>): readonly string[] | string {
  const result = editLocation(wholeTree(files), placeIn(files, id), limits);
  if (result.kind !== 'edited') {
    return result.message;
  }
  return unifiedDiff(result.edits)
    .split('\n')
    .flatMap((line) => (line.startsWith('+++ ') ? [line.slice(6)] : /^[-+](?!--)/.test(line) ? [line] : []));
}

describe('raising limits', () => {
  const kustomize = layoutFiles('kustomize');
  const helm = layoutFiles('helm');
  const plain = layoutFiles('plain');

  it('that an overlay patches changes that patch', () => {
    expect(changes(kustomize, 'strategic/compute', { 'requests.cpu': '8' })).toEqual([
      'overlays/strategic/quota-patch.yaml',
      '-    requests.cpu: "6" # more than the base',
      '+    requests.cpu: "8" # more than the base',
    ]);
    expect(changes(kustomize, 'inline/compute', { 'requests.memory': '20Gi' })).toEqual([
      'overlays/inline/kustomization.yaml',
      '-          requests.memory: 16Gi # kept',
      '+          requests.memory: 20Gi # kept',
    ]);
    expect(changes(kustomize, 'json/compute', { 'requests.nvidia.com/gpu': '2' })).toEqual([
      'overlays/json/kustomization.yaml',
      '-        value: "1"',
      '+        value: "2"',
    ]);
    expect(changes(kustomize, 'json6902/compute', { pods: '31' })).toEqual([
      'overlays/json6902/pods.json',
      '-[{ "op": "replace", "path": "/spec/hard/pods", "value": "30" }]',
      '+[{ "op": "replace", "path": "/spec/hard/pods", "value": "31" }]',
    ]);
  });

  it('of a shared base extends the patch of the overlay', () => {
    expect(changes(kustomize, 'strategic/compute', { pods: '30' })).toEqual([
      'overlays/strategic/quota-patch.yaml',
      '+    pods: "30"',
    ]);
    expect(changes(kustomize, 'inline/compute', { 'requests.cpu': '5' })).toEqual([
      'overlays/inline/kustomization.yaml',
      '+          requests.cpu: "5"',
    ]);
  });

  it('of a shared base gives an overlay without one a patch, for all limits together', () => {
    expect(changes(kustomize, 'plain/compute', { pods: '30', 'requests.cpu': '4500m' })).toEqual([
      'overlays/plain/kustomization.yaml',
      '+patches:',
      '+- path: resourcequota-compute-patch.yaml',
      'overlays/plain/resourcequota-compute-patch.yaml',
      '+apiVersion: v1',
      '+kind: ResourceQuota',
      '+metadata:',
      '+  name: compute',
      '+spec:',
      '+  hard:',
      '+    pods: "30"',
      '+    requests.cpu: "4500m"',
    ]);
  });

  it('of a component that others use too gives the overlay a patch, which comes after it', () => {
    const id = 'large-a/compute';
    const result = editLocation(wholeTree(kustomize), placeIn(kustomize, id), { 'requests.cpu': '40' });
    const edits = result.kind === 'edited' ? result.edits : [];
    expect(edits.map(({ path }) => path)).toEqual([
      'overlays/large-a/kustomization.yaml',
      'overlays/large-a/resourcequota-compute-patch.yaml',
    ]);
    const after = { ...kustomize, ...Object.fromEntries(edits.map(({ path, after }) => [path, after])) };
    expect(limitsInGit(placeIn(after, id), ['requests.cpu'])).toEqual({ 'requests.cpu': '40' });
    expect(limitsInGit(placeIn(after, 'large-b/compute'), ['requests.cpu'])).toEqual({ 'requests.cpu': '32' });
  });

  it('in charts changes the values file, or the template where the limit stands in it', () => {
    expect(changes(helm, 'helm-one/compute', { 'requests.cpu': '3' })).toEqual([
      'charts/one/values.yaml',
      '-  requests.cpu: "2" # cores',
      '+  requests.cpu: "3" # cores',
    ]);
    expect(changes(helm, 'helm-keys/compute', { pods: '16', 'limits.memory': '7Gi' })).toEqual([
      'charts/keys/templates/all.yaml',
      '-    pods: "15"',
      '+    pods: "16"',
      'charts/keys/values.yaml',
      '-  memory: 6Gi',
      '+  memory: 7Gi',
    ]);
    expect(changes(helm, 'red/compute', { services: '4' })).toMatch(
      /the value of services at charts\/envs\/values\.yaml:1 may be used by 3 quotas/,
    );
  });

  it('of an alias writes the value out at its own location, and leaves the anchor alone', () => {
    expect(changes(plain, 'team-f/compute', { 'limits.cpu': '3' })).toEqual([
      'namespaces/prod/team-f/anchors.yaml',
      '-    limits.cpu: *cpu',
      '+    limits.cpu: "3"',
    ]);
    expect(changes(plain, 'team-f/compute', { 'requests.cpu': '3' })).toMatch(/belongs to the YAML anchor &cpu/);
  });

  it('that Git holds already, or more of, changes nothing', () => {
    expect(changes(plain, 'team-e/compute', { 'requests.cpu': '2000m', pods: '3' })).toEqual([]);
  });

  it('by the other name of a resource changes the key that is there', () => {
    const files = {
      'q.yaml': 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: n}\nspec:\n  hard: {cpu: 1}\n',
    };
    expect(changes(files, 'n/q', { 'requests.cpu': '2' })).toEqual([
      'q.yaml',
      '-  hard: {cpu: 1}',
      '+  hard: {cpu: 2}',
    ]);
    expect(changes(files, 'n/q', { pods: '2' })).toMatch(/sets no pods in Git; write the key out \(q\.yaml:3\)/);
  });

  it('finds another name for a patch where the usual one is taken', () => {
    const existing = { ...kustomize, 'overlays/plain/resourcequota-compute-patch.yaml': '# somebody else\n' };
    const lines = changes(existing, 'plain/compute', { pods: '30' });
    expect(lines).toContain('overlays/plain/resourcequota-compute-patch-2.yaml');
    expect(lines).toContain('+- path: resourcequota-compute-patch-2.yaml');
  });
});

describe('raising many quotas together', () => {
  const { files, quotas } = generateCheckout(7, { quotas: 3 * shapeNames.length, others: 0 });
  const raises = quotas.map(({ namespace, name }) => ({
    location: placeIn(files, `${namespace}/${name}`),
    limits: { pods: '1000', 'requests.cpu': '64' },
  }));

  it('writes what raising them one by one writes', () => {
    const tree = wholeTree(files);
    const texts = new Map(tree.texts);
    for (const { location, limits } of raises) {
      const result = editLocation({ paths: tree.paths, texts }, location, limits);
      for (const { path, after } of result.kind === 'edited' ? result.edits : []) {
        texts.set(path, after);
      }
    }
    const together = editLocations(tree, raises);
    const edits = together.kind === 'edited' ? together.edits : [];
    expect(edits.length).toBeGreaterThanOrEqual(quotas.length);
    expect(new Map(edits.map(({ path, after }) => [path, after]))).toEqual(
      new Map([...texts].filter(([path, text]) => files[path] !== text)),
    );
  });

  it('writes none where one of them is rejected', () => {
    const [first] = raises;
    const refused = first === undefined ? [] : [{ location: first.location, limits: { secrets: '3' } }];
    expect(editLocations(wholeTree(files), [...raises, ...refused])).toMatchObject({
      kind: 'unplaceable',
      message: expect.stringMatching(/sets no secrets/) as string,
    });
  });

  it('of one overlay gives each a patch of its own, all named in the kustomization', () => {
    const quota = (name: string) =>
      `apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: ${name}}\nspec:\n  hard: {pods: 1}\n`;
    const overlay = (namespace: string) => `namespace: ${namespace}\nresources: [../base]\n`;
    const shared: Files = {
      'base/kustomization.yaml': 'resources: [q.yaml]\n',
      'base/q.yaml': `${quota('one')}---\n${quota('two')}`,
      'east/kustomization.yaml': overlay('east'),
      'west/kustomization.yaml': overlay('west'),
    };
    const locations = ['east/one', 'east/two'].map((id) => ({ location: placeIn(shared, id), limits: { pods: '2' } }));
    const result = editLocations(wholeTree(shared), locations);
    const after = result.kind === 'edited' ? result.edits : [];
    expect(after.map(({ path }) => path)).toEqual([
      'east/kustomization.yaml',
      'east/resourcequota-one-patch.yaml',
      'east/resourcequota-two-patch.yaml',
    ]);
    expect(after[0]?.after).toBe(
      `${overlay('east')}patches:\n- path: resourcequota-one-patch.yaml\n- path: resourcequota-two-patch.yaml\n`,
    );
  });
});
