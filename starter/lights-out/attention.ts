/** When the workflow of a schedule has a reason to look at its workloads. */
import { SLEEP_UNTIL, WAKE_UNTIL } from '../../domain/lights-out/names.ts';
import type { Judgement } from '../../domain/lights-out/plan.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload.ts';
import type { WatchedSchedule } from './schedule-book.ts';

/**
 * Why to look, in words, after what was judged `before` is judged `after` by the same context; null where there is no
 * reason. What is to be written is one whenever it is found, what is left alone only when that is news.
 *
 * @param isDryRun what would be written is news as well: it is all that a dry run has to tell.
 */
export function attention(before: () => Judgement | null, after: Judgement | null, isDryRun: boolean): string | null {
  if (after?.kind === 'change') return after.item.reason;
  const was = before();
  if (was?.kind === 'change') {
    if (isDryRun) return 'nothing is to be done with it any more';
    // Most often the workflow's own write.
    if (after?.reason === 'AsDesired') return null;
  }
  const [said, says] = [noteOf(was), noteOf(after)];
  return said === says ? null : (says ?? 'nothing is to be said of it any more');
}

/** What is worth telling of a workload that is left alone, with what changes it; null where there is nothing. */
function noteOf(judgement: Judgement | null): string | null {
  if (judgement?.kind !== 'keep') return null;
  const { reason, detail, until } = judgement;
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
  // Of a change that has no moment, what its controller's answers tell of it changes with every one of them.
  const { manager, at, isOnlyIt } = changed ?? {};
  return JSON.stringify([uid, isDeleting, labels, annotations, replicas, isSuspended, manager, at, isOnlyIt]);
}

export function isOtherNamespace(before: ScopedNamespace, after: ScopedNamespace): boolean {
  return JSON.stringify(before) !== JSON.stringify(after);
}

/** What changed of the schedule itself, in words; null for its status, its finalizers and everybody else's marks. */
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
