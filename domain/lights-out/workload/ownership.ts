/** Which schedule a workload belongs to, where several select it: exactly one. */
import { isStale, labelValue, savedStateOf } from './saved-state.ts';
import type { OtherSchedule, EvaluationContext } from './evaluation.ts';
import { isInScope } from '../schedule/scope.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

type Ownership = Pick<EvaluationContext, 'schedule' | 'createdAt' | 'spec' | 'others' | 'protectedNamespaces'>;

/**
 * The schedule that the annotations name, whether or not there is such a schedule; null where they name none. A label speaks only
 * for an annotation that was taken away.
 */
export function annotatedOwner(
  workload: Workload,
  { schedule, others }: Pick<Ownership, 'schedule' | 'others'>,
): string | null {
  const { managedBy, label, original } = savedStateOf(workload);
  if (managedBy !== null || label === null || original === null) return managedBy;
  return [schedule, ...others.map(({ name }) => name)].find((name) => labelValue(name) === label) ?? null;
}

/**
 * The owner of a workload that is in the scope of the context's schedule: the schedule that put it down, for as long as that
 * exists; else the oldest of those that select it and put anything down at all. The schedule itself counts as one of them,
 * so that a dry run lists what it would do.
 */
export function ownerOf(workload: Workload, namespace: ScopedNamespace, context: Ownership): string {
  const marked = annotatedOwner(workload, context);
  const exists = marked === context.schedule || context.others.some(({ name }) => name === marked);
  if (marked !== null && exists && !isStale(workload)) return marked;
  let [name, createdAt] = [context.schedule, context.createdAt];
  for (const other of context.others) {
    if (other.isIdle || !isOlder(other, name, createdAt)) continue;
    if (!isInScope(workload, namespace, other.spec, context.protectedNamespaces)) continue;
    [name, createdAt] = [other.name, other.createdAt];
  }
  return name;
}

function isOlder(other: OtherSchedule, name: string, createdAt: number): boolean {
  return other.createdAt < createdAt || (other.createdAt === createdAt && other.name < name);
}
