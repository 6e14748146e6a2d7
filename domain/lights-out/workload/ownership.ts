/** Which schedule owns a workload that several of them select: always exactly one. */
import { isStale, labelValue, savedStateOf } from './saved-state.ts';
import type { OtherSchedule, EvaluationContext } from './evaluation.ts';
import { isInScope } from '../schedule/scope.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

type Ownership = Pick<EvaluationContext, 'schedule' | 'createdAt' | 'spec' | 'others' | 'protectedNamespaces'>;

/**
 * The schedule in the annotations, whether or not it exists; null when they name none. The label counts only if the
 * annotation was removed.
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
 * The owner of a workload in the scope of the context's schedule: the schedule that put it to sleep, as long as it
 * exists; otherwise the oldest schedule that selects it and is not idle. The context's schedule never counts as idle
 * here, so that a dry run lists what it would do.
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

/** Whether a schedule puts the workload to sleep and wakes it, as far as it depends on the two of them. */
export function belongs(workload: Workload, namespace: ScopedNamespace | null, context: Ownership): boolean {
  return (
    namespace !== null &&
    isInScope(workload, namespace, context.spec, context.protectedNamespaces) &&
    ownerOf(workload, namespace, context) === context.schedule
  );
}

/** The schedule to which the context's one hands the workload over when it is deleted; null when there is none. */
export function takerOf(
  workload: Workload,
  namespace: ScopedNamespace | null,
  { schedule, others, protectedNamespaces }: Ownership,
): string | null {
  if (namespace === null) return null;
  const taker = others.find(
    ({ takesOver, isIdle, spec }) =>
      takesOver === schedule && !isIdle && isInScope(workload, namespace, spec, protectedNamespaces),
  );
  return taker?.name ?? null;
}

function isOlder(other: OtherSchedule, name: string, createdAt: number): boolean {
  return other.createdAt < createdAt || (other.createdAt === createdAt && other.name < name);
}
