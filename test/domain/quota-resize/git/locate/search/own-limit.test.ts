/** What an annotation names is changed only if it is this quota's own limit: the annotations are the tenants' to write. */
import { describe, expect, it } from 'vitest';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { AppliedFolders } from '../../../../../../domain/quota-resize/git/locate/delivery/applied-folders.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import type { WantedQuota } from '../../../../../../domain/quota-resize/git/locate/search/search.ts';
import { ask, type Files } from '../../../../../layouts/tree.ts';

const named = (path: string, field?: string): SourceCandidate => ({
  from: 'annotation',
  path,
  learntFrom: 'the annotation resizer.io/git-path of namespace team-a',
  template: 'managed-resources/{{ .Cluster }}/{{ .Namespace }}',
  ...(field === undefined ? {} : { field }),
});

/** "own", "not proved: …" or the reason and the message why it is refused. */
function verdict(
  files: Files,
  candidate: SourceCandidate,
  wanted: Partial<WantedQuota> = {},
  applied = new AppliedFolders(),
): string {
  const quota: WantedQuota = {
    namespace: 'team-a',
    name: 'compute',
    cluster: 'dev',
    resources: ['pods'],
    current: { pods: '10' },
    ...wanted,
  };
  const { answer } = ask(files, (tree) => locateQuota(tree, quota, candidate, { applied }));
  if (answer.kind === 'unlocated') return `${answer.reason}: ${answer.message}`;
  const { notProved } = answer.location;
  return notProved === undefined ? 'own' : `not proved: ${notProved}`;
}

function quota(namespace: string | null, pods: number | string = 10, name = 'compute'): string {
  const line = namespace === null ? '' : `  namespace: ${namespace}\n`;
  return `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n${line}spec:\n  hard:\n    pods: ${pods}\n`;
}

const DEPLOYMENT =
  'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: payments\n  namespace: payments\nspec:\n  replicas: 10\n';

describe('another kind', () => {
  it('is refused, whatever the field holds', () => {
    const files = { 'payments/deployment.yaml': DEPLOYMENT };
    expect(verdict(files, named('payments/deployment.yaml', 'spec.replicas'))).toMatch(
      /^Unplaceable: .*payments\/deployment\.yaml:7 is a field of the Deployment payments, .*not a limit of ResourceQuota team-a\/compute/,
    );
  });

  it.each([
    ['v1', 'ConfigMap', 'data.pods', 'data:\n  pods: "10"\n'],
    ['v1', 'LimitRange', 'spec.hard.pods', 'spec:\n  hard:\n    pods: 10\n'],
    ['autoscaling/v2', 'HorizontalPodAutoscaler', 'spec.maxReplicas', 'spec:\n  maxReplicas: 10\n'],
    ['example.com/v1', 'ResourceQuota', 'spec.hard.pods', 'spec:\n  hard:\n    pods: 10\n'],
  ])('%s %s is refused also where it has the name and the namespace of the quota', (apiVersion, kind, field, rest) => {
    const files = {
      'team-a/x.yaml': `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata:\n  name: compute\n  namespace: team-a\n${rest}`,
    };
    expect(verdict(files, named('team-a/x.yaml', field))).toMatch(/^Unplaceable: .*not a limit of ResourceQuota/);
    const list = {
      'team-a/x.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [{ kind, apiVersion, data: { pods: '10' } }],
      }),
    };
    expect(verdict(list, named('team-a/x.json', 'items[0].data.pods'))).toMatch(/^Unplaceable: .*not a limit of/);
  });

  it('a field of the quota itself that is no limit is refused', () => {
    const text = quota('team-a').replace('  name:', '  generation: 10\n  name:');
    expect(verdict({ 'team-a/q.yaml': text }, named('team-a/q.yaml', 'metadata.generation'))).toMatch(
      /^Unplaceable: .*not a limit of ResourceQuota team-a\/compute/,
    );
    expect(verdict({ 'team-a/q.yaml': text }, named('team-a/q.yaml', 'spec.hard.pods'))).toBe('own');
  });
});

