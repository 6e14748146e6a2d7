/** What is said about a commit, however it was asked for. */
import type { Checks } from '../forge.ts';

/** Check runs and commit statuses are separate in GitHub; the states are those of the REST API. */
export type Check =
  | { readonly kind: 'run'; readonly name: string; readonly status: string; readonly conclusion: string | null }
  | { readonly kind: 'status'; readonly name: string; readonly state: string };

const ENDED_WELL: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

export function checksOf(all: readonly Check[]): Checks {
  const names = (which: (check: Check) => boolean) =>
    [...new Set(all.filter(which).map(({ name }) => name))].toSorted();
  return { total: all.length, pending: names(isPending), failing: names(isFailing) };
}

function isPending(check: Check): boolean {
  // GraphQL knows a status that is required and was never reported.
  return check.kind === 'run' ? check.status !== 'completed' : check.state === 'pending' || check.state === 'expected';
}

function isFailing(check: Check): boolean {
  if (isPending(check)) return false;
  return check.kind === 'run' ? !ENDED_WELL.has(check.conclusion ?? '') : check.state !== 'success';
}
