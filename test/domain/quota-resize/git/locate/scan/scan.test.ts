import { describe, expect, it } from 'vitest';
import { type Scan, scanQuotas, type ScanOptions } from '../../../../../../domain/quota-resize/git/locate/scan/scan.ts';
import { type Files, layoutFiles, wholeTree } from '../../../../../layouts/tree.ts';

function scan(files: Files, options?: ScanOptions): Scan {
  const result = scanQuotas(wholeTree(files), options);
  if (result.kind === 'missingFiles') {
    throw new Error(`everything is known, and ${result.paths.join(', ')} is asked for`);
  }
  return result;
}

/** `namespace/name key=value path:line`, one for each value. */
function values({ quotas }: Scan): readonly string[] {
  return quotas.flatMap(({ namespace, name, values }) =>
    Object.entries(values).map(([key, { text, path, line }]) => `${namespace}/${name} ${key}=${text} ${path}:${line}`),
  );
}

function problems({ unlocated }: Scan): readonly string[] {
  return unlocated.map(({ namespace, name, path, line, reason }) => `${namespace}/${name} ${path}:${line} ${reason}`);
}

const quota = (name: string, namespace: string | null, hard: string): string =>
  `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: ${name}\n${namespace === null ? '' : `  namespace: ${namespace}\n`}spec:\n  hard: ${hard}\n`;