describe('another name or namespace', () => {
  it('of a ResourceQuota that the field names is refused', () => {
    const other = { 'team-b/q.yaml': quota('team-b') };
    expect(verdict(other, named('team-b/q.yaml', 'spec.hard.pods'))).toMatch(/^(?:Unplaceable|FileNotFound): /);
    const second = { 'team-a/q.yaml': quota('team-a', 10, 'storage') };
    expect(verdict(second, named('team-a/q.yaml', 'spec.hard.pods'))).toMatch(/^(?:Unplaceable|FileNotFound): /);
  });

  it('is refused where the path has it, and the object says none', () => {
    const files = { 'managed-resources/dev/team-b/q.yaml': quota(null) };
    for (const path of ['managed-resources/dev/team-b', 'managed-resources/dev/team-b/q.yaml']) {
      expect(verdict(files, named(path))).toMatch(
        /^Unplaceable: .*is of namespace team-b by the path template .*and not of team-a/,
      );
    }
    const beside = { 'tenants/team-b/q.yaml': quota(null), 'tenants/team-a/q.yaml': quota(null) };
    expect(verdict(beside, named('tenants/team-b/q.yaml'))).toMatch(/^Unplaceable: .*tenants\/team-a/);
    expect(verdict(beside, named('tenants/team-a/q.yaml'))).toBe('own');
  });

  it('where nothing but the annotation says whose an object is, that is not proved', () => {
    expect(verdict({ 'somewhere/q.yaml': quota(null) }, named('somewhere/q.yaml'))).toMatch(
      /^not proved: nothing but the annotation .* says that .* of namespace team-a/,
    );
    // It is what a person has to look at, also where the cluster is not sure either.
    const clusters = { 'teams/red/q.yaml': quota(null), 'managed-resources/dev/x/q.yaml': quota('x') };
    expect(verdict(clusters, named('teams/red'))).toMatch(/^not proved: nothing but the annotation /);
    const kustomized = { 'x/q.yaml': quota(null), 'x/kustomization.yaml': 'namespace: team-a\nresources: [q.yaml]\n' };
    expect(verdict(kustomized, named('x'))).toBe('own');
    expect(verdict({ 'somewhere/q.yaml': quota('team-a') }, named('somewhere/q.yaml'))).toBe('own');
    expect(verdict({ 'quotas/values-team-a.yaml': quota(null) }, named('quotas'))).toBe('own');
  });
});

describe('another cluster', () => {
  const both: Files = {
    'managed-resources/prod/team-a/q.yaml': quota('team-a'),
    'managed-resources/dev/team-a/q.yaml': quota('team-a'),
  };

  it('is refused where the path template says so, for a named folder and a named file', () => {
    for (const path of ['managed-resources/prod/team-a', 'managed-resources/prod/team-a/q.yaml']) {
      expect(verdict(both, named(path))).toMatch(
        /^Unplaceable: .*is of cluster prod by the path template .*and not of dev; correct the annotation/,
      );
    }
    expect(verdict(both, named('managed-resources/prod'))).toMatch(/^(?:Unplaceable|FileNotFound): /);
    expect(verdict(both, named('managed-resources/dev/team-a'))).toBe('own');
    expect(verdict(both, named('managed-resources/prod/team-a/q.yaml', 'spec.hard.pods'))).toMatch(/^Unplaceable: /);
  });

  it('is refused where the path has the name of another environment', () => {
    const files = { 'envs/prod/team-a/q.yaml': quota('team-a') };
    expect(verdict(files, named('envs/prod/team-a/q.yaml'))).toMatch(/^Unplaceable: .*production/);
    expect(verdict(files, named('envs/prod/team-a'), { cluster: 'prod-eu-1' })).toBe('own');
    // A team may be called like an environment.
    const qa = { 'teams/qa/q.yaml': quota('team-qa') };
    expect(verdict(qa, named('teams/qa/q.yaml'), { namespace: 'team-qa' })).toBe('own');
  });

  it('is refused where the same path exists for this cluster', () => {
    const files = { 'c/eu/team-a/q.yaml': quota('team-a'), 'c/us/team-a/q.yaml': quota('team-a') };
    expect(verdict(files, named('c/us/team-a/q.yaml'), { cluster: 'eu' })).toMatch(/^Unplaceable: .*c\/eu\/team-a/);
    expect(verdict(files, named('c/eu/team-a/q.yaml'), { cluster: 'eu' })).toBe('own');
  });

  it('is not proved to be another one by a folder beside that of this cluster alone', () => {
    const files = { 'eu/team-b/q.yaml': quota('team-b'), 'rome/team-a/q.yaml': quota('team-a') };
    expect(verdict(files, named('rome/team-a'), { cluster: 'eu' })).toMatch(/^not proved: .*rome/);
    const general = { 'eu/team-b/q.yaml': quota('team-b'), 'namespaces/team-a/q.yaml': quota('team-a') };
    expect(verdict(general, named('namespaces/team-a'), { cluster: 'eu' })).toBe('own');
  });

  it('is what the overlay is of, also where the annotation names the base', () => {
    const files = {
      'base/q.yaml': quota('team-a'),
      'base/kustomization.yaml': 'resources: [q.yaml]\n',
      'overlays/prod/kustomization.yaml': 'resources: [../../base]\n',
    };
    expect(verdict(files, named('overlays/prod'))).toMatch(/^Unplaceable: /);
  });
});

