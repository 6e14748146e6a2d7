/** What a quota's Lease remembers of the raises that Headroom merged: growth, totals and cooldown are counted from it. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';

/** How long raises without a person are remembered: the longest window of a guardrail. */
export const GROWTH_MEMORY_MS = 7 * 24 * 60 * MINUTE_MS;

/**
 * How long a raise counts towards totals although no decision has it any more. Nobody waits until the cluster shows a
 * batched quota; a sync takes minutes, and later on the cluster alone tells what a quota has.
 */
export const SYNCS_WITHIN_MS = 60 * MINUTE_MS;

/** A pull request by its repository and number: it is merged once at most, whatever decision it is said to be of. */
export interface PullRequestId {
  /** `owner/name`. */
  readonly repository: string;
  readonly number: number;
}

/** A raise that Headroom has merged, or is about to merge. */
export interface RecordedRaise {
  /** The id of its decision. */
  readonly decision: string;
  /** When it was merged; while it is pending, when the forge was asked to. */
  readonly at: EpochMs;
  /** The limits before and after it, for the raised resources. */
  readonly from: ResourceList;
  readonly to: ResourceList;
  /** Absent in records of earlier versions. */
  readonly pullRequest?: PullRequestId;
  /** Whether the forge was asked to merge it, and has not answered yet: it counts as if it were merged. */
  readonly isPending?: boolean;
  /** Whether a person approved it: it counts towards totals, and is no growth without a person. */
  readonly isApproved?: boolean;
}

/** How a pull request ended, as the forge says; `open`: it has not. */
export type PullRequestEnd =
  | { readonly kind: 'open' }
  | { readonly kind: 'closed' }
  /** `isOwn`: whether an account of Headroom's merged it. */
  | { readonly kind: 'merged'; readonly at: EpochMs; readonly isOwn: boolean };

export function isSamePullRequest(a: PullRequestId | undefined, b: PullRequestId): boolean {
  return a?.number === b.number && a.repository.toLowerCase() === b.repository.toLowerCase();
}

/**
 * The raises to remember after another one, which takes the place of what was remembered of its pull request: those of the
 * last week, and at most so many that a Lease has room for them.
 */
export function withRaise(
  raises: readonly RecordedRaise[],
  raise: RecordedRaise,
  now: EpochMs,
): readonly RecordedRaise[] {
  const others = raises.filter((one) => !isSameRaise(one, raise) && now < one.at + memoryOf(one));
  const all = [...others, raise].toSorted((a, b) => a.at - b.at);
  const counted = all.filter(isCounted).reduceRight<RecordedRaise[]>(joinOldest, []);
  return [...counted, ...all.filter((one) => !isCounted(one))].toSorted((a, b) => a.at - b.at);
}

/** The raises after the forge has said how a pull request ended; the same array where that changes nothing. */
export function withEnd(
  raises: readonly RecordedRaise[],
  pullRequest: PullRequestId,
  end: Exclude<PullRequestEnd, { kind: 'open' }>,
  now: EpochMs,
): readonly RecordedRaise[] {
  const pending = pendingIn(raises, pullRequest);
  if (pending === undefined) return raises;
  const others = raises.filter((one) => one !== pending);
  // What a person merged is no growth without a person.
  if (end.kind === 'closed' || !end.isOwn) return others;
  const { isPending: _, ...merged } = pending;
  return withRaise(others, { ...merged, at: end.at }, now);
}

/** The raises with a merge by Headroom that none of them is of; the same array where one is, or it was long ago. */
export function withUnexpected(
  raises: readonly RecordedRaise[],
  raise: RecordedRaise,
  now: EpochMs,
): readonly RecordedRaise[] {
  const isKnown = raises.some((one) => isSameRaise(one, raise));
  return isKnown || now >= raise.at + memoryOf(raise) ? raises : withRaise(raises, raise, now);
}

/**
 * The raises without the pending one of a pull request, if it is still the one of the request at that time; the same array
 * where it is not, as another request may be under way.
 */
export function withoutRequest(
  raises: readonly RecordedRaise[],
  pullRequest: PullRequestId,
  at: EpochMs,
): readonly RecordedRaise[] {
  const refused = pendingIn(raises, pullRequest);
  return refused?.at === at ? raises.filter((one) => one !== refused) : raises;
}

/** The pending raise of a pull request. */
export function pendingIn(raises: readonly RecordedRaise[], pullRequest: PullRequestId): RecordedRaise | undefined {
  return raises.find((one) => one.isPending === true && isSamePullRequest(one.pullRequest, pullRequest));
}

/** The pull requests that the forge was asked to merge, and of which nothing is known. */
export function pendingPullRequests(raises: readonly RecordedRaise[]): readonly PullRequestId[] {
  return raises.flatMap(({ isPending, pullRequest }) =>
    isPending === true && pullRequest !== undefined ? [pullRequest] : [],
  );
}

function isSameRaise(a: RecordedRaise, b: RecordedRaise): boolean {
  if (b.pullRequest !== undefined) return isSamePullRequest(a.pullRequest, b.pullRequest);
  return a.pullRequest === undefined && a.decision === b.decision;
}

function memoryOf({ isApproved }: RecordedRaise): number {
  return isApproved === true ? SYNCS_WITHIN_MS : GROWTH_MEMORY_MS;
}

/** Whether nothing will change about it, and it is growth without a person. */
function isCounted({ isPending, isApproved }: RecordedRaise): boolean {
  return isPending !== true && isApproved !== true;
}

/** Hourly raises of a week, and some more. */
const MAX_RAISES = 200;

/** Beyond the limit the oldest raises become one, which counts until the later of the two would be forgotten. */
function joinOldest(kept: RecordedRaise[], raise: RecordedRaise): RecordedRaise[] {
  const [oldest, ...others] = kept;
  if (kept.length < MAX_RAISES || oldest === undefined) return [raise, ...kept];
  return [{ ...oldest, from: { ...oldest.from, ...raise.from }, to: { ...raise.to, ...oldest.to } }, ...others];
}
