/** What a schedule is about to do to a workload, by the evaluation that does it when the time has come. */
import { parseDuration } from '../../kernel/duration.ts';
import { countsAs, type Outlook } from '../../kernel/outlook.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { desiredOf } from './desired.ts';
import { evaluate } from './evaluate.ts';
import type { EvaluationContext } from './evaluation.ts';
import { expiriesOf, ownChange } from './moments.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

/** The template of the pods is not known here. */
export type Foreseen = Omit<Outlook, 'template'>;

/**
 * The first change of a workload that counts by now; null where there is none, where the night keeps some of its pods, as nobody knows
 * which, and for what has no replicas.
 *
 * @param contextAt the schedule at a moment; null where it changes nothing then.
 * @param moments at which the schedule itself may change.
 */
export function foresee(
  workload: Workload,
  namespace: ScopedNamespace,
  {
    now,
    contextAt,
    moments,
  }: {
    readonly now: EpochMs;
    readonly contextAt: (at: EpochMs) => EvaluationContext | null;
    readonly moments: readonly EpochMs[];
  },
): Foreseen | null {
  const present = contextAt(now);
  if (present === null || workload.replicas === null) return null;
  const own = [...expiriesOf(workload, now), ...expiriesOf(namespace, now), ...ownChange(workload, namespace, present)];
  const { kind, namespace: place, name } = workload;
  const leadMs = parseDuration(present.spec.prewarm);
  const later = [...new Set([...moments, ...own])].filter((at) => at > now).toSorted((a, b) => a - b);
  for (const at of [now, ...later]) {
    const context = at === now ? present : contextAt(at);
    // What is due is due since its state began: nobody waits for ever for what is not done.
    const since = at > now ? at : desiredOf(workload, namespace, present).since;
    if (context === null || since === null) continue;
    const outlook = outlookAt(workload, namespace, context);
    if (outlook === null) continue;
    const foreseen: Foreseen = { workload: { kind, namespace: place, name }, at: since, leadMs, ...outlook };
    return countsAs(foreseen, now) === null ? null : foreseen;
  }
  return null;
}

function outlookAt(
  workload: Workload,
  namespace: ScopedNamespace,
  context: EvaluationContext,
): Pick<Outlook, 'change' | 'pods'> | null {
  const evaluation = evaluate(workload, namespace, context);
  if (evaluation.kind === 'keep') return null;
  const { direction, from, to } = evaluation.item;
  if (direction === 'Down') return to === 0 ? { change: 'sleeps', pods: 0 } : null;
  const pods = to ?? 0;
  return pods > (from ?? 0) ? { change: 'wakes', pods } : null;
}