describe('perhaps another cluster', () => {
  const values = 'quota:\n  pods: 10\n';
  const byTeam = `team-a:\n  ${values.replace('  ', '    ')}`;
  const template = quota('team-a', '{{ .Values.quota.pods }}');
  const chart = {
    'c/Chart.yaml': 'name: q\nversion: 1.0.0\n',
    'c/values.yaml': values,
    'c/templates/q.yaml': template,
  };
  const application = (destination: string): string =>
    `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: x\nspec:\n  destination:\n    namespace: team-a\n    ${destination}\n  source:\n    helm:\n      valuesObject:\n        quota:\n          pods: 10\n`;
  const inApplication = 'spec.source.helm.valuesObject.quota.pods';

  it.each<[string, Files, string, string | undefined, string]>([
    ['a folder', { 'managed/us1/team-a/q.yaml': quota('team-a') }, 'managed/us1/team-a/q.yaml', undefined, 'eu1'],
    ['another limit', { 'managed/us1/team-a/q.yaml': quota('team-a', 7) }, 'managed/us1/team-a', undefined, 'eu1'],
    ['a folder in parts', { 'x/prod-us/team-a/q.yaml': quota('team-a') }, 'x/prod-us/team-a', undefined, 'prod-eu'],
    [
      'a file beside the cluster’s',
      { 'clusters/rome.yaml': quota('team-a'), 'clusters/milan.yaml': quota('team-a') },
      'clusters/rome.yaml',
      undefined,
      'milan',
    ],
    [
      'a part of a file’s name',
      { 'q/team-a-us.yaml': quota('team-a'), 'q/team-a-eu.yaml': quota('team-a') },
      'q/team-a-us.yaml',
      undefined,
      'eu',
    ],
    ['an environment in it', { 'q/team-a-prod.yaml': quota('team-a') }, 'q/team-a-prod.yaml', undefined, 'dev-eu'],
    ['a values file', { 'v/values-us1.yaml': byTeam }, 'v/values-us1.yaml', '["team-a"].quota.pods', 'eu1'],
    ['a values file, without a field', { 'v/team-a/values-us1.yaml': values }, 'v/team-a', undefined, 'eu1'],
    ['a values file of a chart', { ...chart, 'c/values-us1.yaml': values }, 'c/values-us1.yaml', 'quota.pods', 'eu1'],
    [
      'a key with the name of an environment',
      { 'teams.yaml': 'prod:\n  team-a:\n    quota:\n      pods: 10\n' },
      'teams.yaml',
      'prod["team-a"].quota.pods',
      'dev',
    ],
    [
      'a key beside the cluster’s',
      { 'teams.yaml': 'rome:\n  team-a:\n    quota:\n      pods: 10\nmilan: {}\n' },
      'teams.yaml',
      'rome["team-a"].quota.pods',
      'milan',
    ],
    [
      'an Application by name',
      { 'apps/x.yaml': application('name: prod-cluster') },
      'apps/x.yaml',
      inApplication,
      'dev',
    ],
    [
      'an Application by server',
      { 'apps/x.yaml': application('server: https://us1.example.com') },
      'apps/x.yaml',
      inApplication,
      'eu1',
    ],
  ])('is not proved: %s', (_, files, path, field, cluster) => {
    expect(verdict(files, named(path, field), { cluster })).toMatch(/^not proved: /);
  });

  it.each<[string, Files, string, string | undefined, string]>([
    ['its own file', { 'q/team-a-us1.yaml': '', 'q/team-a-eu1.yaml': quota('team-a') }, 'q', undefined, 'eu1'],
    [
      'its own values file',
      { 'v/values-us1.yaml': byTeam, 'v/values-eu1.yaml': byTeam },
      'v/values-eu1.yaml',
      '["team-a"].quota.pods',
      'eu1',
    ],
    [
      'its own key',
      { 'teams.yaml': 'us1: {}\neu1:\n  team-a:\n    quota:\n      pods: 10\n' },
      'teams.yaml',
      'eu1["team-a"].quota.pods',
      'eu1',
    ],
    [
      'places in general beside a folder of clusters',
      { 'tenants/base/team-a/q.yaml': quota('team-a'), 'clusters/eu1/apps.yaml': '' },
      'tenants/base/team-a',
      undefined,
      'eu1',
    ],
    [
      'a folder that is called like nothing',
      { 'acme/team-a/q.yaml': quota('team-a') },
      'acme/team-a',
      undefined,
      'eu1',
    ],
    ['its own Application', { 'apps/x.yaml': application('name: eu1') }, 'apps/x.yaml', inApplication, 'eu1'],
    [
      'an Application in its cluster',
      { 'apps/x.yaml': application('server: https://kubernetes.default.svc') },
      'apps/x.yaml',
      inApplication,
      'eu1',
    ],
  ])('is not meant by %s', (_, files, path, field, cluster) => {
    expect(verdict(files, named(path, field), { cluster })).toBe('own');
  });

  it('is not proved either where a search of the repository found it', () => {
    const scan: SourceCandidate = { from: 'scan', learntFrom: 'a search of the whole repository' };
    const files = { 'clusters/us1/team-a/q.yaml': quota('team-a') };
    expect(verdict(files, scan, { cluster: 'eu1' })).toMatch(/^not proved: .*us1/);
    expect(verdict(files, scan, { cluster: 'us1' })).toBe('own');
    const beside = { 'clusters/rome.yaml': quota('team-a'), 'clusters/milan.yaml': quota('team-b') };
    expect(verdict(beside, scan, { cluster: 'milan' })).toMatch(/^not proved: .*milan/);
    // No tenant led the search there, so a folder for the cluster somewhere else is no reason to doubt.
    const apart = { 'teams/blue/limits/q.yaml': quota('team-a'), 'managed-resources/dev/x/q.yaml': quota('x') };
    expect(verdict(apart, scan)).toBe('own');
    expect(verdict(apart, named('teams/blue/limits'))).toMatch(/^not proved: .*managed-resources\/dev/);
  });
});

