/** What a schedule selects: namespaces, and the workloads in them. */
import type { ScheduleSpec } from './schedule.ts';
import { isEmptySelector, matchesSelector } from '../../kernel/label-selector.ts';
import type { ScopedNamespace, Workload } from '../workload/workload.ts';

/** Kubernetes' own namespaces, which no schedule touches. */
export const SYSTEM_NAMESPACES: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease'];

type NamespaceScope = Pick<ScheduleSpec, 'namespaceSelector' | 'namespaces' | 'excludeNamespaces'>;
type Scope = NamespaceScope & Pick<ScheduleSpec, 'workloadTypes' | 'excludeLabels'>;

/**
 * Whether a schedule selects the namespace, by its labels or by its name. A namespace that is being deleted is never
 * selected.
 */
export function holdsNamespace(
  spec: NamespaceScope,
  { name, labels, isDeleting }: ScopedNamespace,
  protectedNamespaces: readonly string[],
): boolean {
  if (isDeleting || SYSTEM_NAMESPACES.includes(name) || protectedNamespaces.includes(name)) return false;
  if (spec.excludeNamespaces.includes(name)) return false;
  return spec.namespaces.includes(name) || matchesSelector(spec.namespaceSelector, labels);
}

/** The names of the namespaces that a schedule selects, sorted. */
export function namespacesInScope(
  spec: NamespaceScope,
  namespaces: readonly ScopedNamespace[],
  protectedNamespaces: readonly string[],
): readonly string[] {
  return namespaces
    .filter((namespace) => holdsNamespace(spec, namespace, protectedNamespaces))
    .map(({ name }) => name)
    .toSorted();
}

/** Whether a schedule selects the workload. `namespace` is the workload's namespace; null when it does not exist. */
export function isInScope(
  { kind, labels }: Pick<Workload, 'kind' | 'labels'>,
  namespace: ScopedNamespace | null,
  spec: Scope,
  protectedNamespaces: readonly string[],
): boolean {
  if (namespace === null || !holdsNamespace(spec, namespace, protectedNamespaces)) return false;
  if (spec.workloadTypes.length > 0 && !spec.workloadTypes.includes(kind)) return false;
  return isEmptySelector(spec.excludeLabels) || !matchesSelector(spec.excludeLabels, labels);
}
