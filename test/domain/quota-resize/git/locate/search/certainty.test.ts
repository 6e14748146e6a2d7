/** Repositories in which another quota, or another cluster's, is within reach: that one must never be changed. */
import { describe, expect, it } from 'vitest';
import { editLocation } from '../../../../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import { scanQuotas } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import type { WantedQuota } from '../../../../../../domain/quota-resize/git/locate/search/search.ts';
import { ask, type Files, wholeTree } from '../../../../../layouts/tree.ts';

const scan: SourceCandidate = { from: 'scan', learntFrom: 'a search of the whole repository' };
const template = (path: string): SourceCandidate => ({ from: 'template', path, learntFrom: 'the path template' });
const annotation = (path: string, field?: string): SourceCandidate => ({
  from: 'annotation',
  path,
  learntFrom: 'the annotation resizer.io/git-path of namespace team-a',
  ...(field === undefined ? {} : { field }),
});

/** The files that a raise to 99 pods changes; the reason where the quota is not placed. */
function changed(
  files: Files,
  candidate: SourceCandidate,
  wanted: Partial<WantedQuota> = {},
): readonly string[] | { readonly refused: string } {
  const quota: WantedQuota = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['pods'], ...wanted };
  const { answer } = ask(files, (tree) => locateQuota(tree, quota, candidate));
  if (answer.kind === 'unlocated') {
    return { refused: answer.reason };
  }
  const limits = Object.fromEntries(quota.resources.map((resource) => [resource, '99']));
  const edited = editLocation(wholeTree(files), answer.location, limits);
  return edited.kind === 'edited' ? edited.edits.map(({ path }) => path) : { refused: edited.message };
}

function quota(namespace: string | null, pods = 5, name = 'compute'): string {
  const line = namespace === null ? '' : `  namespace: ${namespace}\n`;
  return `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n${line}spec:\n  hard:\n    pods: ${pods}\n`;
}

/** Many folders with kustomizations, so that not all of them are read. */
const crowd = (count: number, of: (index: number) => string): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`teams/t${index}/kustomization.yaml`, of(index)]));

describe('several clusters in one repository', () => {
  it('the only file is of an environment that the cluster is not', () => {
    expect(changed({ 'envs/dev/team-a/q.yaml': quota('team-a') }, scan)).toEqual({ refused: 'FileNotFound' });
    expect(changed({ 'team-a/staging.yaml': quota('team-a') }, scan, { cluster: 'prod-eu-1' })).toEqual({
      refused: 'FileNotFound',
    });
    expect(changed({ 'envs/production/team-a/q.yaml': quota('team-a') }, scan)).toEqual([
      'envs/production/team-a/q.yaml',
    ]);
    // The tool that applies it to this cluster says that it is right; an annotation may be a tenant's.
    const argocd: SourceCandidate = { from: 'argocd', path: 'envs/dev/team-a', learntFrom: 'the Application team-a' };
    expect(changed({ 'envs/dev/team-a/q.yaml': quota('team-a') }, argocd)).toEqual(['envs/dev/team-a/q.yaml']);
    expect(changed({ 'envs/dev/team-a/q.yaml': quota('team-a') }, annotation('envs/dev/team-a'))).toEqual({
      refused: 'Unplaceable',
    });
  });

  it('a namespace that is called like an environment is no environment', () => {
    expect(changed({ 'clusters/prod/dev/q.yaml': quota('dev') }, scan, { namespace: 'dev' })).toEqual([
      'clusters/prod/dev/q.yaml',
    ]);
  });

  it('a file that has less than the cluster, found by a search alone, may be that of another cluster', () => {
    const files = { 'clusters/a/team-a/q.yaml': quota('team-a', 5) };
    expect(changed(files, scan, { current: { pods: '20' } })).toEqual({ refused: 'Unplaceable' });
    expect(changed(files, scan, { current: { pods: '5' } })).toEqual(['clusters/a/team-a/q.yaml']);
    expect(changed(files, template('clusters/a/team-a'), { current: { pods: '20' } })).toEqual([
      'clusters/a/team-a/q.yaml',
    ]);
  });

  it('the same namespace of two clusters, neither of which has the name of the cluster', () => {
    const files = { 'clusters/a/team-a/q.yaml': quota('team-a'), 'clusters/b/team-a/q.yaml': quota('team-a') };
    expect(changed(files, scan, { current: { pods: '5' } })).toEqual({ refused: 'FoundTwice' });
  });
});

