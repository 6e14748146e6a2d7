/** When time alone changes what is wanted of a workload, beside the schedule itself. */
import type { EpochMs } from '../../kernel/time.ts';
import { EXCLUDE_UNTIL, OWN_TIMES, SLEEP_UNTIL, WAKE_UNTIL } from '../schedule/names.ts';
import { overridesOf } from './annotations.ts';
import type { EvaluationContext } from './evaluation.ts';
import { excludedUntil } from './excluded.ts';
import { wishesOf } from './own-wishes.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

/** Whether an object says anything of its own that time changes. */
export function hasOwnMoments({ annotations }: Pick<Workload | ScopedNamespace, 'annotations'>): boolean {
  return [WAKE_UNTIL, SLEEP_UNTIL, EXCLUDE_UNTIL, OWN_TIMES].some((key) => annotations[key] !== undefined);
}

/** The moments at which an object's annotations expire. */
export function expiriesOf(object: Workload | ScopedNamespace, now: EpochMs): readonly EpochMs[] {
  const { wakeUntil, sleepUntil } = overridesOf(object.annotations, now);
  return [wakeUntil, sleepUntil, excludedUntil(object, now)].filter((at) => at !== null);
}

/** When the times of its own next change something; empty where it has none. */
export function ownChange(
  workload: Workload,
  namespace: ScopedNamespace | null,
  context: EvaluationContext,
): readonly EpochMs[] {
  const next = namespace === null ? null : wishesOf(workload, namespace, context).period?.next;
  return next == null ? [] : [next.at];
}
