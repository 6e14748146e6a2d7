/** What kind of manager a name in managed fields stands for. */
import { FIELD_MANAGER } from '../schedule/names.ts';

export type ManagerClass = 'ours' | 'gitops' | 'machine' | 'person';

/** Controllers that set replicas without anybody's having asked for it. */
const MACHINES: ReadonlySet<string> = new Set([
  'kube-controller-manager',
  'keda',
  'keda-operator',
  'horizontal-pod-autoscaler',
  'cluster-autoscaler',
]);
const MACHINE_PREFIX = 'vpa-';

/** What kind a manager is of. One that is not known, or not said, counts as a person: what people do is respected. */
export function managerClass(manager: string | null, gitopsManagers: readonly string[]): ManagerClass {
  if (manager === null) return 'person';
  if (manager === FIELD_MANAGER) return 'ours';
  if (gitopsManagers.includes(manager)) return 'gitops';
  return MACHINES.has(manager) || manager.startsWith(MACHINE_PREFIX) ? 'machine' : 'person';
}