describe('a path that only an annotation names, where the tree has nothing of the cluster', () => {
  const overlay = (namespace: string) => `namespace: ${namespace}\nresources: [../../base]\n`;
  const overlays: Files = {
    'base/kustomization.yaml': 'resources: [q.yaml]\n',
    'base/q.yaml': quota(null),
    'envs/live/kustomization.yaml': overlay('team-a'),
    'envs/try/kustomization.yaml': overlay('team-a'),
  };

  it.each<[string, Files, string, string | undefined, string]>([
    [
      'an environment of a cluster that is called like none',
      { 'prod/team-a/q.yaml': quota('team-a'), 'dev/team-a/q.yaml': quota('team-a') },
      'prod/team-a',
      undefined,
      'k8s-a',
    ],
    [
      'a folder that is called like nothing in particular',
      { 'envs/live/team-a/q.yaml': quota('team-a'), 'envs/try/team-a/q.yaml': quota('team-a') },
      'envs/live',
      undefined,
      'dev',
    ],
    [
      'files in which only the object has the name',
      { 'one/quotas.yaml': quota('team-a'), 'two/quotas.yaml': quota('team-a', 8) },
      'one/quotas.yaml',
      undefined,
      'k8s-a',
    ],
    ['overlays of one base', overlays, 'envs/live', undefined, 'k8s-a'],
    [
      'values files',
      {
        'one/values.yaml': 'team-a:\n  quota:\n    pods: 10\n',
        'two/values.yaml': 'team-a:\n  quota:\n    pods: 10\n',
      },
      'one/values.yaml',
      '["team-a"].quota.pods',
      'k8s-a',
    ],
  ])('is not proved beside a second one of the name: %s', (_, files, path, field, cluster) => {
    expect(verdict(files, named(path, field), { cluster })).toMatch(/^not proved: .*which may be of another cluster/);
  });

  it('is not proved where its limit is not the one in force', () => {
    const files = { 'prod/team-a/q.yaml': quota('team-a', 7) };
    expect(verdict(files, named('prod/team-a'), { cluster: 'k8s-a' })).toMatch(
      /^not proved: nothing says that `prod\/team-a\/q\.yaml` is of cluster k8s-a, and pods is 7 .*the limit in force is 10/,
    );
  });

  it.each<[string, Files, string, string]>([
    [
      'the only one of the name, with the limit in force',
      { 'prod/team-a/q.yaml': quota('team-a') },
      'prod/team-a',
      'k8s-a',
    ],
    [
      'beside folders of other namespaces',
      { 'prod/blue/q.yaml': quota('team-a'), 'prod/red/q.yaml': quota('team-b'), 'prod/green/q.yaml': quota('team-c') },
      'prod/blue',
      'k8s-a',
    ],
    [
      'beside another quota of its namespace',
      { 'team-a/one/q.yaml': quota('team-a'), 'team-a/two/q.yaml': quota('team-a', 10, 'gpu') },
      'team-a/one',
      'k8s-a',
    ],
    [
      'what has the cluster’s name',
      { 'prod/k8s-a/team-a/q.yaml': quota('team-a', 7), 'prod/k8s-b/team-a/q.yaml': quota('team-a') },
      'prod/k8s-a',
      'k8s-a',
    ],
    [
      'where the path template says it',
      {
        'managed-resources/k8s-a/team-a/q.yaml': quota('team-a', 7),
        'managed-resources/k8s-b/team-a/q.yaml': quota('team-a'),
      },
      'managed-resources/k8s-a/team-a',
      'k8s-a',
    ],
    [
      'in the environment that the cluster is called after',
      { 'envs/prod/team-a/q.yaml': quota('team-a', 7), 'envs/dev/team-a/q.yaml': quota('team-a') },
      'envs/prod/team-a',
      'prod-eu-1',
    ],
  ])('is its own: %s', (_, files, path, cluster) => {
    expect(verdict(files, named(path), { cluster })).toBe('own');
  });

  it('is its own where the cluster shows that Argo CD or Flux applies it into the namespace', () => {
    const files = { 'prod/team-a/q.yaml': quota('team-a'), 'dev/team-a/q.yaml': quota('team-a') };
    const learntFrom = 'the Argo CD Application argocd/team-a';
    const applied = (path: string, recurses = false): AppliedFolders =>
      AppliedFolders.of([{ learntFrom, path, namespace: 'team-a', overrides: false, recurses }]);
    const of = (folders: AppliedFolders): string => verdict(files, named('prod/team-a'), { cluster: 'k8s-a' }, folders);
    expect(of(applied('prod/team-a'))).toBe('own');
    expect(of(applied('prod', true))).toBe('own');
    expect(of(applied('prod'))).toMatch(/^not proved: /);
    expect(of(applied('dev/team-a'))).toMatch(/^not proved: /);
  });
});

