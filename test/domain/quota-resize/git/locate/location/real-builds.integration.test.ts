/** The real kustomize and helm confirm that an edit changes the limit that it was made for, and nothing else. */
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
} from '../../../../../../domain/kernel/quantity.ts';
import type { ResourceList } from '../../../../../../domain/kernel/resource-list.ts';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { QuotaLocation } from '../../../../../../domain/quota-resize/git/locate/location/location.ts';
import { scanQuotas, type ScanOptions } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { generateCheckout, shapeNames } from '../../../../../layouts/generate.ts';
import { overlayRepository } from '../../../../../layouts/large-repositories.ts';
import { differences, RealBuilds } from '../../../../../layouts/real-builds.ts';
import { type Files, layoutFiles, wholeTree } from '../../../../../layouts/tree.ts';
import { longOnly } from '../../../../../kernel/long.ts';

/** What a kustomization of the examples fetches. */
const REMOTES = {
  'https://github.com/acme/base': {
    'kustomization.yaml': 'resources:\n  - quota.yaml\n',
    'quota.yaml': layoutFiles('kustomize')['base/quota.yaml'] ?? '',
  },
};

function quotasOf(files: Files, options: ScanOptions): readonly QuotaLocation[] {
  const scan = scanQuotas(wholeTree(files), options);
  if (scan.kind === 'missingFiles') throw new Error(`everything is known, and ${scan.paths.join(', ')} is asked for`);
  return scan.quotas;
}

/** Twice the limit: no edit can have it by chance. */
function doubled(text: string): string {
  const limit = parseQuantity(text);
  return formatQuantity(addQuantities(limit, limit));
}

/** What pull requests raise: one limit alone, another one in each quota, and all that can be raised at once. */
function raisesOf(files: Files, location: QuotaLocation, index: number): readonly ResourceList[] {
  const limits = Object.entries(location.values)
    .map(([resource, { text }]) => [resource, doubled(text)] as const)
    .filter(([resource, limit]) => editLocation(wholeTree(files), location, { [resource]: limit }).kind === 'edited');
  const alone = limits[index % limits.length];
  if (alone === undefined) return [];
  const single = Object.fromEntries([alone]);
  return limits.length === 1 ? [single] : [single, Object.fromEntries(limits)];
}

/** `"2"`, 2 and 2000m are the same limit. */
function isTheLimit(built: unknown, limit: string | undefined): boolean {
  return limit !== undefined && compareQuantities(parseQuantity(String(built)), parseQuantity(limit)) === 0;
}

type Options = Parameters<typeof RealBuilds.start>[0];

/**
 * Raises limits of every quota that is located, and builds each commit; what differs has to be those limits.
 *
 * @returns `namespace/name` of the located quotas, each with the limits that were raised.
 */
async function raised(files: Files, options: Options = {}, scan: ScanOptions = {}): Promise<readonly string[]> {
  await using real = await RealBuilds.start(options);
  const before = await real.of(files);
  const lines: string[] = [];
  for (const [index, location] of quotasOf(files, scan).entries()) {
    const quota = `${location.namespace}/${location.name}`;
    const raises = raisesOf(files, location, index);
    for (const limits of raises) {
      const edited = editLocation(wholeTree(files), location, limits);
      if (edited.kind !== 'edited') throw new Error(`${quota}: ${edited.message}`);
      const edits = edited.edits.map(({ path, after }) => [path, after] as const);
      const changes = differences(before, await real.of({ ...files, ...Object.fromEntries(edits) }));
      const what = `${quota} ${JSON.stringify(limits)} in ${edits.map(([path]) => path).join(', ')}`;
      const changed = changes.map(({ object, field, before: was, after: is }) => {
        const resource = field.at(-1) ?? '';
        return [object, ...field, String(was), isTheLimit(is, limits[resource]) ? limits[resource] : is].join(' ');
      });
      const wanted = Object.entries(limits).map(
        ([resource, limit]) =>
          `ResourceQuota ${quota} spec hard ${resource} ${location.values[resource]?.text} ${limit}`,
      );
      expect({ what, changed: changed.toSorted() }).toEqual({ what, changed: wanted.toSorted() });
    }
    lines.push(`${quota}: ${Object.keys(raises.at(-1) ?? {}).join(' ')}`);
  }
  return lines.toSorted();
}

