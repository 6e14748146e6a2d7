/** Whatever dies around a merge, growth is counted if and only if the forge has merged. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';
import { type GitOps, startGitOps } from '../gitops-fixture.ts';
import { type Attacker, attack, manifestOf } from './attacker.ts';

const MERGE = { method: 'PUT', path: '**/merge' } as const;
const NAMES = ['before', 'after', 'refused', 'closed', 'person', 'conflict', 'next'] as const;

let cluster: Cluster;
let gitops: GitOps;

beforeAll(async () => {
  cluster = await startCluster();
  const files = NAMES.map((name) => manifestOf(`crash-${name}`, '10'));
  gitops = await startGitOps(Object.assign({}, ...files) as Record<string, string>);
});
afterAll(async () => {
  await gitops?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

async function of(name: (typeof NAMES)[number]): Promise<Attacker> {
  return await attack(cluster, gitops, `crash-${name}`);
}

const doubled = { from: { 'requests.cpu': '10' }, to: { 'requests.cpu': '20' } };
const pending = { ...doubled, isPending: true };

describe('a raise', () => {
  it('is pending when the process dies before the merge, and counted once when the next attempt merges', async () => {
    const { activities, target, opened, merged, raises } = await of('before');
    const decision = await opened('20');
    gitops.forge.fail({ ...MERGE, action: { kind: 'status', status: 503 } });
    expect(await merged(decision)).toMatch(/503|unavailable/i);
    expect(await raises()).toMatchObject([pending]);
    gitops.forge.clearFaults();
    expect(await merged(decision)).toBe('merged');
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
    expect(await raises()).toEqual([expect.not.objectContaining({ isPending: true })]);
    expect(await raises()).toMatchObject([doubled]);
  });

  it('is counted when the answer to the merge was lost and nobody but the release comes after', async () => {
    const { activities, target, opened, merged, raises, inGit } = await of('after');
    const decision = await opened('20');
    gitops.forge.fail({ ...MERGE, action: { kind: 'answer-lost' } });
    expect(await merged(decision)).not.toBe('merged');
    expect(await inGit()).toBe('20');
    expect(await raises()).toMatchObject([pending]);
    // It says that nothing was merged.
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
    expect(await raises()).toEqual([expect.not.objectContaining({ isPending: true })]);
    const { lease } = await activities.observeQuota({ target });
    expect(lease).toMatchObject({ holder: null, decision: { id: decision.id, merge: { by: 'headroom-bot' } } });
  });

  it('is forgotten when the forge has refused the merge', async () => {
    const { opened, merged, raises } = await of('refused');
    const decision = await opened('20');
    const message = 'Base branch was modified. Review and try the merge again.';
    gitops.forge.fail({ ...MERGE, action: { kind: 'status', status: 405, message } });
    expect(await merged(decision)).toBe('moved');
    expect(await raises()).toEqual([]);
    expect(await merged(decision)).toBe('merged');
    expect(await raises()).toMatchObject([doubled]);
  });

  it('is forgotten when the pull request is closed after a merge of which nobody knew the fate', async () => {
    const { activities, target, opened, merged, raises } = await of('closed');
    const decision = await opened('20');
    gitops.forge.fail({ ...MERGE, action: { kind: 'status', status: 503 } });
    await merged(decision);
    gitops.forge.clearFaults();
    await activities.ensurePullRequestClosed({ target, decision, comment: 'The demand is gone.' });
    expect(await raises()).toMatchObject([pending]);
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
    expect(await raises()).toEqual([]);
  });

  it('is no growth without a person when a person merged it after all', async () => {
    const { opened, merged, raises } = await of('person');
    const decision = await opened('20');
    gitops.forge.fail({ ...MERGE, action: { kind: 'status', status: 503 } });
    await merged(decision);
    gitops.forge.clearFaults();
    await gitops.forge.mergePullRequest(decision.pullRequest.number, 'mona');
    expect(await merged(decision)).toBe('merged');
    expect(await raises()).toEqual([]);
  });

  it('is recorded whatever else is written to the Lease at that moment', async () => {
    const { activities, leases, target, opened, merged, raises } = await of('conflict');
    const decision = await opened('20');
    const limits = { 'requests.cpu': '20' };
    const over = new AbortController();
    const writes = async (): Promise<void> => {
      for (let at = Date.now(); !over.signal.aborted; at += 1)
        await leases.remember(target, (memory) => ({ ...memory, lastRecommendation: { limits, at } }));
    };
    const writing = writes();
    try {
      // Who is always second gives up after five times, and Temporal makes another attempt.
      let outcome: string;
      do outcome = await merged(decision);
      while (outcome.includes('was changed by others 5 times in a row'));
      expect(outcome).toBe('merged');
    } finally {
      over.abort();
      await writing;
    }
    expect(await raises()).toMatchObject([doubled]);
    expect((await activities.observeQuota({ target })).lease.lastRecommendation).toMatchObject({ limits });
  });

  it('of which nobody knows counts for the next decision, and the gate asks what became of it', async () => {
    const { activities, target, opened, merged, raises, synced, inGit } = await of('next');
    const first = await opened('20');
    gitops.forge.fail({ ...MERGE, action: { kind: 'answer-lost' } });
    await merged(first);
    expect(await synced()).toBe('20');
    // Another decision takes the place of the first, which nobody has released.
    await activities.ensureBranchDeleted({ target, decision: first });
    const second = await opened('40', { id: first.id });
    expect(await merged(second)).toContain('the most that guardrail strict allows');
    expect(await inGit()).toBe('20');
    expect(await raises()).toEqual([
      expect.objectContaining({
        ...doubled,
        pullRequest: expect.objectContaining({ number: first.pullRequest.number }) as object,
      }),
    ]);
    expect(await raises()).toEqual([expect.not.objectContaining({ isPending: true })]);
  });
});
