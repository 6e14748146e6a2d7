import { describe, expect, it } from 'vitest';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { annotated, change, decide, policy, startGitOps, target } from '../gitops-fixture.ts';

/** Opens the pull request of one raise, and returns what it changes. */
async function changesOf(
  files: Readonly<Record<string, string>>,
  candidates: readonly SourceCandidate[],
  changes = [change('requests.cpu', '2', '3')],
) {
  await using gitops = await startGitOps(files);
  const worker = gitops.worker({ baseBranch: 'main' });
  const limits = Object.fromEntries(changes.map(({ resource, to }) => [resource, to]));
  const seen = await worker.activities.observeSource({ target, limits, candidates });
  const decided = decide(changes);
  const outcome = await worker.activities.ensurePullRequest({
    target,
    decision: decided,
    policy,
    candidatesByQuota: [{ quota: 'compute', candidates }],
  });
  if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
  const { branch } = outcome.pullRequest;
  const changed: Record<string, string | undefined> = {};
  for (const path of await worker.github.pullRequests.filesOf(1))
    changed[path] = await gitops.forge.readFile(branch, path);
  const decision = { ...decided, pullRequest: outcome.pullRequest };
  const merged = await worker.activities.ensureMerged({ target, decision });
  return { seen, changed, writes: gitops.effects(), merged };
}

const QUOTA =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    requests.cpu: "2" # two\n';

describe('a quota of a kustomization', () => {
  const overlay = (namespace: string, more = '') =>
    `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: ${namespace}\nresources:\n  - ../../base\n${more}`;
  const shared = {
    'base/kustomization.yaml': 'resources:\n  - quota.yaml\n',
    'base/quota.yaml': QUOTA,
    'overlays/team-a/kustomization.yaml': overlay('team-a'),
    'overlays/team-b/kustomization.yaml': overlay('team-b'),
  };

  it('whose base is shared gets a patch of its own overlay, in one commit', async () => {
    const { seen, changed, writes, merged } = await changesOf(shared, annotated('overlays/team-a'));
    expect(seen).toMatchObject({ kind: 'found', limits: { 'requests.cpu': '2' } });
    const paths = Object.keys(changed);
    expect(paths.length).toBeGreaterThan(0);
    expect(paths.every((path) => path.startsWith('overlays/team-a/'))).toBe(true);
    expect(seen).toMatchObject({ paths });
    expect(Object.values(changed).join('\n')).toMatch(/requests\.cpu.*3/);
    expect(writes, 'the opening, the merge, and the end of the branch').toHaveLength(3);
    expect(merged).toMatchObject({ kind: 'merged', limits: { 'requests.cpu': '3' } });
  });

  it('is edited in the patch that sets the value', async () => {
    const patch =
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    requests.cpu: "2" # for team-a\n';
    const { changed, merged } = await changesOf(
      {
        ...shared,
        'overlays/team-a/kustomization.yaml': overlay('team-a', 'patches:\n  - path: quota-patch.yaml\n'),
        'overlays/team-a/quota-patch.yaml': patch,
      },
      [{ from: 'scan', learntFrom: 'a search of the whole repository' }],
    );
    expect(changed).toEqual({ 'overlays/team-a/quota-patch.yaml': patch.replace('"2"', '"3"') });
    expect(merged).toMatchObject({ kind: 'merged', limits: { 'requests.cpu': '3' } });
  });
});

describe('a quota of a Helm chart', () => {
  const values = 'namespaceQuotas:\n  requests.cpu: "2" # two\n  pods: 10\n';
  const files = {
    'charts/ns/Chart.yaml': 'apiVersion: v2\nname: ns\nversion: 1.0.0\n',
    'charts/ns/values.yaml': values,
    'charts/ns/templates/quota.yaml':
      'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    requests.cpu: {{ index .Values.namespaceQuotas "requests.cpu" | quote }}\n    pods: {{ .Values.namespaceQuotas.pods }}\n',
  };

  it('is raised in the values file', async () => {
    const { seen, changed, merged } = await changesOf(files, annotated('charts/ns'));
    expect(seen).toMatchObject({ limits: { 'requests.cpu': '2' } });
    expect(merged).toMatchObject({ kind: 'merged', limits: { 'requests.cpu': '3' } });
    expect(changed).toEqual({ 'charts/ns/values.yaml': values.replace('"2"', '"3"') });
  });

  it('is raised at the field that an annotation names', async () => {
    const candidates = annotated('charts/ns/values.yaml', { field: 'namespaceQuotas["requests.cpu"]' });
    const { changed } = await changesOf(files, candidates);
    expect(changed).toEqual({ 'charts/ns/values.yaml': values.replace('"2"', '"3"') });
  });
});

describe('a large repository', () => {
  it('of 25,000 files takes no request more, and is listed once', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 25_000 }, (_, index) => [
        `clusters/c${index % 40}/ns-${index}/app.yaml`,
        `# ${index % 50}\n`,
      ]),
    );
    const path = 'clusters/prod/team-a/quota.yaml';
    await using gitops = await startGitOps({ ...files, [path]: QUOTA });
    const worker = gitops.worker({ baseBranch: 'main' });
    const observed = () =>
      worker.activities.observeSource({
        target,
        limits: { 'requests.cpu': '3' },
        candidates: [{ from: 'scan', learntFrom: 'a search of the whole repository' }],
      });
    expect(await observed()).toMatchObject({ kind: 'found', path });
    expect(gitops.forge.requests, 'the branch, the tree, the file').toBe(3);
    await observed();
    expect(gitops.forge.requests).toBe(4);
  });
});
