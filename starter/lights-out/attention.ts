/** When the workflow of a schedule has a reason to look at its workloads. */
import { isDeepStrictEqual } from 'node:util';
import type { Scaler } from '../../activities/lights-out/read-workload.ts';
import { SLEEP_UNTIL, WAKE_UNTIL } from '../../domain/lights-out/schedule/names.ts';
import type { Evaluation } from '../../domain/lights-out/workload/evaluation.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { WatchedSchedule } from './schedule-registry.ts';

/**
 * Why to look, in words, after what was evaluated `before` is evaluated `after` by the same context; null where there is no
 * reason. What is to be written is one whenever it is found, what is left alone only when that is news.
 *
 * @param isDryRun what would be written is news as well: it is all that a dry run reports.
 */
export function attention(before: () => Evaluation | null, after: Evaluation | null, isDryRun: boolean): string | null {
  if (after?.kind === 'change') return !isDryRun && isRest(before(), after) ? null : after.item.reason;
  const was = before();
  if (was?.kind === 'change') {
    if (isDryRun) return 'nothing is to be done with it any more';
    // Most often the workflow's own write.
    if (after?.reason === 'AsDesired') return null;
  }
  const [noteBefore, note] = [noteOf(was), noteOf(after)];
  return noteBefore === note ? null : (note ?? 'nothing is to be said of it any more');
}

/**
 * The same after an autoscaler of the workload changed. That nothing is left to be written is no news: it was the workflow,
 * which observes again by itself when it has written.
 */
export function scalerAttention(before: Evaluation | null, after: Evaluation | null, isDryRun: boolean): string | null {
  const isDone = before?.kind === 'change' && after?.kind === 'keep';
  return isDone && !isDryRun ? null : attention(() => before, after, isDryRun);
}

/**
 * Whether what is to be written is the rest of what was to be written before: a workload and its autoscalers are written one
 * after the other, and come here one by one.
 */
function isRest(before: Evaluation | null, after: Extract<Evaluation, { kind: 'change' }>): boolean {
  if (before?.kind !== 'change') return false;
  const [were, are] = [before.item.writes, after.item.writes];
  return are.length < were.length && are.every((write) => were.some((one) => isDeepStrictEqual(one, write)));
}

/** What is worth telling of a workload that is left alone, with what changes it; null where there is nothing. */
function noteOf(evaluation: Evaluation | null): string | null {
  if (evaluation?.kind !== 'keep') return null;
  const { reason, detail, until } = evaluation;
  if (detail === undefined && until === undefined) return null;
  return [
    reason,
    ...(detail === undefined ? [] : [detail]),
    ...(until === undefined ? [] : [new Date(until).toISOString()]),
  ].join(', ');
}

/**
 * Whether people say something else of how long it is awake or asleep. That is news also where nothing is to be done now:
 * something will be when it ends.
 */
export function isOtherWish(before: Annotated | undefined, after: Annotated): boolean {
  return [WAKE_UNTIL, SLEEP_UNTIL].some((key) => before?.annotations[key] !== after.annotations[key]);
}

type Annotated = Pick<Workload | ScopedNamespace, 'annotations'>;

/** Whether more than the status of the object changed: what pods come and go is nobody's wish. */
export function isOtherWorkload(before: Workload, after: Workload): boolean {
  return wishesOf(before) !== wishesOf(after);
}

function wishesOf({ uid, isDeleting, labels, annotations, replicas, isSuspended, changed }: Workload): string {
  // Of a change without a time, the latest possible time changes with every status that its controller writes.
  const { manager, at, isOnlyIt } = changed ?? {};
  return JSON.stringify([uid, isDeleting, labels, annotations, replicas, isSuspended, manager, at, isOnlyIt]);
}

/** Whether more than the status of the autoscaler changed: the numbers by which it scales come every few seconds. */
export function isOtherScaler(before: Scaler | undefined, after: Scaler | undefined): boolean {
  const wishes = (one: Scaler | undefined): unknown =>
    one && { ...one, autoscaler: { ...one.autoscaler, resourceVersion: '' } };
  return !isDeepStrictEqual(wishes(before), wishes(after));
}

export function isOtherNamespace(before: ScopedNamespace, after: ScopedNamespace): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** What changed of the schedule itself, in words; null for its status, its finalizers and everybody else's annotations. */
export function scheduleNews(before: WatchedSchedule | undefined, after: WatchedSchedule): string | null {
  if (before === undefined) return 'the schedule is there';
  if (before.uid !== after.uid) return 'the schedule was made anew';
  if (!before.isDeleting && after.isDeleting) return 'the schedule is being deleted';
  if (before.generation !== after.generation) return 'the spec of the schedule changed';
  if (JSON.stringify(before.annotations) !== JSON.stringify(after.annotations)) {
    return 'the annotations of the schedule changed';
  }
  return null;
}
