/** GitHub Enterprise: REST below `/api/v3`, GraphQL at `/api/graphql`, and nothing anywhere else. */
import { describe, expect, it } from 'vitest';
import type { Decision, LimitChange } from '../../../../domain/quota-resize/model/decision.ts';
import {
  change,
  decide,
  candidates,
  MANIFEST,
  PATH,
  candidatesByQuota,
  policy,
  startGitOps,
  target,
} from '../../quota-resize/gitops-fixture.ts';

const GPU_PATH = 'managed-resources/prod/team-a/gpu.yaml';
const GPU =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpu, namespace: team-a}\nspec:\n  hard:\n    pods: 5\n';
const more: readonly LimitChange[] = [change('pods', '5', '8')];
const all = [...candidatesByQuota, { quota: 'gpu', candidates }];

describe('a pull request on GitHub Enterprise', () => {
  it('of two files is found, opened, looked at, rebuilt, merged and cleared away', async () => {
    await using gitops = await startGitOps({ [PATH]: MANIFEST, [GPU_PATH]: GPU }, { enterprise: true });
    const { forge } = gitops;
    expect(forge.apiUrl).toBe(`${forge.url}/api/v3`);
    const { activities, github } = gitops.worker();
    const seen = await activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates });
    expect(seen).toMatchObject({ kind: 'found', path: PATH, base: 'main' });

    const batchedQuotas = [{ quota: 'gpu', quotaUid: 'uid-2', approvalRequirement: null, candidates, changes: more }];
    let decision: Decision = decide(undefined, { batchedQuotas });
    const opened = await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: all });
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
    expect(opened.pullRequest.url, 'the page, not the API').toBe(`${forge.url}/acme/gitops/pull/1`);
    decision = { ...decision, pullRequest: opened.pullRequest };
    expect(await activities.observePullRequest({ target, decision })).toMatchObject({
      state: 'open',
      headIsOurs: true,
      mergeability: 'clean',
    });

    await forge.pushCommit({ files: { [GPU_PATH]: GPU.replace('pods: 5', 'pods: 6') } });
    const rebuilt = await activities.ensurePullRequestRebuilt({
      target,
      decision,
      policy,
      candidatesByQuota: all,
      why: 'moved',
    });
    if (rebuilt.kind !== 'open') throw new Error(JSON.stringify(rebuilt));
    decision = { ...decision, pullRequest: rebuilt.pullRequest };
    expect(await github.pullRequests.commitsOf(1)).toHaveLength(1);
    expect(await activities.ensureMerged({ target, decision })).toMatchObject({
      kind: 'merged',
      limits: { 'requests.cpu': '3600m' },
    });
    expect(await forge.readFile('main', GPU_PATH)).toBe(GPU.replace('pods: 5', 'pods: 8'));
    expect(await forge.branchTip(opened.pullRequest.branch)).toBeUndefined();
  });

  it('is not looked for at the addresses of github.com, and the failure names the setting', async () => {
    await using gitops = await startGitOps(undefined, { enterprise: true });
    for (const options of [{}, { baseBranch: 'main' }]) {
      const { activities } = gitops.worker({ apiUrl: gitops.forge.url, ...options });
      const seen = await activities.observeSource({ target, limits: { pods: '20' }, candidates });
      expect(seen).toMatchObject({ message: expect.stringContaining('GITHUB_API_URL') as string });
    }
  });
});
