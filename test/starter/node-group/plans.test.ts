import type { KubernetesObject } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GROUP, NAMESPACE, VERSION } from '../../../domain/node-group/api/names.ts';
import type { Machine } from '../../../domain/node-group/model/node-group.ts';
import { NO_WISHES } from '../../../domain/node-group/plan-wishes.ts';
import type { PlanParts } from '../../../starter/node-group/plan-messages.ts';
import type { Planned } from '../../../starter/node-group/planner.ts';
import { type FreshFacts, Plans } from '../../../starter/node-group/plans.ts';
import { machineOf, nodeOf, NOW, podOf, typeOf } from '../../domain/node-group/builders.ts';

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
  fresh: FreshFacts = { lease: '1', claims: [], wishes: [], heldBy: null, blocked: {} };
  /** Milliseconds that each plan takes. */
  takesMs = 0;
  #madeOne: (() => void) | null = null;

  constructor(parts: PlanParts = { nodes: [['/a', node]], machines: [[`${NAMESPACE}/a`, machine]] }) {
    this.plans = new Plans({
      cluster: 'test',
      mode: 'act',
      caches: {
        all: () => parts,
        groups: { list: () => [group], get: () => group },
        node: (name) => (name === node.name ? node : null),
        machines: () => [machine],
        trouble: () => null,
      },
      fresh: async () => this.fresh,
      onPlan: (plan) => {
        vi.setSystemTime(Date.now() + this.takesMs);
        this.made.push(plan);
        this.#madeOne?.();
      },
      wake: (_group, cause) => void this.woken.push(cause),
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