describe('a value of a chart', () => {
  const chart = (template: string, values: string, more: Files = {}): Files => ({
    'charts/q/Chart.yaml': 'name: q\nversion: 1.0.0\n',
    'charts/q/values.yaml': values,
    'charts/q/templates/quota.yaml': template,
    ...more,
  });
  const template = (namespace: string, pods: string, name = 'compute'): string => quota(namespace, pods, name);

  it('that feeds this quota and holds the limit in force is its own', () => {
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 10\n');
    expect(verdict(files, named('charts/q'))).toBe('own');
    expect(verdict(files, named('charts/q/values.yaml', 'quota.pods'))).toBe('own');
    expect(verdict(files, named('charts/q', 'quota'))).toBe('own');
  });

  it('that does not hold the limit in force is not proved, nor is a computed one', () => {
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 7\n');
    expect(verdict(files, named('charts/q'))).toMatch(
      /^not proved: pods is 7 at charts\/q\/values\.yaml:2, and the limit in force is 10/,
    );
    expect(verdict(files, named('charts/q'), { current: { pods: '7' } })).toBe('own');
    const computed = chart(template('team-a', '{{ mul .Values.quota.pods 2 }}'), 'quota:\n  pods: 5\n');
    expect(verdict(computed, named('charts/q/values.yaml', 'quota.pods'))).toMatch(/^not proved: /);
    const alike = chart(template('team-a', '{{ mul .Values.quota.pods 1 }}'), 'quota:\n  pods: 10\n');
    expect(verdict(alike, named('charts/q/values.yaml', 'quota.pods'))).toMatch(/^not proved: /);
  });

  it('that feeds a quota of another namespace or name is refused', () => {
    const other = chart(template('team-b', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 10\n');
    expect(verdict(other, named('charts/q/values.yaml', 'quota.pods'))).toMatch(
      /^Unplaceable: .*feeds ResourceQuota team-b\/compute/,
    );
    const name = chart(template('team-a', '{{ .Values.quota.pods }}', 'storage'), 'quota:\n  pods: 10\n');
    expect(verdict(name, named('charts/q/values.yaml', 'quota.pods'))).toMatch(
      /^Unplaceable: .*feeds ResourceQuota team-a\/storage/,
    );
  });

  it('of a chart without any ResourceQuota is refused', () => {
    const files = chart(DEPLOYMENT.replace('10', '{{ .Values.replicas }}'), 'replicas: 10\n');
    expect(verdict(files, named('charts/q/values.yaml', 'replicas'))).toMatch(
      /^Unplaceable: .*chart charts\/q, which has no ResourceQuota/,
    );
  });

  it.each([
    ['the value itself', '{{ .Values.quota.pods }}'],
    ['the value through the root', '{{ $.Values.quota.pods | quote }}'],
    ['index', '{{ index .Values.quota "pods" }}'],
    ['the whole mapping', '{{ .Values.quota | toYaml | sha256sum }}'],
    ['get', '{{ get .Values.quota "pods" }}'],
    ['a key of an expression', '{{ (.Values.quota).pods }}'],
    ['a variable', '{{ $q := .Values.quota }}{{ $q.pods }}'],
    ['a variable of the root', '{{- $v := .Values -}}{{ $v.quota.pods }}'],
    ['a variable of a condition', '{{ if $n := .Values.quota.pods }}{{ $n }}{{ end }}'],
    ['a variable of a variable', '{{ $q := .Values.quota | default dict }}{{ $n := index $q "pods" }}{{ add $n 1 }}'],
    ['a template with the mapping', '{{ template "x" .Values.quota }}'],
    ['a template with more than the mapping', '{{ include "x" (dict "quota" .Values.quota) }}'],
    ['blocks in blocks', '{{ with .Values }}{{ with .quota }}{{ .pods }}{{ end }}{{ end }}'],
    ['a range with any key', '{{ range $key, $one := .Values }}{{ $one.pods }}{{ end }}'],
    ['a key that is not known', '{{ (index .Values .Release.Name).pods }}'],
    ['a computed limit of another quota', '{{ with .Values.quota }}{{ mul .pods 2 }}{{ end }}'],
    ['the root in a template of its own', '{{ define "x" }}{{ .root.Values.quota.pods }}{{ end }}'],
    ['more parentheses than are followed', `{{ ${'('.repeat(9)}.Values.quota.pods${')'.repeat(9)} }}`],
  ])('that feeds more than this quota is refused: a Deployment uses %s', (_, use) => {
    const deployment = DEPLOYMENT.replace('10', use);
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 10\n', {
      'charts/q/templates/deployment.yaml': deployment,
    });
    expect(verdict(files, named('charts/q'))).toMatch(/^Unplaceable: .*charts\/q\/templates\/deployment\.yaml:7/);
    expect(verdict(files, named('charts/q/values.yaml', 'quota.pods'))).toMatch(/^Unplaceable: /);
    const together = chart(
      `${template('team-a', '{{ .Values.quota.pods }}')}---\n${deployment}`,
      'quota:\n  pods: 10\n',
    );
    expect(verdict(together, named('charts/q'))).toMatch(/^Unplaceable: .*charts\/q\/templates\/quota\.yaml:/);
  });

  it.each([
    ['a range', '{{ range $key, $one := .Values }}{{ include "x" $one }}{{ end }}'],
    ['a with', '{{ with .Values.quota }}{{ template "x" . }}{{ end }}'],
    ['a variable', '{{ $q := .Values.quota }}{{ include "x" (dict "q" $q) }}'],
  ])('whose mapping %s hands on to a template is not proved: what becomes of it is not followed', (_, use) => {
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 10\n', {
      'charts/q/templates/deployment.yaml': DEPLOYMENT.replace('10', use),
    });
    const doubt =
      /^not proved: charts\/q\/templates\/deployment\.yaml:7 hands on the mapping .*values\.yaml:2, and may/;
    expect(verdict(files, named('charts/q'))).toMatch(doubt);
    expect(verdict(files, named('charts/q/values.yaml', 'quota.pods'))).toMatch(doubt);
  });

  it.each([
    ['whether it is there', '{{ if .Values.quota.pods }}1{{ else if hasKey .Values.quota "pods" }}2{{ end }}'],
    ['its keys alone', '{{ len .Values.quota }}{{ range keys .Values.quota | sortAlpha }}{{ . }}{{ end }}'],
    [
      'other values through variables',
      '{{ $q := .Values.quota }}{{ $q.replicas }}{{ with $q }}{{ .replicas }}{{ end }}',
    ],
    ['a variable that nobody uses', '{{ $_ := required ".Values.quota.pods is missing" .Values.quota.pods }}1'],
    ['a block that has ended', '{{ with .Values.quota }}{{ .replicas }}{{ end }}{{ include "x" . }}'],
    ['another value by a key that is not known', '{{ (index .Values.teams .Release.Name).replicas }}'],
  ])('is its own where the chart uses %s', (_, use) => {
    const values = 'quota:\n  pods: 10\n  replicas: 3\nteams: {}\n';
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), values, {
      'charts/q/templates/deployment.yaml': DEPLOYMENT.replace('10', use),
    });
    expect(verdict(files, named('charts/q'))).toBe('own');
  });

  it('that feeds more than this quota is refused: another value names it, and a template evaluates that', () => {
    const values = 'quota:\n  pods: 10\nreplicas: "{{ .Values.quota.pods }}"\n';
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), values, {
      'charts/q/templates/deployment.yaml': DEPLOYMENT.replace('10', '{{ tpl .Values.replicas . }}'),
    });
    expect(verdict(files, named('charts/q'))).toMatch(/^Unplaceable: .*charts\/q\/values\.yaml:3/);
  });

  it('that a label of the quota repeats is refused, and other values of the mapping may be used elsewhere', () => {
    const labelled = template('team-a', '{{ .Values.quota.pods }}').replace(
      '  name:',
      '  labels:\n    pods: "{{ .Values.quota.pods }}"\n  name:',
    );
    expect(verdict(chart(labelled, 'quota:\n  pods: 10\n'), named('charts/q'))).toMatch(/^Unplaceable: /);
    const files = chart(template('team-a', '{{ .Values.quota.pods }}'), 'quota:\n  pods: 10\n  replicas: 3\n', {
      'charts/q/templates/deployment.yaml': DEPLOYMENT.replace('10', '{{ .Values.quota.replicas }}'),
      'charts/q/templates/NOTES.txt': 'You have {{ .Values.quota.pods }} pods.\n',
    });
    expect(verdict(files, named('charts/q'))).toBe('own');
  });
});

