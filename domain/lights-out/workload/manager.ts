/** Classifies the names of managers in managed fields. */
import { FIELD_MANAGER } from '../schedule/names.ts';

export type ManagerClass = 'ours' | 'gitops' | 'machine' | 'person';

/** Controllers that change replicas without a person's request. */
const MACHINES: ReadonlySet<string> = new Set([
  'kube-controller-manager',
  'keda',
  'keda-operator',
  'horizontal-pod-autoscaler',
  'cluster-autoscaler',
]);
const MACHINE_PREFIX = 'vpa-';

/** The class of a manager. An unknown one counts as a person, because people's changes are respected. */
export function managerClass(manager: string | null, gitopsManagers: readonly string[]): ManagerClass {
  if (manager === null) return 'person';
  if (manager === FIELD_MANAGER) return 'ours';
  if (gitopsManagers.includes(manager)) return 'gitops';
  return MACHINES.has(manager) || manager.startsWith(MACHINE_PREFIX) ? 'machine' : 'person';
}
