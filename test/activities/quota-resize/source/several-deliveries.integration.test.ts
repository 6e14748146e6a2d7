/** A file that the cluster applies more than once: the worker changes it for nobody alone. */
import { describe, expect, it } from 'vitest';
import type { DeliveryOfBranch } from '../../../../activities/quota-resize/source/deliveries.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { startGitOps, target } from '../gitops-fixture.ts';

const quota = 'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\nspec:\n  hard:\n    pods: 2\n';
const candidate: SourceCandidate = {
  from: 'argocd',
  learntFrom: 'the Argo CD Application argocd/team-a (annotation argocd.argoproj.io/tracking-id)',
  path: 'tenants',
  valueFiles: [],
  namespace: 'team-a',
};
const into = (namespace: string, branch?: string): DeliveryOfBranch => ({
  learntFrom: `the Argo CD Application argocd/${namespace}`,
  path: 'tenants',
  namespace,
  overrides: false,
  recurses: false,
  ...(branch === undefined ? {} : { branch }),
});

describe('a file that two Applications apply', () => {
  it.each<[string, DeliveryOfBranch, SourceCandidate]>([
    ['from the same branch', into('team-b', 'main'), candidate],
    ['from the default branch, which the own one names', into('team-b'), { ...candidate, ref: 'main' }],
  ])('%s is not changed for one of them, and both are named', async (_what, other, own) => {
    await using gitops = await startGitOps({ 'tenants/quota.yaml': quota });
    const { activities } = gitops.worker({ baseBranch: 'main', deliveries: [into('team-a', own.ref), other] });
    expect(await activities.observeSource({ target, limits: { pods: '4' }, candidates: [own] })).toMatchObject({
      kind: 'blocked',
      reason: 'Unplaceable',
      message: expect.stringMatching(/is used by 2 quotas \(.*argocd\/team-a.*argocd\/team-b\)/),
    });
  });

  it('from another branch is changed for the own one', async () => {
    await using gitops = await startGitOps({ 'tenants/quota.yaml': quota });
    const deliveries = [into('team-a'), into('team-b', 'live')];
    const { activities } = gitops.worker({ baseBranch: 'main', deliveries });
    expect(await activities.observeSource({ target, limits: { pods: '4' }, candidates: [candidate] })).toMatchObject({
      kind: 'found',
      path: 'tenants/quota.yaml',
    });
  });
});
