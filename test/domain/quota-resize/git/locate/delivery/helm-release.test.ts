/** Quotas of charts that a HelmRelease of Flux installs, found by the object that the quota's labels name. */
import { describe, expect, it } from 'vitest';
import { readHelmRelease } from '../../../../../../domain/quota-resize/git/locate/delivery/helm-release.ts';
import { helmReleaseSource } from '../../../../../../domain/quota-resize/git/locate/delivery/helm-release-source.ts';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { ask, type Files } from '../../../../../layouts/tree.ts';

const CHART: Files = {
  'charts/quota/Chart.yaml': 'apiVersion: v2\nname: quota\nversion: 1.0.0\n',
  'charts/quota/values.yaml': 'hard:\n  pods: "10"\n',
  'charts/quota/templates/quota.yaml':
    'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard: {{- toYaml .Values.hard | nindent 4 }}\n',
};
const release = (values: string, spec = '') =>
  `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: team-b\n  namespace: flux-b\nspec:\n  chart:\n    spec:\n      chart: ./charts/quota\n${spec}${values}`;
const VALUES = '  values:\n    hard:\n      pods: "4"\n';
const learntFrom = 'the Flux HelmRelease flux-b/team-b (label helm.toolkit.fluxcd.io/name)';
const object = { name: 'team-b', namespace: 'flux-b', path: 'clusters/prod' };
const fluxCandidate: SourceCandidate = { from: 'flux', learntFrom, path: 'charts/quota', release: object };

function place(files: Files, candidate: SourceCandidate = fluxCandidate) {
  const wanted = { namespace: 'flux-b', name: 'compute', cluster: 'prod', resources: ['pods'] };
  return ask(files, (tree) => {
    const answer = locateQuota(tree, wanted, candidate);
    if (answer.kind !== 'located') return answer;
    const edited = editLocation(tree, answer.location, { pods: '6' });
    return edited.kind === 'edited' ? { kind: 'edited' as const, edits: edited.edits } : edited;
  }).answer;
}

describe('a quota that a HelmRelease installs', () => {
  it('is raised in the values of the object', () => {
    const path = 'clusters/prod/team-b.yaml';
    const text = release(VALUES);
    expect(place({ ...CHART, [path]: text })).toEqual({
      kind: 'edited',
      edits: [{ path, before: text, after: text.replace('"4"', '"6"') }],
    });
  });

  it('is that of its own cluster, where every cluster has a release of the name', () => {
    const files = {
      ...CHART,
      'clusters/prod/team-b.yaml': release(VALUES),
      'clusters/staging/team-b.yaml': release(VALUES),
    };
    expect(place(files)).toMatchObject({ kind: 'edited', edits: [{ path: 'clusters/prod/team-b.yaml' }] });
  });

  it('is not raised in values of the chart, which other releases may have', () => {
    expect(place({ ...CHART, 'clusters/prod/team-b.yaml': release('') })).toMatchObject({
      kind: 'unlocated',
      reason: 'Unplaceable',
      message: expect.stringMatching(
        /values\.yaml:2 may hold values of other releases .* spec\.values of the HelmRelease team-b/,
      ),
    });
  });

  it('is looked for elsewhere where the object is not below the path', () => {
    expect(place({ ...CHART, 'clusters/staging/team-b.yaml': release(VALUES) })).toMatchObject({
      kind: 'unlocated',
      reason: 'FileNotFound',
      message: expect.stringContaining('no file below "clusters/prod" has the HelmRelease team-b'),
    });
  });

  it('is not raised where a patch may have the last word', () => {
    const own = { ...CHART, 'clusters/prod/team-b.yaml': release(VALUES) };
    const patch = 'patches:\n  - target: {kind: HelmRelease}\n    patch: "- op: remove"\nresources: [team-b.yaml]\n';
    expect(place({ ...own, 'clusters/prod/kustomization.yaml': patch })).toMatchObject({
      reason: 'Unplaceable',
      message: expect.stringContaining('clusters/prod/kustomization.yaml changes HelmReleases'),
    });
    const second = 'apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: team-b}\nspec: {}\n';
    expect(place({ ...own, 'clusters/prod/patch.yaml': second })).toMatchObject({
      reason: 'FoundTwice',
      message: expect.stringContaining('clusters/prod/patch.yaml:1, clusters/prod/team-b.yaml:1'),
    });
  });

  it('of a chart that is elsewhere is raised in the one mapping of its values that is a quota', () => {
    const path = 'clusters/prod/team-b.yaml';
    const text = release('  values:\n    image: {cpu: 1}\n    quota:\n      pods: "4"\n').replace(
      './charts/quota',
      'quota',
    );
    const elsewhere = { ...fluxCandidate, path: 'clusters/prod' };
    expect(place({ [path]: text }, elsewhere)).toEqual({
      kind: 'edited',
      edits: [{ path, before: text, after: text.replace('"4"', '"6"') }],
    });
    const twice = text.replace('    image: {cpu: 1}\n', '    other:\n      pods: "3"\n');
    expect(place({ [path]: twice.replace('other', 'hard') }, elsewhere)).toMatchObject({ reason: 'FoundTwice' });
  });
});

