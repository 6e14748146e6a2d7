/** Since when a workload is one of a schedule's, where that is later than its night: what was done before was not against it. */
import type { EpochMs } from '../../kernel/time.ts';
import { isSelected } from '../schedule/scope.ts';
import type { Desired } from './desired.ts';
import type { EvaluationContext } from './evaluation.ts';
import { isScaledDown, savedStateOf } from './saved-state.ts';
import { scaledUid } from './scaled-owner.ts';
import { type JoinedWorkloads, MOST_UNMARKED, packUids, shortUid, type Unmarked } from './unmarked.ts';
import { type Workload, workloadName } from './workload.ts';

type Joins = Pick<
  EvaluationContext,
  'approved' | 'earlier' | 'joined' | 'joinedWorkloads' | 'unmarked' | 'remembered' | 'now'
>;

/** Workloads of `JoinedWorkloads`, as many as one plan has. The others join at the next observation. */
const MOST_JOINED = 1_000;

/** Whether nobody has approved it, where somebody has to. */
export function isUnapproved(workload: Workload, { approved }: Pick<EvaluationContext, 'approved'>): boolean {
  return approved !== undefined && !approved.has(workloadName(workload));
}

/** When it joined; null when it was always there, as far as is known. */
function joinedAt(workload: Workload, { approved, earlier = [], joined = {}, joinedWorkloads }: Joins): EpochMs | null {
  const moments = [
    approved?.get(workloadName(workload)),
    Object.hasOwn(joined, workload.namespace) ? joined[workload.namespace] : undefined,
    joinedWorkloads?.get(shortUid(workload)),
    ...earlier.filter(({ selection }) => !isSelected(workload, selection)).map(({ until }) => until),
  ].filter((at) => at !== undefined);
  return moments.length === 0 ? null : Math.max(...moments);
}

/**
 * The namespaces that came into scope in this night: those of before that are still there, and those that were not at the
 * last observation. What is in a namespace that was created in the night was made in the night itself.
 *
 * @param before the namespaces in scope at the last observation of the same night; null when there was none.
 */
export function joinedNamespaces(
  joined: Readonly<Record<string, EpochMs>>,
  before: readonly string[] | null,
  {
    inScope,
    createdAt,
    from,
    now,
  }: {
    readonly inScope: readonly string[];
    readonly createdAt: (namespace: string) => EpochMs | null;
    /** When the night began. */
    readonly from: EpochMs;
    readonly now: EpochMs;
  },
): Readonly<Record<string, EpochMs>> {
  const known = before === null ? null : new Set(before);
  return Object.fromEntries(
    inScope.flatMap((name) => {
      const earlier = Object.hasOwn(joined, name) ? joined[name] : undefined;
      if (earlier !== undefined && earlier > from) return [[name, earlier]];
      const isNew = known !== null && !known.has(name) && (createdAt(name) ?? 0) <= from;
      return isNew ? [[name, now]] : [];
    }),
  );
}

/** Since when a workload is to be asleep. */
export interface Night extends Desired {
  /** It joined since the last observation. */
  readonly isNew?: true;
}

/** The desired state with its beginning for this workload. */
export function sinceJoined(
  desired: Desired,
  workload: Workload,
  context: Joins & Pick<EvaluationContext, 'completedAt'>,
): Night {
  const before = beginningAt(desired, joinedAt(workload, context), context);
  return isNewcomer(before, workload, context) ? { ...beginningAt(before, context.now, context), isNew: true } : before;
}

function beginningAt(
  desired: Desired,
  at: EpochMs | null,
  { completedAt }: Pick<EvaluationContext, 'completedAt'>,
): Desired {
  if (at === null || desired.since === null || at <= desired.since) return desired;
  return { ...desired, since: at, isCompleted: completedAt !== null && completedAt >= at };
}

/**
 * Whether it joined after the last observation: its night had begun by then, and it was neither asleep nor among those
 * that were up. What lost its marks was asleep: the memory has it. What was created in the night did not join.
 */
function isNewcomer({ state, since }: Desired, workload: Workload, { unmarked, remembered }: Joins): boolean {
  if (unmarked === undefined || state === 'Up' || since === null || since >= unmarked.at) return false;
  if (workload.uid === '' || workload.createdAt > since) return false;
  if (isAsleep(workload) || remembered?.has(scaledUid(workload)) === true) return false;
  return !unmarked.uids.has(shortUid(workload));
}

function isAsleep(workload: Workload): boolean {
  return isScaledDown(savedStateOf(workload), workload.kind);
}

/** What the next observation has to know of what is to be asleep at this one. */
export function carriedJoins(
  nights: readonly { readonly workload: Workload; readonly night: Night }[],
  { now, joinedWorkloads }: Pick<Joins, 'now' | 'joinedWorkloads'>,
): { readonly unmarked: Unmarked; readonly joinedWorkloads?: readonly JoinedWorkloads[] } {
  const all = nights.map(({ workload, night }) => {
    const uid = shortUid(workload);
    return { uid, at: night.isNew === true ? now : joinedWorkloads?.get(uid), isAsleep: isAsleep(workload) };
  });
  const joined = all.flatMap(({ at, ...each }) => (at === undefined ? [] : [{ ...each, at }]));
  // Those that are awake first: they still have to be put to sleep.
  const ordered = joined.toSorted((a, b) => Number(a.isAsleep) - Number(b.isAsleep));
  const left = new Set(ordered.slice(MOST_JOINED).map(({ uid }) => uid));
  const unmarked = all.flatMap(({ uid, isAsleep: isIt }) => (isIt || left.has(uid) ? [] : [uid]));
  const byMoment = Map.groupBy(ordered.slice(0, MOST_JOINED), ({ at }) => at);
  const joinedNow = [...byMoment].map(([at, some]) => ({ at, uids: packUids(some.map(({ uid }) => uid)) }));
  return {
    unmarked: { at: now, uids: unmarked.length > MOST_UNMARKED ? null : packUids(unmarked) },
    ...(joinedNow.length === 0 ? {} : { joinedWorkloads: joinedNow }),
  };
}
