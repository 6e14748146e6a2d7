/** What a schedule selects: namespaces, and the workloads in them. */
import { exemption } from './exempt.ts';
import type { ScheduleSpec } from './schedule.ts';
import { isEmptySelector, matchesSelector } from '../../kernel/label-selector.ts';
import type { ScopedNamespace, Workload } from '../workload/workload.ts';

/**
 * Namespaces that no schedule touches: Kubernetes' own, and those in which the charts and manifests of what other workloads
 * cannot start without are installed. Installed elsewhere, they are recognized by their labels: see exempt.ts.
 */
export const SYSTEM_NAMESPACES: readonly string[] = [
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'keda',
  'cert-manager',
  'kyverno',
  'gatekeeper-system',
  'kubewarden',
  'calico-system',
  'calico-apiserver',
  'tigera-operator',
  'cilium',
  'kube-flannel',
  'longhorn-system',
  'rook-ceph',
  'openebs',
];

type NamespaceScope = Pick<ScheduleSpec, 'namespaceSelector' | 'namespaces' | 'excludeNamespaces'>;
type Selection = NamespaceScope & Pick<ScheduleSpec, 'workloadTypes' | 'excludeLabels'>;
type Scope = Selection & Pick<ScheduleSpec, 'controllerOwned'>;

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

/** Whether a schedule selects the workload and may put it to sleep. `namespace` as for `selects`. */
export function isInScope(
  workload: Pick<Workload, 'kind' | 'labels' | 'controller'>,
  namespace: ScopedNamespace | null,
  spec: Scope,
  protectedNamespaces: readonly string[],
): boolean {
  return selects(workload, namespace, spec, protectedNamespaces) && exemption(workload, spec) === null;
}

/** The parts of a spec that select workloads of a namespace. */
export type WorkloadSelection = Pick<ScheduleSpec, 'workloadTypes' | 'excludeLabels' | 'controllerOwned'>;

export function workloadSelection({
  workloadTypes,
  excludeLabels,
  controllerOwned,
}: WorkloadSelection): WorkloadSelection {
  return { workloadTypes, controllerOwned, ...(excludeLabels === undefined ? {} : { excludeLabels }) };
}

/** Whether these parts select the workload, whatever its namespace. */
export function isSelected(
  workload: Pick<Workload, 'kind' | 'labels' | 'controller'>,
  selection: WorkloadSelection,
): boolean {
  return isOfSelection(workload, selection) && exemption(workload, selection) === null;
}

function isOfSelection(
  { kind, labels }: Pick<Workload, 'kind' | 'labels'>,
  { workloadTypes, excludeLabels }: Pick<ScheduleSpec, 'workloadTypes' | 'excludeLabels'>,
): boolean {
  if (workloadTypes.length > 0 && !workloadTypes.includes(kind)) return false;
  return isEmptySelector(excludeLabels) || !matchesSelector(excludeLabels, labels);
}

/** Whether a schedule selects the workload. `namespace` is the workload's namespace; null when it does not exist. */
export function selects(
  workload: Pick<Workload, 'kind' | 'labels'>,
  namespace: ScopedNamespace | null,
  spec: Selection,
  protectedNamespaces: readonly string[],
): boolean {
  return namespace !== null && holdsNamespace(spec, namespace, protectedNamespaces) && isOfSelection(workload, spec);
}