describe('a cluster without a folder of its own', () => {
  const files = { 'clusters/prod/team-a/q.yaml': quota('team-a'), 'clusters/dev/team-b/q.yaml': quota('team-b') };
  const configured = 'clusters/{{ .Cluster }}/{{ .Namespace }}';

  it('is not given that of another one, where the path template tells them apart', () => {
    const current = { pods: '5' };
    expect(changed(files, { ...scan, template: configured }, { cluster: 'eu1', current })).toEqual({
      refused: 'FileNotFound',
    });
    expect(changed(files, { ...scan, template: configured }, { cluster: 'prod', current })).toEqual([
      'clusters/prod/team-a/q.yaml',
    ]);
  });

  it('has its files found by a search, where the template has no cluster and Git is as the cluster', () => {
    const template = 'namespaces/{{ .Namespace }}';
    for (const pods of ['5', '5000m']) {
      expect(changed({ 'teams/x/q.yaml': quota('team-a') }, { ...scan, template }, { current: { pods } })).toEqual([
        'teams/x/q.yaml',
      ]);
    }
  });

  it('takes no loose values from where the template has another cluster', () => {
    const values = { 'clusters/prod/team-a/values.yaml': 'quota:\n  pods: 5\n' };
    expect(changed(values, { ...scan, template: configured }, { cluster: 'eu1' })).toEqual({ refused: 'FileNotFound' });
    expect(changed(values, { ...scan, template: configured })).toEqual(['clusters/prod/team-a/values.yaml']);
  });
});

describe('files that cannot be read', () => {
  const broken = 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute\nspec:\n  hard: {pods: 1}\n';
  const answered = (files: Files, candidate: SourceCandidate): string => {
    const wanted = { namespace: 'team-a', name: 'compute', cluster: 'prod', resources: ['pods'] };
    const { answer } = ask(files, (tree) => locateQuota(tree, wanted, candidate));
    return answer.kind === 'located' ? 'located' : `${answer.reason}: ${answer.message}`;
  };

  it('are the answer where the quota would be', () => {
    expect(answered({ 'team-a/q.yaml': broken }, scan)).toMatch(/^NotYaml: .*team-a\/q\.yaml:4/);
    expect(answered({ 'x/q.yaml': broken }, template('x'))).toMatch(/^NotYaml: .*x\/q\.yaml:4/);
  });

  it('of others are only counted', () => {
    expect(answered({ 'team-b/q.yaml': broken, 'x/q.yaml': quota('team-c') }, scan)).toMatch(
      /^FileNotFound: .*no file of the 2 there has it, only team-c\/compute in x\/q\.yaml:4 \(1 of them cannot be read\)/,
    );
  });

  it('keep a quota beside them that names its namespace from being placed, where they are its kustomization', () => {
    for (const kustomization of ['resources: [q.yaml\n', '']) {
      const files = { 'x/kustomization.yaml': kustomization, 'x/q.yaml': quota('team-a') };
      for (const candidate of [scan, template('x'), annotation('x')]) {
        expect(answered(files, candidate)).toMatch(
          /^Unplaceable: .*x\/q\.yaml:4: x\/kustomization\.yaml beside it cannot be read \(line \d: .+\), so kustomize refuses to build this folder/,
        );
      }
    }
    // Flux's own object by that name is no kustomization.
    const flux = { 'x/kustomization.yaml': 'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n' };
    expect(answered({ ...flux, 'x/q.yaml': quota('team-a') }, scan)).toBe('located');
  });

  it('nor is a file of another namespace that no kustomization names', () => {
    const files = { 'b/q.yaml': quota('team-b'), 'b/kustomization.yaml': 'resources: []\n' };
    expect(answered(files, scan)).toMatch(/^FileNotFound: /);
    expect(answered({ ...files, 'b/q.yaml': quota('team-a') }, scan)).toMatch(
      /^Unplaceable: .*does not name this file/,
    );
  });
});

