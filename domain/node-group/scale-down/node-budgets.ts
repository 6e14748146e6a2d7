/** How many nodes of a group may go at once. */
import { lastRunInUtc, parseCron } from '../../kernel/cron.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { DisruptionReason, NodeBudget } from '../model/node-group.ts';
import { windowProblem } from '../rules/budget-window.ts';

/** Ten years: every schedule comes again within eight, so a longer window never ends either, and this end can be written as a date. */
const LONGEST_WINDOW_MS = 315_360_000_000;

export interface BudgetAnswer {
  /** How many may be on their way out at once; infinite where no budget holds. */
  readonly allowed: number;
  /** The budget that allows the fewest, in words; null where none holds. */
  readonly by: string | null;
  /** When its window ends; null where it has none. */
  readonly until: EpochMs | null;
}

/**
 * The least that the budgets for this reason allow now.
 *
 * @param size how many nodes the group has, for shares.
 */
export function allowedAtOnce(
  budgets: readonly NodeBudget[],
  reason: DisruptionReason,
  size: number,
  at: EpochMs,
): BudgetAnswer {
  let least: BudgetAnswer = { allowed: Number.POSITIVE_INFINITY, by: null, until: null };
  for (const budget of budgets) {
    if (budget.reasons.length > 0 && !budget.reasons.includes(reason)) continue;
    const allowed = countOf(budget.nodes, size);
    if (allowed >= least.allowed) continue;
    const window = windowAt(budget.window, at);
    if (window !== null) least = { allowed, by: inWords(budget), until: window.end };
  }
  return least;
}

/** A count, or a share of the group in percent, rounded up as Karpenter does; what nobody can read allows none. */
function countOf(nodes: string, size: number): number {
  const isShare = nodes.endsWith('%');
  const amount = Number(isShare ? nodes.slice(0, -1) : nodes);
  if (!Number.isFinite(amount)) return 0;
  return isShare ? Math.ceil((size * amount) / 100) : amount;
}

/** Null where the budget does not hold now. It was meant to limit something, so one whose window never comes holds always. */
function windowAt(window: NodeBudget['window'], at: EpochMs): { readonly end: EpochMs | null } | null {
  if (window === null || windowProblem(window) !== null) return { end: null };
  const durationMs = Math.min(window.durationMs, LONGEST_WINDOW_MS);
  const began = lastRunInUtc(parseCron(window.schedule), at, at - durationMs);
  return began === null ? null : { end: began + durationMs };
}

function inWords({ nodes, reasons, window }: NodeBudget): string {
  const why = reasons.length === 0 ? '' : ` for ${reasons.join(', ')}`;
  if (window === null) return `${nodes}${why}`;
  const problem = windowProblem(window);
  if (problem === null) return `${nodes}${why} in the window ${window.schedule}`;
  return `${nodes}${why} (at all times, as its ${problem.field} is wrong: ${problem.why})`;
}
