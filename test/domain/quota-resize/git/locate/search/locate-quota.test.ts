import { describe, expect, it } from 'vitest';
import type { SourceCandidate } from '../../../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { locateQuota } from '../../../../../../domain/quota-resize/git/locate/search/locate-quota.ts';
import type { WantedQuota } from '../../../../../../domain/quota-resize/git/locate/search/search.ts';
import { ask, type Files, layoutFiles } from '../../../../../layouts/tree.ts';
import { generateCheckout } from '../../../../../layouts/generate.ts';

const template = (path: string): SourceCandidate => ({ from: 'template', path, learntFrom: 'the path template' });
const annotation = (path: string, field?: string): SourceCandidate => ({
  from: 'annotation',
  path,
  learntFrom: 'the annotation resizer.io/git-path',
  ...(field === undefined ? {} : { field }),
});
const anywhere: SourceCandidate = { from: 'scan', learntFrom: 'a scan of acme/gitops' };

function wanted(namespace: string, more: Partial<WantedQuota> = {}): WantedQuota {
  return { namespace, name: 'compute', cluster: 'prod', resources: ['pods'], ...more };
}

const location = (files: Files, quota: WantedQuota, candidate: SourceCandidate) =>
  ask(files, (tree) => locateQuota(tree, quota, candidate));

const quota = (namespace: string | null, pods: number): string =>
  `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n${namespace === null ? '' : `  namespace: ${namespace}\n`}spec:\n  hard:\n    pods: ${pods}\n`;

describe('a quota in the folder that a source candidate names', () => {
  it('is placed from the files of that folder alone', () => {
    const { answer, read } = location(layoutFiles('plain'), wanted('team-a'), template('namespaces/prod/team-a'));
    expect(answer).toMatchObject({
      kind: 'located',
      location: {
        path: 'namespaces/prod/team-a/10-resourcequota.yaml',
        line: 4,
        layout: 'manifest',
        values: { pods: { line: 10, text: '10' } },
        how: 'found in `namespaces/prod/team-a/10-resourcequota.yaml:4` by the path template',
      },
    });
    expect(read).toEqual(['namespaces/prod/team-a/00-namespace.yaml', 'namespaces/prod/team-a/10-resourcequota.yaml']);
  });

  it('need not name the namespace that the path was given for', () => {
    const files = { 'somewhere/q.yaml': quota(null, 3) };
    expect(location(files, wanted('team-x'), annotation('somewhere')).answer).toMatchObject({
      kind: 'located',
      location: {
        namespace: 'team-x',
        how: expect.stringContaining('. Its namespace is known from the annotation') as string,
      },
    });
    expect(location(files, wanted('team-x'), template('somewhere')).answer).toMatchObject({ reason: 'FileNotFound' });
  });

  it('that is there twice is not guessed at', () => {
    const { answer } = location(layoutFiles('plain'), wanted('team-g'), template('namespaces/prod/team-g'));
    expect(answer).toMatchObject({
      kind: 'unlocated',
      reason: 'FoundTwice',
      message:
        'ResourceQuota team-g/compute is in 2 places: namespaces/prod/team-g/a.yaml:4, namespaces/prod/team-g/b.yaml:4; keep one, or name its file or folder with the annotation resizer.io/git-path on the namespace',
    });
    const candidate = annotation('namespaces/prod/team-g/b.yaml');
    expect(location(layoutFiles('plain'), wanted('team-g'), candidate).answer).toMatchObject({
      location: { values: { pods: { text: '2' } } },
    });
  });

  it('that is not there is said with what is', () => {
    const { answer } = location(
      layoutFiles('plain'),
      wanted('team-a', { name: 'storage' }),
      template('namespaces/prod/team-a'),
    );
    expect(answer).toMatchObject({
      reason: 'FileNotFound',
      candidates: [{ namespace: 'team-a', name: 'compute', line: 4 }],
    });
    expect(location(layoutFiles('plain'), wanted('nobody'), template('namespaces/prod/nobody')).answer).toHaveProperty(
      'message',
      'no file for ResourceQuota nobody/compute, searched "namespaces/prod/nobody": there is no YAML file; name its folder or file with the annotation resizer.io/git-path on namespace nobody, or correct GIT_PATH_TEMPLATE',
    );
  });

  it('in a file that is not YAML is said with the line', () => {
    const { answer } = location(layoutFiles('plain'), wanted('team-h'), template('namespaces/prod/team-h'));
    expect(answer).toMatchObject({
      reason: 'NotYaml',
      message: expect.stringContaining('broken.yaml:4: not YAML') as string,
    });
  });

  it('whose source candidate has a problem stops there', () => {
    const candidate = { ...anywhere, problem: 'acme/other is not on the list of repositories' };
    expect(location({}, wanted('a'), candidate).answer).toMatchObject({
      kind: 'unlocated',
      message: candidate.problem,
    });
  });
});

describe('a quota somewhere in a tree', () => {
  it('is found by the folders that are named for its namespace, in a tree of thousands of files', () => {
    const { files } = generateCheckout(3, { quotas: 240, others: 5000 });
    const { answer, read } = location(files, wanted('team-12'), anywhere);
    expect(answer).toMatchObject({ kind: 'located', location: { namespace: 'team-12' } });
    expect(read.length).toBeLessThan(10);
  });

  it('is not looked for in more than 300 files', () => {
    const files = Object.fromEntries(
      Array.from({ length: 400 }, (_value, index) => [`team-a/part-${index}/prod.yaml`, quota('team-b', 1)]),
    );
    const { answer, read } = location(files, wanted('team-a'), anywhere);
    expect(answer).toMatchObject({ reason: 'FileNotFound', message: expect.stringContaining('400 files') as string });
    expect(read).toEqual([]);
  });

  it('in the folder of another cluster is another quota', () => {
    const files = { 'dev/team-a/q.yaml': quota('team-a', 1), 'prod/team-b/q.yaml': quota('team-b', 1) };
    expect(location(files, wanted('team-a'), anywhere).answer).toMatchObject({ reason: 'FileNotFound' });
    const both = { ...files, 'prod/team-a/q.yaml': quota('team-a', 2) };
    expect(location(both, wanted('team-a'), anywhere).answer).toMatchObject({
      location: { path: 'prod/team-a/q.yaml' },
    });
  });
});

