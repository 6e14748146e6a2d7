import type { KubernetesObject } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GROUP, NAMESPACE, VERSION } from '../../../domain/node-group/api/names.ts';
import type { Machine } from '../../../domain/node-group/model/node-group.ts';
import { decisionOf, formatFence, type PlanClaim } from '../../../domain/node-group/plan-claim.ts';
import { podKind } from '../../../domain/node-group/plan/pod-kind.ts';
import { NO_WISHES } from '../../../domain/node-group/plan-wishes.ts';
import type { PlanParts } from '../../../starter/node-group/plan-messages.ts';
import type { Planned } from '../../../starter/node-group/planner.ts';
import { type FreshFacts, Plans } from '../../../starter/node-group/plans.ts';
import { boundTo, machineOf, nodeOf, NOW, podOf, typeOf } from '../../domain/node-group/builders.ts';

beforeEach(() => {
  // The thread that plans has its own timers, and is waited for by what it answers.
  vi.useFakeTimers({ now: NOW, toFake: ['Date', 'setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(started.splice(0).map(async (plans) => await plans.stop()));
});

const started: Plans[] = [];
const HOUR_MS = 3_600_000;
const WINDOW_MS = 30_000;
/** Milliseconds without a change after which there is a plan. */
const IDLE_MS = 1_000;
/** Milliseconds from the first change to a plan where there are changes all the time. */
const LONGEST_MS = 10_000;

/** A group with a node that nothing needs. */
const group = {
  apiVersion: `${GROUP}/${VERSION}`,
  kind: 'NodeGroup',
  metadata: { name: 'pool', namespace: NAMESPACE, uid: 'uid-pool', resourceVersion: '1', generation: 1 },
  spec: {
    provider: 'kwok',
    minNodes: 0,
    maxNodes: 10,
    offeringIDs: ['small'],
    scaleDownPolicy: { stabilizationWindowSeconds: WINDOW_MS / 1_000, cooldownSeconds: 1 },
  },
  status: {
    instanceTypes: [typeOf('small', 4, 8)],
    instanceTypesTime: new Date(NOW).toISOString(),
  },
} satisfies KubernetesObject & Readonly<Record<string, unknown>>;
const node = nodeOf('a');
const machine: Machine = machineOf('a', 'pool', { node: 'a', phase: 'Ready', createdAt: NOW - HOUR_MS });
const ASKED = { target: { cluster: 'test', group: 'pool' }, wishes: NO_WISHES };

const POOL = { group: 'pool', uid: 'uid-pool' };

/** Plans for a cluster with that group, and what came of them. */
class Played {
  readonly plans: Plans;
  readonly made: Planned[] = [];
  readonly woken: string[] = [];
  fresh: FreshFacts = { lease: '1', claims: { plan: '', claims: [] }, wishes: [], heldBy: null, blocked: {} };
  /** Milliseconds that each plan takes. */
  takesMs = 0;
  /** Why a cache is not complete. */
  trouble: string | null = null;
  /** Why nothing can be read for a plan. */
  failure: Error | null = null;
  #madeOne: (() => void) | null = null;

  constructor(
    parts: PlanParts = { nodes: [['/a', node]], machines: [[`${NAMESPACE}/a`, machine]] },
    groups: readonly KubernetesObject[] = [group],
  ) {
    this.plans = new Plans({
      cluster: 'test',
      mode: 'act',
      caches: {
        all: () => parts,
        groups: { list: () => groups, get: (name) => groups.find(({ metadata }) => metadata?.name === name) },
        node: (name) => (name === node.name ? node : null),
        machines: () => [machine],
        trouble: () => this.trouble,
      },
      fresh: async () => {
        if (this.failure !== null) throw this.failure;
        return this.fresh;
      },
      onPlan: (plan) => {
        vi.setSystemTime(Date.now() + this.takesMs);
        this.made.push(plan);
        this.#madeOne?.();
      },
      wake: (_group, cause) => void this.woken.push(cause),
      now: Date.now,
      log: { info: () => {}, warn: () => {} },
      signal: new AbortController().signal,
    });
    started.push(this.plans);
  }

  /** Lets time pass until there is a plan; answers how many milliseconds that took. */
  async untilPlanned(): Promise<number> {
    const before = Date.now();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#madeOne = resolve;
    vi.advanceTimersToNextTimer();
    const waited = Date.now() - before;
    await promise;
    await settled();
    return waited;
  }
}

/** Everything that follows an answer of the thread has been done. */
async function settled(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

it('a node whose window ends while a plan is being made goes with the next one, and that does not wait for a minute', async () => {
  const played = new Played();
  played.takesMs = WINDOW_MS + 1;
  played.plans.soon();
  await played.untilPlanned();
  expect(played.made.at(-1)?.kept).toMatchObject([{ reason: 'NotUnneededLongEnough' }]);
  expect(await played.untilPlanned()).toBe(IDLE_MS);
  expect(played.made.at(-1)?.removals).toMatchObject([{ node: 'a', reason: 'Empty' }]);
  expect(played.woken.at(-1)).toContain('nodes are to go');
});

it('there is a plan when time changes one that an observation had made, and not a minute after the one before', async () => {
  const played = new Played();
  played.plans.soon();
  await played.untilPlanned();
  const detail = 'its drain was blocked';
  const failed = [{ node: node.name, uid: node.uid, detail, until: Date.now() + WINDOW_MS / 2 }];
  played.fresh = { ...played.fresh, wishes: [{ ...POOL, ...NO_WISHES, failed }] };
  await played.plans.observeNodeGroup(ASKED);
  expect(await played.untilPlanned()).toBe(WINDOW_MS / 2);
});

describe('what is written down for whoever plans', () => {
  const requested = [{ node: node.name, by: 'alice' }];
  const wishes = [{ ...POOL, ...NO_WISHES, requested }];

  it('has a group woken by a starter that its workflow has never told', async () => {
    const played = new Played();
    played.fresh = { ...played.fresh, wishes };
    played.plans.soon();
    await played.untilPlanned();
    expect(played.made.at(-1)?.removals).toMatchObject([{ node: node.name, reason: 'Requested' }]);
    expect(played.woken.at(-1)).toContain('nodes are to go');
  });

  it('tells in every starter how many nodes rest as their drain was given up, and not those that a person has stopped', async () => {
    const played = new Played();
    const until = Date.now() + WINDOW_MS;
    const failed = [
      { node: 'a', uid: 'uid-a', detail: 'the budget web-pdb refused', until },
      { node: 'b', uid: 'uid-b', detail: 'alice has stopped it', until, isStopped: true },
    ];
    played.fresh = { ...played.fresh, wishes: [{ ...POOL, ...NO_WISHES, failed }] };
    played.plans.soon();
    await played.untilPlanned();
    expect(played.plans.measured()).toMatchObject([{ name: 'pool', resting: 1 }]);
    vi.setSystemTime(until);
    expect(played.plans.measured()).toMatchObject([{ name: 'pool', resting: 0 }]);
  });

  it('counts for no group that was created again under the same name', async () => {
    const played = new Played();
    played.fresh = { ...played.fresh, wishes: [{ ...POOL, ...NO_WISHES, requested, uid: 'uid-of-another' }] };
    const seen = await played.plans.observeNodeGroup(ASKED);
    expect(seen.removals).toEqual([]);
    expect(seen.otherWishes).toBeUndefined();
  });

  it('is told to a workflow that knows something else, and to no other', async () => {
    const played = new Played();
    played.fresh = { ...played.fresh, wishes };
    expect((await played.plans.observeNodeGroup(ASKED)).otherWishes).toEqual({ ...NO_WISHES, requested });
    const knowing = await played.plans.observeNodeGroup({ ...ASKED, wishes: { ...NO_WISHES, requested } });
    expect(knowing.otherWishes).toBeUndefined();
  });
});

it('an observation is not told a plan that time has changed since', async () => {
  const played = new Played();
  played.plans.soon();
  await played.untilPlanned();
  expect((await played.plans.observeNodeGroup(ASKED)).removals).toEqual([]);
  expect(played.made).toHaveLength(1);
  vi.setSystemTime(NOW + IDLE_MS + WINDOW_MS);
  expect((await played.plans.observeNodeGroup(ASKED)).removals).toMatchObject([{ node: 'a' }]);
});

it('an observation after the end of a pause is not told the plan of before', async () => {
  const small = podOf('small', { cpu: '1' });
  const played = new Played({ pods: [['default/small', small]] });
  played.fresh = { ...played.fresh, blocked: { pool: { reason: 'Paused', detail: 'it is paused', until: null } } };
  expect((await played.plans.observeNodeGroup(ASKED)).newNodes).toEqual([]);
  played.fresh = { ...played.fresh, blocked: {} };
  expect((await played.plans.observeNodeGroup(ASKED)).newNodes).toMatchObject([{ group: 'pool', count: 1 }]);
});

it('a group is woken ten seconds after the first change at the latest, however often another one looks', async () => {
  const played = new Played();
  const looks = async (): Promise<void> => {
    played.plans.change('nodes', '/a', node);
    await played.plans.observeNodeGroup({ ...ASKED, target: { cluster: 'test', group: 'other' } });
  };
  for (const began = Date.now(); Date.now() < began + LONGEST_MS; vi.advanceTimersByTime(IDLE_MS - 1)) await looks();
  // The plan of this look comes after any that was begun before.
  await looks();
  expect(played.woken).toHaveLength(1);
});

describe('pods that are left over when the nodes of a plan are there', () => {
  const READY = NOW + 40_000;
  const waiting = (name: string, writtenAt: number) => {
    const pod = podOf(name, { cpu: '3' });
    return { ...pod, unscheduled: { reason: 'Unschedulable', message: '', since: NOW, writtenAt } };
  };
  const pods = ['a', 'b'].map((name) => [`default/${name}`, waiting(name, NOW)] as const);
  const cameFor = [podKind(waiting('a', NOW))];
  const change = ({ plans }: Played, part: 'machines' | 'nodes' | 'pods', name: string, read: object): void =>
    plans.change(part, part === 'pods' ? `default/${name}` : `${NAMESPACE}/${name}`, read);

  /** Two pods wait for nodes, and when two are there, somebody else has taken the place of one. */
  async function left(): Promise<Played> {
    const played = new Played({ pods });
    for (const [, pod] of pods) change(played, 'pods', pod.name, pod);
    await played.untilPlanned();
    expect(played.made.at(-1)?.newNodes).toMatchObject([{ count: 2 }]);
    await played.plans.observeNodeGroup(ASKED);
    const machines = ['m', 'n'].map((name) => machineOf(name, 'pool', { node: name, cameFor }));
    for (const each of machines) change(played, 'machines', each.name, each);
    await played.untilPlanned();
    vi.setSystemTime(READY);
    for (const each of machines) {
      change(played, 'nodes', each.name, { ...nodeOf(each.name), ready: { status: 'True', since: READY } });
      change(played, 'machines', each.name, { ...each, phase: 'Ready', phaseSince: READY });
    }
    change(played, 'pods', 'other', boundTo('n', podOf('other', { cpu: '2' })));
    change(played, 'pods', 'a', boundTo('m', waiting('a', NOW)));
    return played;
  }

  it('are planned for at once when kube-scheduler has refused them again: nobody waits for more of their burst', async () => {
    const played = await left();
    const before = played.made.length;
    change(played, 'pods', 'b', waiting('b', READY));
    // Whatever else changes in that moment.
    change(played, 'pods', 'other', { ...boundTo('n', podOf('other', { cpu: '2' })), isReady: true });
    expect(await played.untilPlanned()).toBeLessThan(IDLE_MS / 10);
    expect(played.made.length).toBe(before + 1);
    expect(played.made.at(-1)?.newNodes).toMatchObject([{ count: 1, reason: 'PendingPods' }]);
    change(played, 'pods', 'late', podOf('late', { cpu: '3' }));
    expect(await played.untilPlanned()).toBe(IDLE_MS);
  });

  it('wait as ever while kube-scheduler has not looked at them again', async () => {
    const played = await left();
    change(played, 'pods', 'b', { ...waiting('b', NOW), isReady: false, labels: { changed: 'true' } });
    expect(await played.untilPlanned()).toBe(IDLE_MS);
  });
});

describe('groups that were woken for one plan', () => {
  const POOLS = ['a', 'b', 'c'];
  const groups = POOLS.map((name) => ({
    ...group,
    metadata: { ...group.metadata, name, uid: `uid-${name}` },
    spec: { ...group.spec, labels: { pool: name } },
  }));
  const pods = POOLS.map((pool) => [`default/${pool}`, podOf(pool, { cpu: '1' }, { nodeSelector: { pool } })] as const);
  const asking = (name: string) => ({ ...ASKED, target: { cluster: 'test', group: name } });

  async function woken(): Promise<Played> {
    const played = new Played({ pods }, groups);
    played.plans.soon();
    await played.untilPlanned();
    expect(played.woken).toHaveLength(POOLS.length);
    return played;
  }

  /** What is in the Lease when a group has claimed its part of the plan. */
  function claimed(played: Played, name: string, over: Partial<PlanClaim> = {}): void {
    const { fence } = played.made[0] ?? {};
    if (fence === undefined) throw new Error('there is no plan');
    const claim: PlanClaim = {
      decision: decisionOf(fence, name),
      group: name,
      at: Date.now(),
      machines: { small: 1 },
      givenUp: [],
      ...over,
    };
    const { lease, claims } = played.fresh;
    const all = [...claims.claims.filter(({ group: of }) => of !== name), claim];
    played.fresh = { ...played.fresh, lease: `${lease}+`, claims: { plan: fence.plan, claims: all } };
  }

  it('are all told that one, whatever the first of them has claimed and made by then', async () => {
    const played = await woken();
    const first = await played.plans.observeNodeGroup(asking('a'));
    claimed(played, 'a');
    played.plans.change('machines', `${NAMESPACE}/new`, machineOf('new', 'a'));
    played.plans.change('pods', 'default/late', podOf('late', { cpu: '1' }, { nodeSelector: { pool: 'b' } }));
    for (const name of ['b', 'c']) {
      const seen = await played.plans.observeNodeGroup(asking(name));
      expect(seen.fence).toBe(first.fence);
      expect(seen.newNodes).toMatchObject([{ group: name, count: 1 }]);
      claimed(played, name);
    }
    expect(played.made).toHaveLength(1);
  });

  it('are told it once: whoever looks again gets another', async () => {
    const played = await woken();
    const first = await played.plans.observeNodeGroup(asking('a'));
    played.plans.change('pods', 'default/late', podOf('late', { cpu: '1' }));
    expect((await played.plans.observeNodeGroup(asking('a'))).fence).not.toBe(first.fence);
  });

  it('are told another when somebody has acted on another, or a machine of it was given up', async () => {
    const other = await woken();
    other.fresh = { ...other.fresh, lease: '2', claims: { plan: 'another', claims: [] } };
    expect((await other.plans.observeNodeGroup(asking('b'))).fence).not.toBe(formatFence(fenceOf(other)));
    const given = await woken();
    claimed(given, 'a', { givenUp: [0] });
    expect((await given.plans.observeNodeGroup(asking('b'))).fence).not.toBe(formatFence(fenceOf(given)));
  });

  describe('are not told one of before', () => {
    const goAll = (played: Played): void => {
      for (const pool of POOLS) played.plans.change('pods', `default/${pool}`, null);
    };

    it('a time in which a cache was not complete', async () => {
      const played = await woken();
      played.trouble = 'the watch of pods is broken';
      goAll(played);
      await vi.advanceTimersByTimeAsync(20 * 60_000);
      played.trouble = null;
      expect((await played.plans.observeNodeGroup(asking('a'))).newNodes).toEqual([]);
    });

    it('a plan that failed', async () => {
      const played = await woken();
      played.failure = new Error('the API server is away');
      goAll(played);
      await vi.advanceTimersByTimeAsync(60_000);
      played.failure = null;
      expect((await played.plans.observeNodeGroup(asking('a'))).newNodes).toEqual([]);
    });

    it('a change for which ten seconds were waited', async () => {
      const played = await woken();
      goAll(played);
      vi.setSystemTime(Date.now() + LONGEST_MS);
      expect((await played.plans.observeNodeGroup(asking('a'))).newNodes).toHaveLength(1);
      vi.setSystemTime(Date.now() + 1);
      expect((await played.plans.observeNodeGroup(asking('b'))).newNodes).toEqual([]);
    });
  });

  it('are told the next one when there is one', async () => {
    const played = await woken();
    played.plans.change('pods', 'default/c', null);
    await played.untilPlanned();
    expect((await played.plans.observeNodeGroup(asking('c'))).newNodes).toEqual([]);
  });

  const fenceOf = ({ made: [plan] }: Played) => plan?.fence ?? { lease: '', plan: '' };
});