describe('a base that is not only of this quota', () => {
  const base: Files = { 'base/kustomization.yaml': 'resources: [q.yaml]\n', 'base/q.yaml': quota(null) };
  const team = (index: number): string =>
    `namespace: ${index === 0 ? 'team-a' : `t${index}`}\nresources: [../../base]\n`;

  it('is patched, also where a search reads only some of the overlays', () => {
    const others = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [`apps/app-${index}/deployment.yaml`, 'kind: Deployment\n']),
    );
    const files: Files = {
      ...base,
      ...others,
      ...crowd(40, team),
      'teams/team-a/kustomization.yaml': 'namespace: team-a\nresources: [../../base]\n',
      'teams/t0/kustomization.yaml': 'resources: []\n',
    };
    expect(changed(files, scan)).toEqual([
      'teams/team-a/kustomization.yaml',
      'teams/team-a/resourcequota-compute-patch.yaml',
    ]);
  });

  it('is patched where a component of two overlays says the value', () => {
    const files: Files = {
      ...base,
      'components/large/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: large.yaml\n`,
      'components/large/large.yaml': quota(null, 50),
      'overlays/team-a/kustomization.yaml':
        'namespace: team-a\nresources: [../../base]\ncomponents: [../../components/large]\n',
      'overlays/team-b/kustomization.yaml':
        'namespace: team-b\nresources: [../../base]\ncomponents: [../../components/large]\n',
    };
    expect(changed(files, template('overlays/team-a'))).toEqual([
      'overlays/team-a/kustomization.yaml',
      'overlays/team-a/resourcequota-compute-patch.yaml',
    ]);
  });
});