describe('a quota in a kustomization', () => {
  const files = layoutFiles('kustomize');

  it('is placed through its base, which is read because the overlay names it', () => {
    const { answer } = location(
      files,
      wanted('strategic', { resources: ['requests.cpu', 'pods'] }),
      annotation('overlays/strategic'),
    );
    expect(answer).toMatchObject({
      kind: 'located',
      location: {
        layout: 'kustomize',
        path: 'base/quota.yaml',
        values: { 'requests.cpu': { path: 'overlays/strategic/quota-patch.yaml', line: 7, text: '6' } },
        edits: {
          'requests.cpu': { kind: 'replace', at: { path: 'overlays/strategic/quota-patch.yaml' } },
          pods: { kind: 'add', at: { path: 'overlays/strategic/quota-patch.yaml' }, key: 'pods' },
        },
      },
    });
  });

  it('has its base taken for shared where the tree has too many kustomizations to see who else uses it', () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_value, index) => [`others/n${index}/kustomization.yaml`, 'resources: []\n']),
    );
    const tree = {
      ...many,
      'base/kustomization.yaml': 'resources: [q.yaml]\n',
      'base/q.yaml': quota(null, 1),
      'overlays/red/kustomization.yaml': 'namespace: red\nresources: [../../base]\n',
    };
    const { answer, read } = location(tree, wanted('red'), template('overlays/red'));
    expect(answer).toMatchObject({
      location: { edits: { pods: { kind: 'patch', at: { path: 'overlays/red/kustomization.yaml' } } } },
    });
    expect(read.length).toBeLessThan(6);
    const few = Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith('others')));
    expect(location(few, wanted('red'), template('overlays/red')).answer).toMatchObject({
      location: { edits: { pods: { kind: 'replace', at: { path: 'base/q.yaml' } } } },
    });
  });
});

describe('a quota in a chart', () => {
  it('is found in the values that the template names', () => {
    const { answer } = location(layoutFiles('helm'), wanted('helm-one'), annotation('charts/one'));
    expect(answer).toMatchObject({
      location: { layout: 'helm', values: { pods: { path: 'charts/one/values.yaml', line: 4, text: '10' } } },
    });
  });

  it('that computes its limits is blocked with the annotation that would solve it, which does', () => {
    const files = layoutFiles('helm');
    const { answer } = location(files, wanted('helm-computed'), annotation('charts/computed'));
    expect(answer).toMatchObject({
      reason: 'Unplaceable',
      message: expect.stringMatching(/computes a limit.*resizer\.io\/git-field/) as string,
    });
    const field = location(
      files,
      wanted('helm-one', { resources: ['requests.cpu'] }),
      annotation('charts/one', 'namespaceQuotas["requests.cpu"]'),
    );
    expect(field.answer).toMatchObject({
      location: {
        values: { 'requests.cpu': { path: 'charts/one/values.yaml', line: 3, text: '2' }, pods: { line: 4 } },
      },
    });
    expect(location(files, wanted('x'), annotation('charts', 'nothing.of["that"]')).answer).toMatchObject({
      reason: 'FileNotFound',
    });
    expect(location(files, wanted('x'), annotation('charts', 'a[')).answer).toMatchObject({ reason: 'Unplaceable' });
  });

  it('that other namespaces may install too is not changed for one of them', () => {
    const candidate: SourceCandidate = { from: 'argocd', path: 'charts/quota', learntFrom: 'the Application team-a' };
    const { answer } = location(layoutFiles('flux'), wanted('team-a'), candidate);
    expect(answer).toMatchObject({
      reason: 'Unplaceable',
      message: expect.stringMatching(/other namespaces may use.*resizer\.io\/git-field/) as string,
    });
  });

  it('without its chart is found where one mapping only has the keys of the quota', () => {
    const files: Files = { 'envs/team-a/values.yaml': 'image: x\nquotas:\n  pods: "10"\n  requests.cpu: 2\n' };
    expect(location(files, wanted('team-a'), template('envs/team-a')).answer).toMatchObject({
      location: { layout: 'helm', values: { pods: { line: 3, text: '10' }, 'requests.cpu': { line: 4 } } },
    });
  });

  it('with two such mappings is placed only where the limits in force tell them apart', () => {
    const files: Files = { 'envs/team-a/values.yaml': 'smallQuota:\n  pods: 10\nlargeQuota:\n  pods: 90\n' };
    expect(location(files, wanted('team-a'), template('envs/team-a')).answer).toMatchObject({
      reason: 'FoundTwice',
      message: expect.stringMatching(
        /values\.yaml:1 \(smallQuota\).*values\.yaml:3 \(largeQuota\).*git-field/,
      ) as string,
    });
    expect(
      location(files, wanted('team-a', { current: { pods: '90' } }), template('envs/team-a')).answer,
    ).toMatchObject({
      location: { values: { pods: { line: 4 } } },
    });
  });
});
