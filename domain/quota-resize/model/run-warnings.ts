import { HourlyBudget } from '../../kernel/hourly-budget.ts';
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';

/** What became of an Event: a worker writes so many Warnings of a reason in an hour, and another one is to be said later. */
export type EventOutcome = 'told' | 'putOff';

/** Events about wrong settings that a run writes within an hour at most: values that change all the time are wrong anew each time. */
const MOST_WARNED = 10;

/** How long a run waits until it tries again to say what a worker had no room for. */
const PUT_OFF_MS = 10 * MINUTE_MS;

/** The Warnings of one reason that one run has said. Writing one again changes nothing; this saves the activities. */
export class RunWarnings {
  readonly #told = new Set<string>();
  readonly #budget = new HourlyBudget(MOST_WARNED);
  #putOffUntil: EpochMs = 0;

  isDue(key: string, now: EpochMs): boolean {
    return !this.#told.has(key) && now >= this.#putOffUntil;
  }

  isSpent(now: EpochMs): boolean {
    return this.#budget.isSpent(now);
  }

  /** @param outcome absent in histories of earlier versions, whose workers wrote them all. */
  add(key: string, outcome: EventOutcome | undefined, now: EpochMs): void {
    this.#budget.spend(now);
    if (outcome === 'putOff') this.#putOffUntil = now + PUT_OFF_MS;
    else this.#told.add(key);
  }
}
