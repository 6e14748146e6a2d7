/** What one plan leaves for the next: since when nodes have been as they are. The starter keeps it; a restart begins anew. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Trials } from '../plan/trials.ts';
import type { Arrivals, Load } from './arrival.ts';

/** By the uid of the Node. */
export type Since = Readonly<Record<string, EpochMs>>;

export interface PlanMemory {
  /** When the plan was made that leaves this; null before the first one. */
  readonly plannedAt: EpochMs | null;
  /** What all pods of the cluster asked for then. */
  readonly load: Load;
  /** Since when the pods of the node have fitted elsewhere while it used little. */
  readonly unneeded: Since;
  /** Since when the node has not been ready, whatever the kind of not ready. */
  readonly unready: Since;
  /** For how many milliseconds altogether the node has been seen not ready, by its uid, while nothing was halted. */
  readonly seenUnready: Readonly<Record<string, number>>;
  /** Since when a cheaper instance type would have taken the pods of the node. */
  readonly cheaper: Since;
  /** Since when plans have had the node go, and it has not begun. */
  readonly planned: Since;
  /** Whether nodes get the pods that they came for. */
  readonly trials: Trials;
  /** What the load was when nodes came. */
  readonly arrivals: Arrivals;
}

export const freshPlanMemory: PlanMemory = {
  plannedAt: null,
  load: { cpu: 0, memory: 0 },
  unneeded: {},
  unready: {},
  seenUnready: {},
  cheaper: {},
  planned: {},
  trials: {},
  arrivals: {},
};

/** Cluster-autoscaler's time for nodes that are not ready (`scale-down-unready-time`), in milliseconds. */
export const UNREADY_MS = 1_200_000;

/** Plans are a minute apart at most while starters make them, in milliseconds. */
export const RECENT_MS = 120_000;

/** Plans are seldom farther apart while starters make them, in milliseconds: a plan may take two minutes, and comes a minute after the last one. */
const LONGEST_GAP_MS = 300_000;

/**
 * The memory for a plan. Where the last plan seems to be long ago, the clock was put forward or the process stood still: nobody knows
 * what held meanwhile, so every span of time begins anew.
 */
export function withoutGap(memory: PlanMemory, at: EpochMs): PlanMemory {
  const { plannedAt } = memory;
  if (plannedAt === null || at - plannedAt <= LONGEST_GAP_MS) return memory;
  const { unneeded, unready, seenUnready, cheaper, planned } = freshPlanMemory;
  return { ...memory, unneeded, unready, seenUnready, cheaper, planned };
}

/** Collects for the next plan what is still so in this one; what was not so any more begins anew. */
export class SinceBook {
  readonly #before: Since;
  readonly #at: EpochMs;
  readonly #now = new Map<string, EpochMs>();

  constructor(before: Since, at: EpochMs) {
    this.#before = before;
    this.#at = at;
  }

  /** It is so now: since when, which is `began` where that is known to be earlier. */
  note(uid: string, began: EpochMs = this.#at): EpochMs {
    const since = Math.min(this.before(uid) ?? this.#at, began, this.#at);
    this.#now.set(uid, since);
    return since;
  }

  /** Since when it had been so in the plan before; null where it was not. */
  before(uid: string): EpochMs | null {
    return ownValue(this.#before, uid) ?? null;
  }

  /** Sorted by uid, so that it does not depend on the order of anything. */
  result(): Since {
    return Object.fromEntries([...this.#now].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}
