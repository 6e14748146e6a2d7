import type { WakeReason } from '../../domain/node-group/decide/wake.ts';

/** What each group's workflow was last woken for, or told, so that it is woken when that is no longer so, and not again for the same. */
export class WakeBook {
  readonly #last = new Map<string, WakeReason>();

  /**
   * There is a new plan.
   *
   * @returns why the group is to be woken, a few words; null where it is not.
   */
  planned(group: string, reason: WakeReason): string | null {
    const before = this.#last.get(group);
    if (before?.key === reason.key) return null;
    this.#last.set(group, reason);
    // What a workflow shows that was told by an earlier starter is not known here.
    const showsOther = before === undefined || before.isShown;
    return reason.cause ?? (showsOther ? 'what it showed may be over' : null);
  }

  /**
   * Its workflow has observed. A workflow that goes to rest is woken again by the same reason as before; one that shows something is
   * woken when that is over, also if no plan in between had it. What is to be acted on only is left to the next plan, which wakes it in case that
   * this answer is lost.
   */
  told(group: string, reason: WakeReason): void {
    if (reason.cause === null || reason.isShown) this.#last.set(group, reason);
  }

  /** Has every group woken again that has something to do, in case a request was lost. */
  resync(): void {
    for (const [group, reason] of this.#last) {
      if (reason.isToAct) this.#last.set(group, { ...reason, key: '' });
    }
  }
}