describe('plain manifests', () => {
  const files = layoutFiles('plain');

  it('of one cluster are found with each value at its line, in YAML, lists and JSON', () => {
    const found = scan(files, { cluster: 'prod', template: 'namespaces/{{ .Cluster }}/{{ .Namespace }}' });
    const at = 'namespaces/prod';
    expect(values(found)).toEqual([
      `team-a/compute requests.cpu=2 ${at}/team-a/10-resourcequota.yaml:8`,
      `team-a/compute requests.memory=4Gi ${at}/team-a/10-resourcequota.yaml:9`,
      `team-a/compute pods=10 ${at}/team-a/10-resourcequota.yaml:10`,
      `team-b/compute requests.cpu=500m ${at}/team-b/quotas.yaml:10`,
      `team-b/compute limits.cpu=1 ${at}/team-b/quotas.yaml:11`,
      `team-b/storage requests.storage=100Gi ${at}/team-b/quotas.yaml:20`,
      `team-c/compute pods=7 ${at}/team-c/quota.yaml:7`,
      `team-d/compute pods=3 ${at}/team-d/list.yaml:11`,
      `team-d/objects count/jobs.batch=4 ${at}/team-d/list.yaml:18`,
      `team-d/objects secrets=20 ${at}/team-d/list.yaml:18`,
      `team-e/compute requests.cpu=2 ${at}/team-e/quota.json:7`,
      `team-e/compute pods=10 ${at}/team-e/quota.json:8`,
      `team-f/compute requests.cpu=2 ${at}/team-f/anchors.yaml:8`,
      `team-f/compute limits.cpu=2 ${at}/team-f/anchors.yaml:9`,
      `team-f/compute pods=10 ${at}/team-f/anchors.yaml:10`,
    ]);
    expect(problems(found)).toEqual([
      `team-g/compute ${at}/team-g/a.yaml:4 FoundTwice`,
      `null/null ${at}/team-h/broken.yaml:4 NotYaml`,
    ]);
    expect(found.unlocated[0]?.candidates.map(({ path, line }) => `${path}:${line}`)).toEqual([
      `${at}/team-g/a.yaml:4`,
      `${at}/team-g/b.yaml:4`,
    ]);
  });

  it('of two clusters are not told apart by a guess', () => {
    expect(problems(scan(files))).toContain('team-a/compute namespaces/dev/team-a/10-resourcequota.yaml:4 FoundTwice');
  });

  it('of a cluster are those in its folder, also without a template', () => {
    const locations = (cluster: string) =>
      scan(files, { cluster })
        .quotas.filter(({ namespace }) => namespace === 'team-a')
        .map(({ path }) => path);
    expect(locations('prod')).toEqual(['namespaces/prod/team-a/10-resourcequota.yaml']);
    expect(locations('dev')).toEqual(['namespaces/dev/team-a/10-resourcequota.yaml']);
  });

  it('that name no namespace are placed only where something says it', () => {
    const path = 'teams/red/quota.yaml';
    const unnamed = { [path]: quota('compute', null, '{pods: 1}') };
    const [problem] = scan(unnamed).unlocated;
    expect(problem).toMatchObject({ namespace: null, name: 'compute', path, line: 4, reason: 'Unplaceable' });
    expect(problem?.message).toMatch(/names no namespace.*write metadata\.namespace/);
    for (const [options, how] of [
      [
        { template: 'teams/{{ .Namespace }}' },
        /by the path template `teams\/{{ .Namespace }}`\. Its namespace is known from the path template/,
      ],
      [{ namespaces: ['red'] }, /known from a folder or file of `/],
    ] as const) {
      const [found] = scan(unnamed, options).quotas;
      expect(found).toMatchObject({ namespace: 'red', name: 'compute' });
      expect(found?.how).toMatch(how);
    }
    const declared = { ...unnamed, 'ns.yaml': 'kind: Namespace\napiVersion: v1\nmetadata: {name: red}\n' };
    expect(scan(declared).quotas).toMatchObject([{ namespace: 'red' }]);
    // Whoever looks for the quota of one namespace does not know that the folder above is called like another.
    expect(scan(unnamed, { namespaces: ['red', 'teams'] }).quotas).toMatchObject([{ namespace: 'red' }]);
  });

  it('are not chosen from where one names its namespace and another is filed under it', () => {
    const found = scan(
      { 'red/a.yaml': quota('compute', null, '{pods: 1}'), 'all.yaml': quota('compute', 'red', '{pods: 2}') },
      { namespaces: ['red'] },
    );
    expect(values(found)).toEqual([]);
    expect(found.unlocated).toMatchObject([{ namespace: 'red', reason: 'FoundTwice' }]);
  });

  it('with a value that is no quantity are said, and their other values are found', () => {
    const found = scan({ 'q.yaml': quota('compute', 'red', "{pods: 1, requests.cpu: '${CPU}'}") });
    expect(values(found)).toEqual(['red/compute pods=1 q.yaml:7']);
    expect(problems(found)).toEqual(['red/compute q.yaml:7 Unplaceable']);
    expect(found.unlocated[0]?.message).toContain('the value of requests.cpu, ${CPU}, is not a quantity');
  });
});

describe('kustomizations', () => {
  const found = scan(layoutFiles('kustomize'));
  const of = (namespace: string) => values(found).filter((value) => value.startsWith(`${namespace}/`));

  it.each<[string, readonly string[]]>([
    [
      'plain',
      ['requests.cpu=4 base/quota.yaml:7', 'requests.memory=8Gi base/quota.yaml:8', 'pods=20 base/quota.yaml:9'],
    ],
    [
      'strategic',
      [
        'requests.cpu=6 overlays/strategic/quota-patch.yaml:7',
        'requests.memory=8Gi base/quota.yaml:8',
        'pods=20 base/quota.yaml:9',
      ],
    ],
    [
      'inline',
      [
        'requests.cpu=4 base/quota.yaml:7',
        'requests.memory=16Gi overlays/inline/kustomization.yaml:12',
        'pods=20 base/quota.yaml:9',
      ],
    ],
    [
      'json',
      [
        'requests.cpu=5 overlays/json/kustomization.yaml:11',
        'requests.memory=8Gi base/quota.yaml:8',
        'pods=20 base/quota.yaml:9',
        'requests.nvidia.com/gpu=1 overlays/json/kustomization.yaml:14',
      ],
    ],
    [
      'json6902',
      [
        'requests.cpu=4 base/quota.yaml:7',
        'requests.memory=8Gi base/quota.yaml:8',
        'pods=30 overlays/json6902/pods.json:1',
      ],
    ],
    [
      'large-a',
      [
        'requests.cpu=32 components/large/kustomization.yaml:9',
        'requests.memory=8Gi base/quota.yaml:8',
        'pods=20 base/quota.yaml:9',
      ],
    ],
    ['alone', ['pods=8 overlays/alone/quota.yaml:8']],
  ])('give the quota of the overlay %s the value that has the last word', (namespace, expected) => {
    expect(of(namespace)).toEqual(expected.map((value) => `${namespace}/compute ${value}`));
  });

  it('may rename a quota', () => {
    expect(of('merge').map((value) => value.split(' ')[0])).toEqual(Array(3).fill('merge/team-compute'));
  });

  it('say what they leave uncertain: replacements, objects from elsewhere, files that they do not name', () => {
    expect(problems(found)).toEqual([
      'opaque/compute base/quota.yaml:4 Unplaceable',
      'alone/compute overlays/alone/quota-old.yaml:4 Unplaceable',
      'null/compute overlays/remote/patch.yaml:4 Unplaceable',
    ]);
  });

  it('that only pass others on make no second quota of them', () => {
    const files = {
      'all/kustomization.yaml': 'resources: [../red, ../blue]\n',
      'red/kustomization.yaml': 'namespace: red\nresources: [quota.yaml]\n',
      'red/quota.yaml': quota('compute', null, '{pods: 1}'),
      'blue/kustomization.yaml': 'namespace: blue\nresources: [quota.yaml]\n',
      'blue/quota.yaml': quota('compute', null, '{pods: 2}'),
    };
    expect(values(scan(files))).toEqual([
      'blue/compute pods=2 blue/quota.yaml:6',
      'red/compute pods=1 red/quota.yaml:6',
    ]);
  });

  it('that include themselves end', () => {
    const files = {
      'a/kustomization.yaml': 'resources: [../b]\nnamespace: a\n',
      'b/kustomization.yaml': 'resources: [../a, q.yaml]\n',
      'b/q.yaml': quota('compute', null, '{pods: 1}'),
    };
    expect(values(scan(files))).toEqual([]);
  });

  it('that are broken are said with their line', () => {
    const files = {
      'a/kustomization.yaml': 'resources: [quota.yaml\n',
      'a/quota.yaml': quota('compute', 'a', '{pods: 1}'),
    };
    expect(values(scan(files))).toEqual([]);
    expect(problems(scan(files))).toEqual([
      'null/null a/kustomization.yaml:1 NotYaml',
      'a/compute a/quota.yaml:4 Unplaceable',
    ]);
  });
});

describe('charts', () => {
  const found = scan(layoutFiles('helm'));

  it('take their values from the files that the templates name', () => {
    expect(values(found)).toEqual([
      'blue/compute pods=12 charts/envs/values-blue.yaml:2',
      'blue/compute services=3 charts/envs/values.yaml:1',
      'red/compute pods=11 charts/envs/values-red.yaml:2',
      'red/compute services=3 charts/envs/values.yaml:1',
      'helm-keys/compute requests.cpu=3 charts/keys/values.yaml:4',
      'helm-keys/compute limits.memory=6Gi charts/keys/values.yaml:5',
      'helm-keys/compute pods=15 charts/keys/templates/all.yaml:11',
      'many-a/compute pods=5 charts/many/values.yaml:4',
      'many-b/compute pods=6 charts/many/values.yaml:7',
      'many-b/compute requests.cpu=500m charts/many/values.yaml:8',
      'helm-one/compute requests.cpu=2 charts/one/values.yaml:3',
      'helm-one/compute pods=10 charts/one/values.yaml:4',
    ]);
  });

  it('that compute a limit are said', () => {
    expect(found.unlocated).toMatchObject([{ namespace: 'helm-computed', name: 'compute', reason: 'Unplaceable' }]);
    expect(found.unlocated[0]?.message).toContain('computes a limit with {{ mul .Values.replicas 2 }}');
  });
});

describe('what Argo CD and Flux objects in the tree say', () => {
  it('gives folders and charts their namespaces and values', () => {
    const argo = scan(layoutFiles('argo'));
    expect(values(argo)).toEqual([
      'argo-b/team-b-compute requests.cpu=2500m teams/b.yaml:2',
      'argo-a/compute pods=10 teams/a/quota.yaml:7',
    ]);
    expect(argo.unlocated).toMatchObject([
      {
        namespace: 'argo-b',
        name: 'team-b-compute',
        reason: 'Unplaceable',
        message: expect.stringMatching(/charts\/quota\/values\.yaml:2.* may hold values of other releases/) as string,
      },
    ]);
    expect(values(scan(layoutFiles('flux')))).toEqual([
      'flux-b/compute requests.cpu=2 clusters/prod/team-b.yaml:15',
      'flux-a/compute pods=10 tenants/a/quota.yaml:7',
    ]);
  });
});
