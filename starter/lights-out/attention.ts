/** When a change is a reason to wake a schedule's workflow. */
import { isDeepStrictEqual } from 'node:util';
import type { Scaler } from '../../activities/lights-out/read-scaler.ts';
import {
  EXCLUDE_UNTIL,
  OWN_REPLICAS,
  OWN_TIMES,
  SLEEP_UNTIL,
  WAKE_UNTIL,
} from '../../domain/lights-out/schedule/names.ts';
import type { Evaluation } from '../../domain/lights-out/workload/evaluation.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { WatchedSchedule } from './schedule-registry.ts';

/**
 * Why to wake the workflow, in words, for a workload whose evaluation changed; null without a reason. A required write
 * is always a reason; a workload that is left alone only if that is new.
 *
 * @param isDryRun a planned write must be new as well, because a dry run only reports it.
 */
export function attention(before: () => Evaluation | null, after: Evaluation | null, isDryRun: boolean): string | null {
  if (after?.kind === 'change') return !isDryRun && isRest(before(), after) ? null : after.item.reason;
  const was = before();
  if (was?.kind === 'change') {
    if (isDryRun) return 'it needs no change any more';
    // Most often this is the workflow's own write.
    if (after?.reason === 'AsDesired') return null;
  }
  const [noteBefore, note] = [noteOf(was), noteOf(after)];
  if (noteBefore !== note) return note ?? 'its note no longer holds';
  // What is at rest may have come into the scope: from then on a person's change is one against the schedule.
  return was?.kind === 'keep' && after !== null && was.reason !== after.reason ? `it is ${after.reason} by now` : null;
}

/**
 * Like `attention`, after a change of a workload's autoscaler. If no write is left, the workflow itself made the change
 * and observes again anyway.
 */
export function scalerAttention(before: Evaluation | null, after: Evaluation | null, isDryRun: boolean): string | null {
  const isDone = before?.kind === 'change' && after?.kind === 'keep';
  return isDone && !isDryRun ? null : attention(() => before, after, isDryRun);
}

/**
 * Whether the required writes are the rest of the earlier ones: a workload and its autoscalers are written one after
 * the other and are reported separately.
 */
function isRest(before: Evaluation | null, after: Extract<Evaluation, { kind: 'change' }>): boolean {
  if (before?.kind !== 'change') return false;
  const [were, are] = [before.writes, after.writes];
  return are.length < were.length && are.every((write) => were.some((earlier) => isDeepStrictEqual(earlier, write)));
}

/** The report-worthy part of why a workload is left alone; null when there is none. */
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
 * Whether people changed an override, an exclusion, or times or a count of their own. That is a reason even without a write now, because there will be one when the
 * override ends.
 */
export function isOtherWish(before: Annotated | undefined, after: Annotated): boolean {
  return [WAKE_UNTIL, SLEEP_UNTIL, EXCLUDE_UNTIL, OWN_TIMES, OWN_REPLICAS].some(
    (key) => before?.annotations[key] !== after.annotations[key],
  );
}

type Annotated = Pick<Workload | ScopedNamespace, 'annotations'>;

/** Whether more than the status of the object changed: pods that come and go are not a person's change. */
export function isOtherWorkload(before: Workload, after: Workload): boolean {
  return wishesOf(before) !== wishesOf(after);
}

function wishesOf(workload: Workload): string {
  const { uid, isDeleting, labels, annotations, replicas, isSuspended, changed, controller } = workload;
  const { deletesVolumes, annotationRoom } = workload;
  // For a change without a time, the latest possible time moves with every status update.
  const { manager, at, isOnlyIt } = changed ?? {};
  return JSON.stringify([
    uid,
    isDeleting,
    labels,
    annotations,
    replicas,
    isSuspended,
    manager,
    at,
    isOnlyIt,
    controller,
    deletesVolumes,
    annotationRoom,
  ]);
}

/** Whether more than the status of the autoscaler changed: its metrics change every few seconds. */
export function isOtherScaler(before: Scaler | undefined, after: Scaler | undefined): boolean {
  const wishes = (scaler: Scaler | undefined): unknown =>
    scaler && { ...scaler, autoscaler: { ...scaler.autoscaler, resourceVersion: '' } };
  return !isDeepStrictEqual(wishes(before), wishes(after));
}

export function isOtherNamespace(before: ScopedNamespace, after: ScopedNamespace): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/**
 * Whether its workflow may not have observed the schedule as it is: its object says so, or the workflow shows what it
 * would do, which nothing here can compare.
 */
export function isUnobserved({ generation, isDeleting, spec, status }: WatchedSchedule): boolean {
  const isShown = spec !== null && (spec.dryRun || (spec.requireApproval && status.approved === undefined));
  return isDeleting || isShown || status.observedGeneration !== generation;
}

/** What changed in the schedule, in words; null for its status, its finalizers and foreign annotations. */
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