describe('a manifest without a namespace', () => {
  it('in a folder of another namespace is not this one’s, whatever the folders above are called', () => {
    const files = { 'platform/teams/team-b/q.yaml': quota(null) };
    expect(changed(files, scan, { namespace: 'platform' })).toEqual({ refused: 'FileNotFound' });
    expect(changed({ 'clusters/prod/team-b/q.yaml': quota(null) }, scan, { namespace: 'prod' })).toEqual({
      refused: 'FileNotFound',
    });
    expect(changed({ 'teams/team-a/base/q.yaml': quota(null) }, scan)).toEqual(['teams/team-a/base/q.yaml']);
  });

  it('is not this one’s because the cluster’s folder has the namespace’s name in it', () => {
    const files = { 'clusters/team-a-prod/q.yaml': quota(null) };
    const cluster = 'team-a-prod';
    expect(changed(files, template('clusters/team-a-prod'), { cluster })).toEqual({ refused: 'FileNotFound' });
    expect(changed(files, scan, { cluster })).toEqual({ refused: 'FileNotFound' });
  });

  it('deep below a folder that was named for this namespace may be another one’s', () => {
    const files = { 'namespaces/team-b/q.yaml': quota(null), 'namespaces/team-a/q.yaml': quota(null, 5, 'other') };
    expect(changed(files, annotation('namespaces'))).toEqual({ refused: 'FileNotFound' });
    expect(changed(files, annotation('namespaces/team-b'))).toEqual({ refused: 'Unplaceable' });
  });

  it('beside one with the namespace is the same quota a second time', () => {
    const files = { 'team-a/a.yaml': quota(null, 3), 'team-a/b.yaml': quota('team-a', 4) };
    expect(changed(files, template('team-a'))).toEqual({ refused: 'FoundTwice' });
  });

  it('twice in one List is not chosen from', () => {
    const item = quota(null).trimEnd().replaceAll('\n', '\n  ');
    const files = { 'team-a/q.yaml': `apiVersion: v1\nkind: List\nitems:\n- ${item}\n- ${item}\n` };
    expect(changed(files, template('team-a'))).toEqual({ refused: 'FoundTwice' });
  });

  it('goes where Argo CD and Flux say', () => {
    const files = { 'apps/q.yaml': quota(null), 'apps/b.yaml': quota('team-b') };
    const argocd: SourceCandidate = {
      from: 'argocd',
      path: 'apps',
      learntFrom: 'the Application',
      namespace: 'elsewhere',
    };
    expect(changed(files, argocd)).toEqual({ refused: 'FileNotFound' });
    expect(changed(files, { ...argocd, namespace: 'team-a' })).toEqual(['apps/q.yaml']);
    const flux: SourceCandidate = { from: 'flux', path: 'flux', learntFrom: 'the Kustomization', namespace: 'team-a' };
    expect(changed({ 'flux/q.yaml': quota('written') }, flux)).toEqual(['flux/q.yaml']);
    // A kustomization elsewhere is only looked at for the bases that it shares.
    const two: Files = {
      'flux/kustomization.yaml': 'resources: [q.yaml]\n',
      'flux/q.yaml': quota(null),
      'other/kustomization.yaml': 'namespace: team-b\nresources: [q.yaml]\n',
      'other/q.yaml': quota(null),
    };
    expect(changed(two, flux)).toEqual(['flux/q.yaml']);
    expect(changed(two, { ...argocd, path: 'flux', namespace: 'team-a' })).toEqual(['flux/q.yaml']);
    expect(changed({ 'flux/q.yaml': quota('team-a') }, { ...flux, namespace: 'team-b' })).toEqual({
      refused: 'FileNotFound',
    });
  });
});

