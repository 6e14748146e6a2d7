/** The nodes of groups that a plan may take away, each with everything that is asked about it. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { ownersAmong, standsFor, unknownOwner } from '../machine/machine-node.ts';
import type { ClusterState, UtilizationSample } from '../model/cluster-state.ts';
import type { Machine, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Pod } from '../model/pod.ts';
import { isComing } from '../plan/live-nodes.ts';
import { byText } from '../plan/pending.ts';
import type { Candidate } from './candidates.ts';
import type { SinceBook } from './memory.ts';
import { type PodsOnNode, podsOnNode } from './pod-safety.ts';
import { averageOf, type UtilizationRule, utilizationRule } from './utilization.ts';

export interface Member extends Candidate {
  readonly group: NodeGroup;
  /** The one whose deletion was asked for, where nobody knows which it is. */
  readonly machine: Machine;
  /** That nobody knows which machine the node is; null where that is known. */
  readonly unknown: string | null;
  readonly node: Node;
  /** Whether its machine has become a ready node once: before that, it is on its way and not looked at. */
  readonly isSettled: boolean;
  readonly pods: PodsOnNode;
  readonly rule: UtilizationRule;
  readonly samples: readonly UtilizationSample[];
  /** Null while it is ready. */
  readonly unreadySince: EpochMs | null;
}

/** All nodes that have a machine of a group, without those that leave already. */
export function membersOf(
  state: ClusterState,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  since: { readonly unready: SinceBook; readonly unneeded: SinceBook },
): readonly Member[] {
  const groups = new Map(state.groups.map((group) => [group.name, group]));
  const leaving = new Set(state.leaving);
  const nodes = state.nodes
    .filter(({ name, isDeleting }) => !isDeleting && !leaving.has(name))
    .toSorted((a, b) => byText(a.name, b.name));
  const ownersOf = ownersAmong(state.machines);
  const members: Member[] = [];
  for (const node of nodes) {
    const owners = ownersOf(node).filter((machine) => !isGoing(machine));
    const own = owners.filter((machine) => standsFor(machine, node));
    const machine = own.find(({ isDrainRequested }) => isDrainRequested) ?? own[0];
    const group = machine === undefined ? undefined : groups.get(machine.group);
    if (machine === undefined || group === undefined) continue;
    const pods = podsOnNode(byNode.get(node.name) ?? []);
    const samples = ownValue(state.utilization, node.name) ?? [];
    const rule = utilizationRule(group.scaleDown);
    const isReady = node.ready.status === 'True';
    members.push({
      group,
      machine,
      unknown: unknownOwner(node, owners),
      node,
      isSettled: isComing(machine) && machine.phase === 'Ready',
      pods,
      rule,
      samples,
      unreadySince: isReady ? null : since.unready.note(node.uid, node.ready.since),
      name: node.name,
      isReady,
      createdAt: machine.createdAt,
      unneededSince: since.unneeded.before(node.uid),
      use: averageOf(samples, rule, state.at),
      podCount: pods.evicted.length,
      systemPodCount: pods.evicted.filter(({ namespace }) => namespace === 'kube-system').length,
    });
  }
  return members;
}

/** The VPSie autoscaler also calls those `Terminating` that it had begun to drain. */
function isGoing({ isDeleting, isDrainRequested, phase }: Machine): boolean {
  return isDeleting || (!isDrainRequested && (phase === 'Terminating' || phase === 'Deleting'));
}
