/** The items of a plan as they travel between activities and workflows: as names, so that a history stays short and can be read. */
import { type WorkloadType, workloadTypes } from '../schedule/names.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { type Autoscaler, workloadName } from '../workload/workload.ts';

/** Items that follow each other in a plan and have everything but their names and replicas in common. */
export interface ItemGroup extends Pick<PlanItem, 'direction' | 'reason' | 'priority' | 'manager'> {
  /**
   * `Deployment team-a/web 3 -> 0 by widgets.example.com/web (ScaledObject web)`: its replicas, the owner whose number is set, and its
   * autoscalers, where it has them.
   */
  readonly workloads: readonly string[];
}

const SCALER_KINDS: readonly Autoscaler['kind'][] = ['HorizontalPodAutoscaler', 'ScaledObject'];
const PACKED =
  /^(?<kind>\w+) (?<namespace>[^/ ]+)\/(?<name>[^ ]+)(?: (?<from>\d+) -> (?<to>\d+))?(?: by (?<owner>[^ ]+))?(?: \((?<scalers>.+)\))?$/;

type PackedItem = Pick<PlanItem, 'workload' | 'from' | 'to' | 'owner' | 'autoscalers'>;

/** One item without what its group says. */
export function packItem({ workload, from, to, owner, autoscalers = [] }: PackedItem): string {
  const replicas = from === null || to === null ? '' : ` ${from} -> ${to}`;
  const scalers =
    autoscalers.length === 0 ? '' : ` (${autoscalers.map(({ kind, name }) => `${kind} ${name}`).join(', ')})`;
  return `${workloadName(workload)}${replicas}${owner === undefined ? '' : ` by ${owner}`}${scalers}`;
}

/** The same items in the same order. */
export function packItems(items: readonly PlanItem[]): readonly ItemGroup[] {
  const groups: (ItemGroup & { readonly workloads: string[] })[] = [];
  for (const item of items) {
    const { direction, reason, priority, manager } = item;
    const last = groups.at(-1);
    const isSame =
      last?.direction === direction && last.reason === reason && last.priority === priority && last.manager === manager;
    if (isSame) last.workloads.push(packItem(item));
    else {
      const whose = manager === undefined ? {} : { manager };
      groups.push({ direction, reason, priority, ...whose, workloads: [packItem(item)] });
    }
  }
  return groups;
}

/** @throws Error for a text that `packItems` does not write. */
export function unpackItems(groups: readonly ItemGroup[]): readonly PlanItem[] {
  return groups.flatMap(({ workloads, ...group }) => workloads.map((text) => ({ ...group, ...unpackItem(text) })));
}

/** @throws Error for a text that `packItem` does not write. */
export function unpackItem(text: string): PackedItem {
  const { kind = '', namespace = '', name = '', from, to, owner, scalers } = PACKED.exec(text)?.groups ?? {};
  if (!isWorkloadType(kind)) throw new Error(`"${text}" names no workload of a plan`);
  return {
    workload: { kind, namespace, name },
    from: from === undefined ? null : Number(from),
    to: to === undefined ? null : Number(to),
    ...(owner === undefined ? {} : { owner }),
    ...(scalers === undefined ? {} : { autoscalers: scalers.split(', ').map(scalerOf) }),
  };
}

function scalerOf(text: string): Pick<Autoscaler, 'kind' | 'name'> {
  const [kindName, name = ''] = text.split(' ');
  const kind = SCALER_KINDS.find((known) => known === kindName);
  if (kind === undefined) throw new Error(`"${text}" names no autoscaler of a plan`);
  return { kind, name };
}

function isWorkloadType(kind: string): kind is WorkloadType {
  return workloadTypes.some((known) => known === kind);
}
