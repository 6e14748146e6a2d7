/**
 * How many nodes of a group may go at once. Workflow code must not import this module, because the cron library reads the time
 * zones of the platform.
 */
import { Cron } from 'croner';
import type { EpochMs } from '../../kernel/time.ts';
import type { DisruptionReason, NodeBudget } from '../model/node-group.ts';

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

/** Null where the budget does not hold now. */
function windowAt(window: NodeBudget['window'], at: EpochMs): { readonly end: EpochMs | null } | null {
  if (window === null) return { end: null };
  const { schedule, durationMs } = window;
  try {
    const pattern = new Cron(schedule, { timezone: 'UTC', mode: '5-part', paused: true });
    // The library looks strictly before a moment and ignores fractions of a second.
    const [last] = pattern.previousRuns(1, new Date(Math.floor(at / 1000) * 1000 + 1));
    const end = last === undefined ? null : last.getTime() + durationMs;
    return end !== null && end > at ? { end } : null;
  } catch {
    // A schedule that nobody can read was meant to limit something: it does so always.
    return { end: null };
  }
}

function inWords({ nodes, reasons, window }: NodeBudget): string {
  const why = reasons.length === 0 ? '' : ` for ${reasons.join(', ')}`;
  return `${nodes}${why}${window === null ? '' : ` in the window ${window.schedule}`}`;
}