describe('what is written is not always what is applied', () => {
  const overlay = (lines: string, more: Files = {}): Files => ({
    'team-a/kustomization.yaml': `namespace: team-a\nresources: [q.yaml]\n${lines}`,
    'team-a/q.yaml': quota(null),
    ...more,
  });
  const transformer = (kind: string): string => `apiVersion: builtin\nkind: ${kind}\nmetadata: {name: x}\n`;
  const labels = transformer('LabelTransformer');

  it.each<[string, Files, boolean]>([
    ['labels alone', { 'team-a/t.yaml': labels }, true],
    ['labels and names', { 'team-a/t.yaml': `${labels}---\n${transformer('PrefixTransformer')}` }, false],
  ])('a transformer of %s', (_, more, isPlaced) => {
    const answer = changed(overlay('transformers: [t.yaml]\n', more), template('team-a'));
    expect(answer).toEqual(isPlaced ? ['team-a/q.yaml'] : { refused: 'Unplaceable' });
  });

  it.each<[string, string, boolean]>([
    ['limits of quotas', '{select: {kind: ResourceQuota}, fieldPaths: [spec.hard.pods]}', false],
    ['limits of whatever has the name', '{select: {name: compute}, fieldPaths: [spec.hard.pods]}', false],
    ['names of quotas, as no field is given', '{select: {kind: ResourceQuota}}', false],
    ['labels of quotas', '{select: {kind: ResourceQuota}, fieldPaths: [metadata.labels.a]}', true],
    ['fields of another kind', '{select: {kind: Deployment}, fieldPaths: [spec.hard.pods]}', true],
  ])('replacements that write %s', (_, target, isPlaced) => {
    const lines = `replacements:\n- source: {kind: ConfigMap, name: x, fieldPath: data.pods}\n  targets:\n  - ${target}\n`;
    const answer = changed(overlay(lines), template('team-a'));
    expect(answer).toEqual(isPlaced ? ['team-a/q.yaml'] : { refused: 'Unplaceable' });
  });

  it.each<[string, string, boolean]>([
    ['a limit', 'replacements:\n- source: {kind: ResourceQuota, fieldPath: spec.hard.pods}\n', false],
    [
      'a limit, by the old way',
      'vars:\n- {name: P, objref: {kind: ResourceQuota, apiVersion: v1, name: compute}}\n',
      false,
    ],
    ['a name', 'replacements:\n- source: {kind: ResourceQuota, fieldPath: metadata.name}\n', true],
  ])('replacements that copy %s of a quota to elsewhere', (_, written, isPlaced) => {
    const to = written.startsWith('vars')
      ? ''
      : '  targets:\n  - {select: {kind: Deployment}, fieldPaths: [spec.replicas]}\n';
    const answer = changed(overlay(`${written}${to}`), template('team-a'));
    expect(answer).toEqual(isPlaced ? ['team-a/q.yaml'] : { refused: 'Unplaceable' });
  });

  it('a kustomization of two documents is none, so that its namespace is not known', () => {
    const files = { 'x/kustomization.yaml': 'namespace: team-a\nresources: [q.yaml]\n', 'x/q.yaml': quota(null) };
    expect(changed(files, template('x'))).toEqual(['x/q.yaml']);
    const two = { ...files, 'x/kustomization.yaml': `${files['x/kustomization.yaml']}---\nnamespace: team-b\n` };
    expect(changed(two, template('x'))).toEqual({ refused: 'NotYaml' });
    expect(scanQuotas(wholeTree(two))).toMatchObject({
      unlocated: expect.arrayContaining([
        expect.objectContaining({ line: 4, message: expect.stringContaining('a kustomization is one document') }),
      ]),
    });
  });

  it('a quota that is commented out is none', () => {
    const files = { 'team-a/q.yaml': `# ${quota('team-a').replaceAll('\n', '\n# ')}\nkind: Other\napiVersion: v1\n` };
    expect(changed(files, template('team-a'))).toEqual({ refused: 'FileNotFound' });
    const half = { 'team-a/q.yaml': quota('team-a').replace('pods: 5', '# pods: 7\n    pods: 5 # pods: 9') };
    expect(changed(half, template('team-a'))).toEqual(['team-a/q.yaml']);
  });

  it.each(['${NAMESPACE}', '"{{ namespace }}"', '$(NAMESPACE)', 'team-a-{{ env }}'])(
    'a quota with the namespace %s, which a tool fills in later, is of no namespace',
    (namespace) => {
      expect(changed({ 'team-a/q.yaml': quota(namespace) }, template('team-a'))).toHaveProperty('refused');
    },
  );
});

