/** What is wrong with the windows of budgets: admission refuses such a budget, and one that was stored before holds always. */
import { cronProblem } from '../../kernel/cron.ts';
import { DURATION_FORM, formatDuration } from '../../kernel/duration.ts';
import type { NodeBudget } from '../model/node-group.ts';

type Window = NonNullable<NodeBudget['window']>;

/** Which field of a window makes that it never begins, or is over when it begins, and why; null where it comes again and again. */
export function windowProblem({
  schedule,
  durationMs,
}: Window): { readonly field: 'schedule' | 'duration'; readonly value: string; readonly why: string } | null {
  const why = cronProblem(schedule);
  if (why !== null) return { field: 'schedule', value: schedule, why };
  if (durationMs > 0) return null;
  return { field: 'duration', value: formatDuration(durationMs), why: `it lasts no time: expected ${DURATION_FORM}` };
}

/** In the words of the API server, each with where it is and what would be right. */
export function windowProblems(budgets: readonly Pick<NodeBudget, 'window'>[]): readonly string[] {
  return budgets.flatMap(({ window }, at) => {
    const problem = window === null ? null : windowProblem(window);
    if (problem === null) return [];
    const { field, value, why } = problem;
    return [`spec.budgets[${at}].${field}: Invalid value: ${JSON.stringify(value)}: ${why}`];
  });
}
