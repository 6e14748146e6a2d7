/** Growth is counted by what was merged, whatever whoever schedules activities says of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OpenDecision } from '../../../../domain/quota-resize/model/decision.ts';
import { amount } from '../../../kernel/long.ts';
import { type Cluster, startCluster } from '../../kubernetes/cluster.ts';
import { type GitOps, startGitOps } from '../gitops-fixture.ts';
import { type Attacker, attack, manifestOf } from './attacker.ts';

/** In two rounds it gets more than the growth of a day where a raise is forgotten; in twenty, a million times as much. */
const ROUNDS = amount({ short: 3, long: 20 });

let cluster: Cluster;
let gitops: GitOps;

const ways = {
  'says that nothing was merged': async ({ activities, target }, decision) => {
    await activities.ensureLeaseReleased({ target, decision, rejection: null });
  },
  'says that a person approved': async ({ activities, target }, decision) => {
    const merge = { sha: 'f00', at: Date.now(), by: 'headroom-bot', isOwn: true, limits: {} };
    const approved = { ...decision, merge, approvedBy: 'ann' };
    await activities.ensureLeaseReleased({ target, decision: approved, rejection: null });
    await activities.ensureLeaseSynced({ target, decision: approved, at: Date.now() });
  },
  'says that a person merged': async ({ activities, target }, decision) => {
    const merge = { sha: 'f00', at: Date.now(), by: 'ann', isOwn: false, limits: {} };
    await activities.ensureLeaseReleased({ target, decision: { ...decision, merge }, rejection: null });
    await activities.ensureLeaseSynced({ target, decision: { ...decision, merge }, at: Date.now() });
  },
  'says that the cluster follows': async ({ activities, target }, decision) => {
    const merge = { sha: 'f00', at: 1, by: 'headroom-bot', isOwn: true, limits: {} };
    await activities.ensureLeaseSynced({ target, decision: { ...decision, merge }, at: 1 });
  },
  'says that the cluster follows once it shows nothing': async ({ activities, target }, decision) => {
    const merge = { sha: 'f00', at: 1, by: 'headroom-bot', isOwn: true, limits: {} };
    await activities.ensureSyncRecorded({ target, decision: { ...decision, merge }, at: 1 });
  },
  'says that it was merged long ago': async ({ activities, target }, decision) => {
    const merge = { sha: 'f00', at: 1, by: 'headroom-bot', isOwn: true, limits: {} };
    await activities.ensureLeaseReleased({ target, decision: { ...decision, merge }, rejection: null });
    await activities.ensureLeaseSynced({ target, decision: { ...decision, merge }, at: 1 });
  },
  'says that it was merged with less': async ({ activities, target }, decision) => {
    const limits = { 'requests.cpu': '1' };
    const merge = { sha: 'f00', at: Date.now(), by: 'headroom-bot', isOwn: true, limits };
    await activities.ensureLeaseReleased({ target, decision: { ...decision, merge }, rejection: null });
    await activities.ensureLeaseSynced({ target, decision: { ...decision, merge }, at: Date.now() });
  },
  'says nothing, and writes the next decision over it': async ({ activities, target }, decision) => {
    await activities.ensureLeaseUpdated({ target, decision: { ...decision, pullRequest: null } });
  },
} as const satisfies Readonly<Record<string, (attacker: Attacker, decision: OpenDecision) => Promise<void>>>;

function namespaceOf(way: string): string {
  return `forged-${Object.keys(ways).indexOf(way)}`;
}

beforeAll(async () => {
  cluster = await startCluster();
  const files = Object.keys(ways).map((way) => manifestOf(namespaceOf(way), '10'));
  gitops = await startGitOps(Object.assign({}, ...files) as Record<string, string>);
});
afterAll(async () => {
  await gitops?.[Symbol.asyncDispose]();
  await cluster?.stop();
});

describe('whoever may schedule activities', () => {
  it.each(Object.entries(ways))(
    `and %s gets no more than the growth of a day in ${ROUNDS} rounds`,
    async (way, forget) => {
      const attacker = await attack(cluster, gitops, namespaceOf(way));
      let limit = '10';
      for (let round = 0; round < ROUNDS; round += 1) {
        // The same name for all of them, so that each takes the place of the one before.
        const decision = await attacker.opened(String(2 * Number(limit)), { id: 'f0f0f0f0' });
        await attacker.merged(decision);
        await forget(attacker, decision);
        limit = await attacker.synced();
      }
      expect(limit).toBe('20');
    },
  );
});
