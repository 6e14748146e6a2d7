/** From when on a node that is not Ready is replaced. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Member } from './members.ts';
import { type PlanMemory, RECENT_MS, UNREADY_MS } from './memory.ts';

/**
 * A node is replaced that was not Ready for so many milliseconds in all, while enough others were Ready. Spans before the others failed
 * count: otherwise one other node that comes and goes would prevent the replacement for ever.
 */
const MOST_SEEN_MS = 3 * UNREADY_MS;

/** What is known of the others. */
interface Others {
  /** Why none goes by itself now; null where nothing stands in the way. */
  readonly halt: string | null;
  /** When so many came back that a halt ended; null where nothing shows that. */
  readonly backAt: EpochMs | null;
}

export interface Repair {
  readonly from: EpochMs;
  /** When others came back, where it is given time for that; null where not. */
  readonly backAt: EpochMs | null;
}

/** Adds up for how long nodes have been seen not Ready. A restart begins anew, which only gives them more time. */
export class RepairBook {
  readonly #before: Pick<PlanMemory, 'seenUnready' | 'plannedAt'>;
  readonly #at: EpochMs;
  readonly #now = new Map<string, number>();

  constructor(before: Pick<PlanMemory, 'seenUnready' | 'plannedAt'>, at: EpochMs) {
    this.#before = before;
    this.#at = at;
  }

  /** Nodes come back one after the other: with the halt the time of those begins anew that are not back yet. */
  of({ node }: Pick<Member, 'node'>, unreadySince: EpochMs, { halt, backAt }: Others): Repair {
    const seen = this.#seen(node.uid, halt !== null);
    if (backAt === null || backAt <= unreadySince || seen >= MOST_SEEN_MS) {
      return { from: unreadySince + UNREADY_MS, backAt: null };
    }
    return { from: backAt + UNREADY_MS, backAt };
  }

  #seen(uid: string, isHalted: boolean): number {
    const { seenUnready, plannedAt } = this.#before;
    const before = ownValue(seenUnready, uid);
    // Nobody knows what was between two plans that are far apart, by their clock.
    const passed = plannedAt === null ? 0 : Math.min(Math.max(this.#at - plannedAt, 0), RECENT_MS);
    const seen = before === undefined ? 0 : before + (isHalted ? 0 : passed);
    this.#now.set(uid, seen);
    return seen;
  }

  result(): PlanMemory['seenUnready'] {
    return Object.fromEntries([...this.#now].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }
}