describe('the source of a HelmRelease', () => {
  const parsed = (spec: object) => {
    const read = readHelmRelease({ metadata: { name: 'team-b', namespace: 'flux-b' }, spec });
    if (read === null) throw new Error('it cannot be read');
    return { ...read, namespace: read.namespace ?? 'flux-b' };
  };
  const sourceRef = { kind: 'GitRepository', name: 'gitops' };
  const chart = { spec: { chart: './charts/quota', sourceRef, valuesFiles: ['charts/quota/prod.yaml'] } };
  const gitops = { url: 'https://github.com/acme/gitops', revision: 'main' };
  const manifests = { ...gitops, path: './clusters/prod' };
  const source = (spec: object, found: Parameters<typeof helmReleaseSource>[2]) =>
    helmReleaseSource(learntFrom, parsed(spec), found, (url) => url);

  it('is the chart with the object beside it, where both are of one tree', () => {
    expect(source({ chart }, { object: manifests, chart: gitops })).toEqual({
      from: 'flux',
      learntFrom,
      ...gitops,
      path: './charts/quota',
      release: { name: 'team-b', namespace: 'flux-b', path: './clusters/prod' },
    });
  });

  it('is the object alone, where its chart is of another tree or of none of git', () => {
    const values = { hard: { pods: '4' } };
    const alone = { path: './clusters/prod', release: { path: './clusters/prod' } };
    const charts = { url: 'https://github.com/acme/charts', revision: 'main' };
    expect(source({ chart, values }, { object: manifests, chart: charts })).toMatchObject({ ...manifests, ...alone });
    const helm = { spec: { chart: 'quota', sourceRef: { kind: 'HelmRepository', name: 'charts' } } };
    expect(source({ chart: helm, values }, { object: manifests, chart: null })).toMatchObject({
      ...manifests,
      ...alone,
    });
    expect(
      source({ chartRef: { kind: 'OCIRepository', name: 'x' } }, { object: manifests, chart: null }),
    ).toMatchObject(alone);
  });

  it('is the chart alone, where nobody says what the object is applied from and it has no values of its own', () => {
    expect(source({ chart, targetNamespace: 'team-b' }, { object: null, chart: gitops })).toEqual({
      from: 'flux',
      learntFrom,
      ...gitops,
      path: './charts/quota',
      valueFiles: ['charts/quota/prod.yaml'],
      namespace: 'team-b',
    });
    expect(source({ chart, values: { hard: {} } }, { object: null, chart: gitops })).toBeNull();
    expect(source({ chart, valuesFrom: [{ kind: 'ConfigMap' }] }, { object: null, chart: gitops })).toBeNull();
  });

  it('stops the search where what is rendered is changed afterwards', () => {
    const postRenderers = [{ kustomize: { patches: [{ target: { kind: 'ResourceQuota' } }] } }];
    expect(source({ chart, postRenderers }, { object: manifests, chart: gitops })).toMatchObject({
      opaque: 'post-renders ResourceQuotas',
    });
    expect(
      source({ chart }, { object: { ...manifests, opaque: 'patches HelmReleases' }, chart: gitops }),
    ).toMatchObject({ opaque: 'patches HelmReleases' });
  });

  it('is none of an object of another form', () => {
    expect(readHelmRelease({ metadata: { name: 'x' } })).toBeNull();
  });
});