describe('a value that no chart of the tree uses', () => {
  it('is this quota’s own where its place has the namespace, its key the resource, and it holds the limit in force', () => {
    const files = { 'envs/team-a/values.yaml': 'namespaceQuotas:\n  pods: 10\n' };
    expect(verdict(files, named('envs/team-a/values.yaml', 'namespaceQuotas.pods'))).toBe('own');
    expect(
      verdict({ 'teams.yaml': 'team-a:\n  quota:\n    pods: 10\n' }, named('teams.yaml', '["team-a"].quota.pods')),
    ).toBe('own');
    const short = { 'envs/values-team-a.yaml': 'quota:\n  pods: 10\n' };
    expect(verdict(short, named('envs/values-team-a.yaml'))).toBe('own');
  });

  it.each<[string, Files, string, string | undefined]>([
    ['a value below it', { 'envs/team-a/values.yaml': 'quota:\n  pods: 5\n' }, 'envs/team-a/values.yaml', 'quota.pods'],
    ['a value of nobody', { 'x/values.yaml': 'quota:\n  pods: 10\n' }, 'x/values.yaml', 'quota.pods'],
    ['the only mapping of nobody', { 'x/values.yaml': 'quota:\n  pods: 10\n' }, 'x/values.yaml', undefined],
    ['any number', { 'envs/team-a/values.yaml': 'replicas: 10\n' }, 'envs/team-a/values.yaml', 'replicas'],
    [
      'another namespace’s',
      { 'e/team-a-b/values.yaml': 'quota:\n  pods: 10\n' },
      'e/team-a-b/values.yaml',
      'quota.pods',
    ],
  ])('is not proved to be: %s', (_, files, path, field) => {
    expect(verdict(files, named(path, field))).toMatch(/^not proved: /);
  });

  it.each<[string, string, string, string]>([
    [
      'a key of another team has the namespace’s name',
      'team-b:\n  shared-with:\n    team-a:\n      quota:\n        pods: 10\n',
      'team-b["shared-with"]["team-a"].quota.pods',
      'teams.yaml',
    ],
    ['another quota', 'storageQuota:\n  pods: 10\n', 'storageQuota.pods', 'envs/team-a/values.yaml'],
    ['another quota of several', 'quotas:\n  storage:\n    pods: 10\n', 'quotas.storage', 'envs/team-a/values.yaml'],
    ['a container', 'app:\n  resources:\n    pods: 10\n', 'app.resources.pods', 'envs/team-a/values.yaml'],
    ['another quota, without a field', 'storageQuota:\n  pods: 10\n', '', 'envs/team-a/values.yaml'],
  ])('is not proved by its key: %s', (_, text, field, path) => {
    expect(verdict({ [path]: text }, named(path, field === '' ? undefined : field))).toMatch(/^not proved: /);
  });

  it('is not proved by a key that only quotas have: a container may have it', () => {
    const files = { 'envs/team-a/values.yaml': 'app:\n  resources:\n    requests.cpu: 10\n' };
    const wanted = { resources: ['requests.cpu'], current: { 'requests.cpu': '10' } };
    expect(verdict(files, named('envs/team-a/values.yaml', 'app.resources["requests.cpu"]'), wanted)).toMatch(
      /^not proved: .*below `resources`/,
    );
  });

  it.each<[string, string, string]>([
    ['teams', 'teams:\n  team-a:\n    quota:\n      pods: 10\n', 'teams["team-a"].quota.pods'],
    ['the environment', 'dev:\n  namespaces:\n    team-a:\n      pods: 10\n', 'dev.namespaces["team-a"].pods'],
    ['quotas by name', 'team-a:\n  quotas:\n    compute:\n      pods: 10\n', '["team-a"].quotas.compute.pods'],
    ['its own name', 'team-a:\n  computeQuota:\n    pods: 10\n', '["team-a"].computeQuota.pods'],
    ['hard', 'team-a:\n  resourceQuota:\n    hard:\n      pods: 10\n', '["team-a"].resourceQuota.hard'],
    ['resources of a quota', 'team-a:\n  quota:\n    resources:\n      pods: 10\n', '["team-a"].quota.resources'],
  ])('is proved below keys that sort by namespace or are a quota’s: %s', (_, text, field) => {
    expect(verdict({ 'teams.yaml': text }, named('teams.yaml', field))).toBe('own');
  });

  it('in an object of Argo CD or Flux counts for the namespace that the object installs into', () => {
    const release = (target: string, values = 'quota:\n      pods: 10\n'): string =>
      `apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: q\n  namespace: flux-system\nspec:\n  targetNamespace: ${target}\n  values:\n    ${values}`;
    const field = 'spec.values.quota.pods';
    expect(verdict({ 'r/hr.yaml': release('team-a') }, named('r/hr.yaml', field))).toBe('own');
    expect(verdict({ 'r/hr.yaml': release('team-b') }, named('r/hr.yaml', field))).toMatch(
      /^Unplaceable: .*HelmRelease q.*team-b/,
    );
    // A release of the platform may have values for each namespace; which it is, a person sees.
    const keyed = release('team-b', 'team-a:\n      quota:\n        pods: 10\n');
    expect(verdict({ 'r/hr.yaml': keyed }, named('r/hr.yaml', 'spec.values["team-a"].quota.pods'))).toMatch(
      /^not proved: .*HelmRelease q installs into namespace team-b/,
    );
    const deeper = release('team-b', 'app:\n      team-a:\n        quota:\n          pods: 10\n');
    expect(verdict({ 'r/hr.yaml': deeper }, named('r/hr.yaml', 'spec.values.app["team-a"].quota.pods'))).toMatch(
      /^Unplaceable: .*HelmRelease q.*team-b/,
    );
    expect(verdict({ 'r/hr.yaml': release('team-a') }, named('r/hr.yaml', 'metadata.generation'))).toMatch(
      /^(?:FileNotFound|Unplaceable): /,
    );
    expect(
      verdict({ 'r/hr.yaml': release('team-a', 'replicas: 10\n') }, named('r/hr.yaml', 'spec.values.replicas')),
    ).toMatch(/^not proved: /);
  });
});