describe('values of charts', () => {
  const chart = (more: Files, name = 'compute', namespace = 'team-a'): Files => ({
    'chart/Chart.yaml': 'name: quota\nversion: 1.0.0\n',
    'chart/templates/q.yaml': `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  hard:\n    {{- toYaml .Values.hard | nindent 4 }}\n`,
    ...more,
  });

  it('that two environments share are not changed for one of them', () => {
    const files = chart({
      'chart/values.yaml': 'hard:\n  pods: 5\n  services: 2\n',
      'chart/values-dev.yaml': 'replicas: 1\n',
      'chart/values-prod.yaml': 'hard:\n  services: 3\n',
    });
    expect(changed(files, annotation('chart'))).toEqual({ refused: expect.stringMatching(/used by|Unplaceable/) });
    const none = { ...files, 'chart/values-prod.yaml': 'replicas: 2\n' };
    expect(changed(none, annotation('chart'))).toEqual({ refused: expect.stringMatching(/used by|Unplaceable/) });
  });

  it('are those of the environment that Argo CD names', () => {
    const files = chart({
      'chart/values.yaml': 'hard:\n  pods: 5\n',
      'chart/values-dev.yaml': 'hard:\n  pods: 6\n',
      'chart/values-prod.yaml': 'hard:\n  pods: 7\n',
    });
    expect(changed(files, annotation('chart'), { cluster: 'main' })).toEqual({ refused: 'FoundTwice' });
    expect(changed(files, annotation('chart'))).toEqual(['chart/values-prod.yaml']);
    const argocd: SourceCandidate = { from: 'argocd', path: 'chart', learntFrom: 'the Application' };
    expect(changed(files, { ...argocd, valueFiles: ['chart/values-prod.yaml'] })).toEqual(['chart/values-prod.yaml']);
    const defaults = { ...files, 'chart/values-prod.yaml': 'replicas: 2\n' };
    expect(changed(defaults, { ...argocd, valueFiles: ['chart/values-prod.yaml'] })).toHaveProperty('refused');
    const lone = Object.fromEntries(Object.entries(defaults).filter(([path]) => !path.includes('dev')));
    expect(changed(lone, { ...argocd, valueFiles: ['chart/values-prod.yaml'] })).toHaveProperty('refused');
    expect(changed(files, { ...argocd, valueFiles: ['chart/values-prod.yaml', 'chart/gone.yaml'] })).toEqual({
      refused: 'Unplaceable',
    });
  });

  it('in a dependency may be overridden by the chart above', () => {
    const inner = chart({ 'chart/values.yaml': 'hard:\n  pods: 5\n' });
    const files: Files = {
      'app/Chart.yaml': 'name: app\n',
      'app/values.yaml': 'quota:\n  hard:\n    pods: 8\n',
      ...Object.fromEntries(Object.entries(inner).map(([path, text]) => [`app/charts/${path}`, text])),
    };
    expect(changed(files, annotation('app'))).toEqual({ refused: 'Unplaceable' });
  });

  it('are not those of a quota whose name the chart computes and cannot be this one', () => {
    const values = { 'chart/values.yaml': 'hard:\n  pods: 5\n' };
    const files = chart(values, '{{ .Release.Name }}-limits');
    expect(changed(files, annotation('chart'), { current: { pods: '5' } })).toEqual({ refused: 'FileNotFound' });
    const fits = { name: 'x-limits' };
    expect(changed(files, annotation('chart'), { ...fits, current: { pods: '5' } })).toEqual(['chart/values.yaml']);
    expect(changed(files, annotation('chart'), { ...fits, current: { pods: '8' } })).toHaveProperty('refused');
  });

  it('that an unrelated file outside of the chart sets as well are those of the chart', () => {
    const files = chart({
      'chart/values.yaml': 'hard:\n  pods: 5\n',
      'envs/grafana.yaml': 'image: x\nhard:\n  pods: 64\n',
    });
    expect(changed(files, scan)).toEqual(['chart/values.yaml']);
    expect(changed(files, scan, { current: { pods: '5' } })).toEqual(['chart/values.yaml']);
  });

  it('that a file outside may set, though nobody says so, are known by the limits in force alone', () => {
    const files = chart({ 'chart/values.yaml': 'hard:\n  pods: 5\n', 'envs/x.yaml': 'hard:\n  pods: 64\n' });
    expect(changed(files, scan)).toEqual({ refused: 'Unplaceable' });
    expect(changed(files, scan, { current: { pods: '5' } })).toEqual(['chart/values.yaml']);
    expect(changed(files, scan, { current: { pods: '64' } })).toEqual({ refused: 'Unplaceable' });
    const alike = { ...files, 'envs/x.yaml': 'hard:\n  pods: 5\n' };
    expect(changed(alike, scan, { current: { pods: '5' } })).toEqual({ refused: 'Unplaceable' });
    const message = scanQuotas(wholeTree(files));
    expect(message).toMatchObject({
      quotas: [],
      unlocated: [{ message: expect.stringMatching(/chart\/values\.yaml:2 \(5\) or of envs\/x\.yaml:2 \(64\)/) }],
    });
  });

  it('that a release takes from the chart are no location of its own, and the quota is listed', () => {
    const files = chart(
      { 'chart/values.yaml': 'ns: team-b\nhard:\n  pods: 5\n', 'chart/values-a.yaml': 'ns: team-a\n' },
      'compute',
      '{{ .Values.ns }}',
    );
    expect(scanQuotas(wholeTree(files))).toMatchObject({
      quotas: [],
      unlocated: [{ namespace: 'team-b' }, { namespace: 'team-a' }],
    });
    expect(changed(files, scan)).toEqual({ refused: 'Unplaceable' });
    expect(changed(files, scan, { namespace: 'team-b' })).toEqual({ refused: 'Unplaceable' });
  });

  it.each<[string, 'located' | 'FileNotFound' | 'Unplaceable']>([
    ['eq .Values.tier "gold"', 'located'],
    ['eq .Values.tier "silver"', 'FileNotFound'],
    ['ne .Values.tier "silver"', 'located'],
    ['and .Values.on (not .Values.off)', 'located'],
    ['or .Values.off (eq .Values.tier "gold" "silver")', 'located'],
    ['and .Values.on .Values.off', 'FileNotFound'],
    ['.Values.on | default true', 'located'],
    ['.Values.gone | default true', 'Unplaceable'],
    ['eq .Values.gone "gold"', 'Unplaceable'],
    ['.Capabilities.APIVersions.Has "v1"', 'Unplaceable'],
    ['hasKey .Values "tier"', 'Unplaceable'],
    ['semverCompare ">1" .Values.tier', 'Unplaceable'],
  ])('below the condition %s', (condition, expected) => {
    const made = chart({ 'chart/values.yaml': 'tier: gold\non: true\noff: false\nhard:\n  pods: 5\n' });
    const files = {
      ...made,
      'chart/templates/q.yaml': `{{- if ${condition} }}\n${made['chart/templates/q.yaml'] ?? ''}{{- end }}\n`,
    };
    expect(changed(files, annotation('chart'))).toEqual(
      expected === 'located' ? ['chart/values.yaml'] : { refused: expected },
    );
  });

  it('of a release are those of its last values file, and one before it may be shared', () => {
    const argocd: SourceCandidate = {
      from: 'argocd',
      path: 'chart',
      learntFrom: 'the Application',
      namespace: 'team-a',
    };
    const files = chart({ 'all.yaml': 'hard:\n  pods: 5\n', 'a.yaml': 'hard:\n  services: 5\n' });
    expect(changed(files, { ...argocd, valueFiles: ['all.yaml', 'a.yaml'] })).toEqual({ refused: 'Unplaceable' });
    expect(changed(files, { ...argocd, valueFiles: ['all.yaml'] })).toEqual(['all.yaml']);
    const filed = chart({ 'teams/team-a.yaml': 'hard:\n  pods: 5\n', 'a.yaml': 'hard:\n  services: 5\n' });
    expect(changed(filed, { ...argocd, valueFiles: ['teams/team-a.yaml', 'a.yaml'] })).toEqual(['teams/team-a.yaml']);
    const umbrella: Files = { 'chart/Chart.yaml': 'name: x\n', 'chart/values.yaml': 'hard:\n  pods: 1\n', ...files };
    const { 'chart/templates/q.yaml': _template, ...remote } = umbrella;
    const own = { ...remote, 'a.yaml': 'hard:\n  pods: 5\n' };
    expect(changed(own, { ...argocd, valueFiles: ['all.yaml', 'a.yaml'] })).toEqual(['a.yaml']);
    expect(changed(remote, { ...argocd, valueFiles: ['all.yaml', 'a.yaml'] })).toEqual({ refused: 'Unplaceable' });
  });

  it('of a chart are found by its last values file, also where nothing says the namespace of the release', () => {
    const files = {
      ...chart({ 'chart/values.yaml': 'hard:\n  pods: 1\n' }, '{{ .Release.Name }}-x', '{{ .Release.Namespace }}'),
      'teams/b.yaml': 'hard:\n  pods: 5\n',
    };
    const argocd: SourceCandidate = {
      from: 'argocd',
      path: 'chart',
      learntFrom: 'the Application',
      valueFiles: ['teams/b.yaml'],
    };
    expect(changed(files, argocd, { name: 'b-x' })).toEqual(['teams/b.yaml']);
  });

  it('of a template that is commented out are not changed', () => {
    const files = chart({
      'chart/values.yaml': 'hard:\n  pods: 5\n',
      'chart/templates/old.yaml': `{{- /*\n${quota('team-a', 3)}*/ -}}\n`,
    });
    expect(changed(files, annotation('chart'))).toEqual(['chart/values.yaml']);
  });

  it('that are the resources of a container are not taken for a quota', () => {
    const files = { 'team-a/values.yaml': 'web:\n  resources:\n    requests:\n      cpu: 100m\n      memory: 1Gi\n' };
    expect(changed(files, template('team-a'), { resources: ['cpu'] })).toEqual({ refused: 'FileNotFound' });
    const volume = { 'team-a/values.yaml': 'persistence:\n  storage: 1Gi\n' };
    expect(changed(volume, template('team-a'), { resources: ['storage'] })).toEqual({ refused: 'FileNotFound' });
    const pods = { 'team-a/values.yaml': 'scaling:\n  pods: 3\n' };
    expect(changed(pods, template('team-a'), { current: { pods: '20' } })).toEqual({ refused: 'FileNotFound' });
  });

  it('that a field reaches through an alias are not changed', () => {
    const files = { 'team-a/values.yaml': 'all: &all\n  pods: 5\nteams:\n  a: *all\n  b: *all\n' };
    expect(changed(files, annotation('team-a', 'teams.a.pods'))).toEqual({ refused: expect.stringContaining('&all') });
  });

  it('that two Applications install are changed for neither', () => {
    const application = (namespace: string): string =>
      `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: ${namespace}}\nspec:\n  source: {path: chart}\n  destination: {namespace: ${namespace}}\n`;
    const files = {
      ...chart({ 'chart/values.yaml': 'hard:\n  pods: 5\n' }, 'compute', '{{ .Release.Namespace }}'),
      'apps/a.yaml': application('team-a'),
      'apps/b.yaml': application('team-b'),
    };
    const found = scanQuotas(wholeTree(files));
    expect(found).toMatchObject({
      quotas: [],
      unlocated: [
        { namespace: 'team-a', message: expect.stringContaining('a template that other namespaces may use') },
        { namespace: 'team-b', message: expect.stringContaining('a template that other namespaces may use') },
      ],
    });
  });
});

describe('what is said of a quota that cannot be read', () => {
  const learntFrom = (files: Files): readonly string[] => {
    const found = scanQuotas(wholeTree(files));
    return found.kind === 'scanned' ? found.unlocated.map(({ message }) => message) : [];
  };

  it('names an alias of another document', () => {
    const text = quota('team-a').replace('  hard:\n    pods: 5\n', '  hard: *limits\n');
    expect(learntFrom({ 'q.yaml': `limits: &limits {pods: 5}\n---\n${text}` })).toEqual([
      expect.stringContaining('q.yaml has *limits as spec.hard, an alias without an anchor in the same document'),
    ]);
  });

  it('names the braces of a template', () => {
    const files = {
      'chart/Chart.yaml': 'name: x\n',
      'chart/templates/q.yaml':
        'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: compute, namespace: {{ .Release.Namespace }}}\nspec:\n  hard:\n    pods: {{ .Values.pods }}\n',
      'chart/values.yaml': 'pods: 5\n',
    };
    expect(learntFrom(files)).toEqual([expect.stringContaining('writes metadata between braces in line 3')]);
  });
});
