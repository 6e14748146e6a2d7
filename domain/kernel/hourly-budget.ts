/** What may happen so many times in any hour. */
import { type EpochMs, MINUTE_MS } from './time.ts';

const HOUR_MS = 60 * MINUTE_MS;

export class HourlyBudget {
  readonly #most: number;
  #spent: readonly EpochMs[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  isSpent(now: EpochMs): boolean {
    return this.#recent(now).length >= this.#most;
  }

  isUnused(now: EpochMs): boolean {
    return this.#recent(now).length === 0;
  }

  spend(now: EpochMs): void {
    this.#spent = [...this.#spent, now];
  }

  #recent(now: EpochMs): readonly EpochMs[] {
    this.#spent = this.#spent.filter((at) => at > now - HOUR_MS);
    return this.#spent;
  }
}

/** A budget for each of many things; what has not happened for an hour is forgotten. */
export class HourlyBudgets {
  readonly #most: number;
  readonly #budgets = new Map<string, HourlyBudget>();
  #sweptAt: EpochMs = 0;

  constructor(most: number) {
    this.#most = most;
  }

  isSpent(what: string, now: EpochMs): boolean {
    return this.#budgets.get(what)?.isSpent(now) === true;
  }

  spend(what: string, now: EpochMs): void {
    this.#sweep(now);
    const budget = this.#budgets.get(what) ?? new HourlyBudget(this.#most);
    this.#budgets.set(what, budget);
    budget.spend(now);
  }

  #sweep(now: EpochMs): void {
    if (now < this.#sweptAt + HOUR_MS) return;
    this.#sweptAt = now;
    for (const [what, budget] of this.#budgets) if (budget.isUnused(now)) this.#budgets.delete(what);
  }
}
