import type { V1Namespace } from '@kubernetes/client-node';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * An observation may be acted on for five seconds (`JUST_SEEN_MS` of the episode): what is stored of it is not read once more within
 * that time.
 */
const RECENT_MS = 5_000;

interface RecentObservation {
  readonly namespace: V1Namespace;
  readonly surroundings: Surroundings;
}

/**
 * What this process has itself just observed of the cluster. Nobody else says it, so an activity may believe it where it may not believe
 * its input.
 */
export class RecentObservations {
  /** By the target's name. */
  readonly #seen = new Map<string, RecentObservation & { readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The moment at which an observation begins: what it reads may have changed while it goes on. */
  begin(): number {
    return this.#now();
  }

  add(target: QuotaTarget, observation: RecentObservation, at: number): void {
    this.#forget(this.#now());
    const name = targetName(target);
    this.#seen.delete(name);
    this.#seen.set(name, { ...observation, at });
  }

  /** Null where the last observation is older than five seconds, or another process made it. */
  of(target: QuotaTarget): RecentObservation | null {
    this.#forget(this.#now());
    return this.#seen.get(targetName(target)) ?? null;
  }

  #forget(now: number): void {
    // They are not in the order in which they began.
    for (const [name, { at }] of this.#seen) if (now - at >= RECENT_MS) this.#seen.delete(name);
  }
}