describe('the builds before and after an edit differ in that limit alone', () => {
  it('where quotas are plain manifests', async () => {
    const namespaces = { 'namespaces/prod/team-c/quota.yaml': 'team-c' };
    expect(
      await raised(
        layoutFiles('plain'),
        { namespaces },
        { cluster: 'prod', template: 'namespaces/{{ .Cluster }}/{{ .Namespace }}' },
      ),
    ).toEqual([
      'team-a/compute: requests.cpu requests.memory pods',
      'team-b/compute: requests.cpu limits.cpu',
      'team-b/storage: requests.storage',
      'team-c/compute: pods',
      'team-d/compute: pods',
      'team-d/objects: count/jobs.batch secrets',
      'team-e/compute: requests.cpu pods',
      'team-f/compute: limits.cpu pods',
    ]);
  });

  it('where kustomizations make them', async () => {
    expect(await raised(layoutFiles('kustomize'), { remotes: REMOTES })).toEqual([
      'alone/compute: pods',
      'inline/compute: requests.cpu requests.memory pods',
      'json/compute: requests.cpu requests.memory pods requests.nvidia.com/gpu',
      'json6902/compute: requests.cpu requests.memory pods',
      'large-a/compute: requests.cpu requests.memory pods',
      'large-b/compute: requests.cpu requests.memory pods',
      'merge/team-compute: requests.cpu requests.memory pods',
      'plain/compute: requests.cpu requests.memory pods',
      'strategic/compute: requests.cpu requests.memory pods',
    ]);
  });

  it('where charts make them', async () => {
    const chart = 'charts/envs';
    const installations = ['red', 'blue'].map((env) => ({ chart, valueFiles: [`${chart}/values-${env}.yaml`] }));
    expect(await raised(layoutFiles('helm'), { installations })).toEqual([
      'blue/compute: pods',
      'helm-keys/compute: requests.cpu limits.memory pods',
      'helm-one/compute: requests.cpu pods',
      'many-a/compute: pods',
      'many-b/compute: pods requests.cpu',
      'red/compute: pods',
    ]);
  });

  it('where Argo CD applies them', async () => {
    const chart = 'charts/quota';
    const installations = [{ chart, release: 'team-b', namespace: 'argo-b', valueFiles: ['teams/b.yaml'] }];
    const namespaces = { 'teams/a/quota.yaml': 'argo-a' };
    expect(await raised(layoutFiles('argo'), { installations, namespaces })).toEqual([
      'argo-a/compute: pods',
      'argo-b/team-b-compute: requests.cpu',
    ]);
  });

  it('where Flux applies them', async () => {
    const helmRelease = 'clusters/prod/team-b.yaml';
    const installations = [{ chart: 'charts/quota', release: 'team-b', namespace: 'flux-b', helmRelease }];
    expect(await raised(layoutFiles('flux'), { installations, namespaces: { 'tenants/a': 'flux-a' } })).toEqual([
      'flux-a/compute: pods',
      'flux-b/compute: requests.cpu',
    ]);
  });

  it('where an overlay has the namespaces of another folder, and an object for many of them', async () => {
    // More than the 30 kustomizations of which all are read, so that only the overlay is its own.
    const files = overlayRepository(30);
    await using real = await RealBuilds.start();
    const before = await real.of(files);
    const changed: string[] = [];
    for (const [index, location] of quotasOf(files, {}).entries()) {
      if (!['project-0', 'project-1', 'project-4'].includes(location.namespace)) continue;
      const limits = raisesOf(files, location, index).at(-1) ?? {};
      const edited = editLocation(wholeTree(files), location, limits);
      if (edited.kind !== 'edited') throw new Error(edited.message);
      const edits = Object.fromEntries(edited.edits.map(({ path, after }) => [path, after]));
      changed.push(
        ...differences(before, await real.of({ ...files, ...edits })).map(({ object, field, before: was, after: is }) =>
          [object, ...field, String(was), String(is)].join(' '),
        ),
      );
    }
    // project-0 is in another overlay as well, where it stays as it is.
    expect(changed.toSorted()).toEqual([
      'ResourceQuota project-0/small spec hard limits.cpu 1 2',
      'ResourceQuota project-0/small spec hard limits.memory 2Gi 4Gi',
      'ResourceQuota project-1/large spec hard limits.cpu 4 8',
      'ResourceQuota project-1/large spec hard limits.memory 16Gi 32Gi',
      'ResourceQuota project-4/custom spec hard limits.cpu 4 8',
    ]);
  });

  it('in every shape of the generated checkouts', longOnly, async () => {
    const { files, quotas } = generateCheckout(7, { quotas: shapeNames.length, others: 3 });
    expect(await raised(files)).toEqual(
      [
        ...quotas.map(({ namespace, name, limits }) => `${namespace}/${name}: ${Object.keys(limits).join(' ')}`),
        'team-2/compute-best-effort: pods',
      ].toSorted(),
    );
  });

  it('and a change of a base that several overlays have is seen in each of them', async () => {
    const files = layoutFiles('kustomize');
    const base = 'base/quota.yaml';
    await using real = await RealBuilds.start({ remotes: REMOTES });
    const edited = { ...files, [base]: files[base]?.replace('pods: 20', 'pods: 21') ?? '' };
    const changes = differences(await real.of(files), await real.of(edited));
    expect(changes.map(({ object }) => object)).toEqual(
      expect.arrayContaining(['ResourceQuota plain/compute', 'ResourceQuota strategic/compute']),
    );
  });
});
