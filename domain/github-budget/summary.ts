/** The status of a budget for people, and when it changes without a message. */
import { type EpochMs, formatInstant, formatSpan } from '../kernel/time.ts';
import { type BudgetState, turns, used } from './budget.ts';
import { longestSpan, shortestSpan } from './limits.ts';

/** From nothing to do to nothing allowed. */
export type BudgetPhase = 'Idle' | 'Granting' | 'Waiting' | 'Limited' | 'Paused';

export type BudgetReason = 'NoWrites' | 'PermitsLeft' | 'PermitsUsedUp' | 'LimitedByGitHub' | 'PausedByOperator';

/** How many waiting writers the details name; the query `status` has all. */
const SHOWN = 50;

export interface BudgetSummary {
  readonly phase: BudgetPhase;
  readonly reason: BudgetReason;
  readonly detail: string;
  readonly facts: readonly string[];
}

/** @param state pruned at `now`. */
export function summaryOf(state: BudgetState, now: EpochMs): BudgetSummary {
  const facts = [...usage(state, now), ...queueLines(state, now)];
  const waiting =
    state.queue.length === 0
      ? 'No write waits'
      : `${state.queue.length} ${state.queue.length === 1 ? 'write waits' : 'writes wait'}`;
  if (state.paused !== null) {
    const { by, at, reason } = state.paused;
    const why = reason === '' ? '' : `: ${reason}`;
    return { ...PAUSED, detail: `paused by ${by} since ${formatInstant(at)}${why}. ${waiting}`, facts };
  }
  if (state.limited !== null) {
    const { until, words } = state.limited;
    return {
      ...LIMITED,
      detail: `GitHub allows no writes until ${formatInstant(until)}: ${words}. ${waiting}`,
      facts,
    };
  }
  if (state.queue.length > 0)
    return { ...WAITING, detail: `${waiting} for a permit. The most urgent goes first`, facts };
  if (idleSince(state) > now) return { ...GRANTING, detail: 'a write gets a permit at once', facts };
  return { ...IDLE, detail: 'nothing has been written to GitHub lately', facts };
}

const PAUSED = { phase: 'Paused', reason: 'PausedByOperator' } as const;
const LIMITED = { phase: 'Limited', reason: 'LimitedByGitHub' } as const;
const WAITING = { phase: 'Waiting', reason: 'PermitsUsedUp' } as const;
const GRANTING = { phase: 'Granting', reason: 'PermitsLeft' } as const;
const IDLE = { phase: 'Idle', reason: 'NoWrites' } as const;

/** Whether the workflow can end: no permit counts any more, nobody waits, and there is neither a limit nor a pause. */
export function isOver({ grants, queue, limited, paused }: BudgetState): boolean {
  return grants.length === 0 && queue.length === 0 && limited === null && paused === null;
}

/**
 * When the status next changes without a message; null when only a message changes it.
 *
 * @param state pruned at `now`.
 */
export function nextChange(state: BudgetState, now: EpochMs): EpochMs | null {
  const lastGrant = state.grants.at(-1)?.at;
  const moments = [
    ...state.queue.map(({ askBy }) => askBy),
    ...(state.limited === null ? [] : [state.limited.until]),
    ...(lastGrant === undefined ? [] : [idleSince(state), lastGrant + longestSpan(state.limits)]),
  ].filter((moment) => moment > now);
  return moments.length === 0 ? null : Math.min(...moments);
}

/** The moment from which on no permit counts in the shortest window. */
function idleSince({ grants, limits }: BudgetState): EpochMs {
  const lastGrant = grants.at(-1)?.at;
  return lastGrant === undefined ? 0 : lastGrant + shortestSpan(limits);
}

/** `12 of 80 permits of 60 s are used` */
function usage(state: BudgetState, now: EpochMs): string[] {
  const counts = used(state, now);
  return state.limits.windows.map(
    ({ ms, most }, index) => `${counts[index]} of ${most} permits of ${formatSpan(ms)} are used`,
  );
}

function queueLines(state: BudgetState, now: EpochMs): string[] {
  const at = turns(state, now, Math.min(state.queue.length, SHOWN));
  const lines = state.queue.slice(0, SHOWN).map(({ priority, target, cluster, write, since }, index) => {
    const turn = state.paused === null ? `, turn ${formatInstant(at[index] ?? now)}` : '';
    return `${index + 1}. ${priority}: ${target} (${cluster}), ${write}, since ${formatInstant(since)}${turn}`;
  });
  const more = state.queue.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}
