/** Without a person nothing is merged while a quota rests, that a person rejected, or that nothing in the cluster asks for. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../domain/kernel/time.ts';
import type { Decision, OpenDecision, Rejection } from '../../../../domain/quota-resize/model/decision.ts';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';
import { change, type GitOps, policy, startGitOps } from '../gitops-fixture.ts';
import { createPullRequestEnds } from '../../../../activities/quota-resize/pull-request/pull-request-ends.ts';
import { type Attacker, attack, manifestOf } from './attacker.ts';

const NAMES = ['rest', 'idle', 'more', 'shrunk', 'no-0', 'no-1', 'no-2', 'no-3', 'ghost', 'account'] as const;

let cluster: Cluster;
let gitops: GitOps;

beforeAll(async () => {
  cluster = await startCluster();
  const files = NAMES.map((name) => manifestOf(`unattended-${name}`, '10'));
  gitops = await startGitOps(Object.assign({}, ...files) as Record<string, string>, {
    tokens: { 'second-token': 'headroom-app' },
  });
});
afterAll(async () => {
  await gitops?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

async function of(name: (typeof NAMES)[number], given: Parameters<typeof attack>[3] = {}): Promise<Attacker> {
  return await attack(cluster, gitops, `unattended-${name}`, given);
}

/** What makes a decision look old, and its quota rested. */
const OLD: Partial<Decision> = { decidedAt: 1, grownAt: 1, cooldownSkippedAt: Number.MAX_SAFE_INTEGER };

const forgotten = {
  'says nothing of it': async ({ activities, target }, decision) =>
    await activities.ensureLeaseReleased({ target, decision, rejection: null, withdrawnAt: 1 }),
  'says that something else was rejected, long ago': async ({ activities, target }, decision) => {
    const rejection: Rejection = { limits: { 'requests.cpu': '1' }, at: 1, by: 'eve', reason: 'nothing' };
    const smaller = { ...decision, changes: [change('requests.cpu', '10', '11')] };
    await activities.ensureLeaseReleased({ target, decision: smaller, rejection });
  },
  'writes a decision with another pull request over it': async ({ activities, target }, decision) => {
    const pullRequest = { ...decision.pullRequest, number: 1 };
    await activities.ensureLeaseUpdated({ target, decision: { ...decision, pullRequest: null } });
    await activities.ensureLeaseUpdated({ target, decision: { ...decision, pullRequest } });
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
  },
  'has its files locked for another one': async ({ activities, target }, decision) => {
    const { quota } = target;
    await activities.ensureBatchedQuotasReleased({ target, decision, quotas: [quota] });
    const other = { ...decision, id: 'abcdef01', pullRequest: null };
    const candidates = [{ from: 'template', path: `quotas/${target.namespace}`, learntFrom: 'the template' }] as const;
    const candidatesByQuota = [{ quota, candidates }];
    await activities.ensurePullRequest({ target, decision: other, policy, candidatesByQuota });
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
    await activities.ensureLeaseReleased({ target, decision: other, rejection: null });
  },
} as const satisfies Readonly<Record<string, (attacker: Attacker, decision: OpenDecision) => Promise<unknown>>>;

describe('whoever may schedule activities', () => {
  it('has nothing merged while the quota rests, however old the decision is said to be', async () => {
    const { activities, target, opened, merged, synced, inGit } = await of('rest', { cooldown: 60 * MINUTE_MS });
    const first = await opened('12', OLD);
    expect(await merged(first)).toBe('merged');
    await activities.ensureLeaseReleased({ target, decision: first, rejection: null });
    await activities.ensureLeaseSynced({ target, decision: first, at: 1 });
    expect(await synced()).toBe('12');
    expect(await merged(await opened('14', OLD))).toMatch(
      /the quota cools down, and until .* only a person may merge it; an approval does not change that/,
    );
    expect(await inGit()).toBe('12');
  });

  it('has nothing merged that nothing needs', async () => {
    const { opened, merged, inGit } = await of('idle', { needs: null });
    expect(await merged(await opened('12'))).toContain('nothing in the cluster needs it');
    expect(await inGit()).toBe('10');
  });

  it('has no more merged than the cluster asked for', async () => {
    const { activities, target, opened, merged, inGit } = await of('more', { needs: '12' });
    const decision = await opened('20');
    expect(await merged(decision)).toMatch(/requests\.cpu would become 20 CPU, 12 CPU was needed/);
    const { mergeHold } = await activities.observeQuota({ target });
    expect(mergeHold, 'people are told').toMatchObject({ reason: 'MoreThanNeeded', isUnattended: true });
    expect(await inGit()).toBe('10');
  });

  it('has merged what the cluster asked for when it was stored, although it asks for less by then', async () => {
    const { target, opened, merged, inGit } = await of('shrunk', { needs: '20' });
    const decision = await opened('20');
    const { namespace, quota: name } = target;
    const quota = await cluster.admin.core.readNamespacedResourceQuota({ name, namespace });
    Object.assign(quota.metadata?.annotations ?? {}, { 'resizer.io/cpu-min': '11' });
    await cluster.admin.core.replaceNamespacedResourceQuota({ name, namespace, body: quota });
    expect(await merged(decision)).toBe('merged');
    expect(await inGit()).toBe('20');
  });

  it.each(Object.entries(forgotten))('and %s has nothing merged that a person closed', async (way, forget) => {
    const name = NAMES[4 + Object.keys(forgotten).indexOf(way)] ?? 'no-0';
    const attacker = await of(name);
    const first = await attacker.opened('20');
    await gitops.forge.closePullRequest(first.pullRequest.number, 'mona');
    await forget(attacker, first);
    const { lease } = await attacker.activities.observeQuota({ target: attacker.target });
    expect(lease.rejections).toContainEqual(
      expect.objectContaining({ by: 'mona', limits: { 'requests.cpu': '20' }, verified: 'forge' }),
    );
    // One that he has put away before.
    await attacker.activities.ensureBranchDeleted({ target: attacker.target, decision: first });
    expect(await attacker.merged(await attacker.opened('20', OLD))).toContain('mona rejected 20 CPU');
    expect(await attacker.inGit()).toBe('10');
  });

  it('has not forgotten what was closed by an account that is deleted since', async () => {
    const { activities, target, opened } = await of('ghost');
    const decision = await opened('20');
    await gitops.forge.closePullRequest(decision.pullRequest.number, 'gone');
    gitops.forge.deleteAccount('gone');
    await activities.ensureLeaseReleased({ target, decision, rejection: null, withdrawnAt: 1 });
    const { lease } = await activities.observeQuota({ target });
    expect(lease.rejections).toMatchObject([{ by: 'unknown', limits: { 'requests.cpu': '20' } }]);
  });
});

it('what Headroom closes under another account than it opened it with is rejected by nobody', async () => {
  const { target, opened } = await of('account');
  const decision = await opened('20');
  await gitops.forge.closePullRequest(decision.pullRequest.number, 'headroom-app');
  const endFor = async (token: string) =>
    await createPullRequestEnds(gitops.worker({ token: () => token }).repositories).endOfDecision(target, decision);
  expect(await endFor('second-token')).toEqual({ merge: null, closedBy: null });
  expect(await endFor('first-token')).toEqual({ merge: null, closedBy: 'headroom-app' });
});
