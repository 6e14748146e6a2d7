/** What a plan says of one pod, and of one node. */
import { GROUP_LABEL } from '../../../domain/node-group/api/names.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import type { KeptNode, NewNodes, Removal, UnhelpedPod } from '../../../domain/node-group/model/plan.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { isOfDaemonSet } from '../../../domain/node-group/model/pod-owner.ts';
import type { LocalPlan } from './local-plan.ts';

/** The documented form of `pod` in `headroom node-groups explain NAMESPACE/NAME --output json`. */
export type PodAnswer =
  /** It is on a node. */
  | { readonly kind: 'bound'; readonly node: NodeAnswer | null }
  /** It is being deleted. */
  | { readonly kind: 'leaving' }
  /** It is of a DaemonSet, which has a pod on each node: it makes none. */
  | { readonly kind: 'daemonSet' }
  /** It fits a node that is there or on its way; or it gets no new node, as none would help or none is to be had. */
  | ({ readonly kind: 'fits' | 'unhelped' } & Pick<UnhelpedPod, 'reason' | 'detail'>)
  /** It gets one of these nodes. */
  | ({ readonly kind: 'newNode' } & Omit<NewNodes, 'pods' | 'kinds'>)
  /** kube-scheduler has not said yet that it fits nowhere: until then, no node is looked for. */
  | { readonly kind: 'awaitsScheduler' };

/** The documented form of `node` in `headroom node-groups explain NODE --output json`. */
export type NodeAnswer = { readonly name: string; readonly group: string | null } & (
  | ({ readonly kind: 'goes' } & Pick<Removal, 'reason' | 'detail' | 'podCount' | 'replacement'>)
  | ({ readonly kind: 'stays' } & Pick<KeptNode, 'reason' | 'detail' | 'until'>)
  /** A workflow drains it. */
  | { readonly kind: 'draining'; readonly workflow: string }
  /** It, or its machine, is being deleted. */
  | { readonly kind: 'leaving' }
  /** Its machine has not been ready yet. */
  | { readonly kind: 'coming' }
  /** It has the label of a group, but no VPSieNode, or its group is not there or invalid: nobody takes it away. */
  | { readonly kind: 'unmanaged'; readonly detail: string }
);

/** Whether a pod needs no new node: it fits one that is there (`FitsExisting`) or on its way (`FitsUpcoming`). */
export function isPlaced({ reason }: Pick<UnhelpedPod, 'reason'>): boolean {
  return reason === 'FitsExisting' || reason === 'FitsUpcoming';
}

export function podAnswer(local: LocalPlan, pod: Pod): PodAnswer {
  const { plan } = local;
  if (pod.node !== null) {
    const node = local.nodes.get(pod.node);
    return { kind: 'bound', node: node === undefined ? null : nodeAnswer(local, node) };
  }
  if (pod.deletesAt !== null) return { kind: 'leaving' };
  if (isOfDaemonSet(pod)) return { kind: 'daemonSet' };
  const unhelped = plan.unhelped.find(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
  if (unhelped !== undefined) {
    const { reason, detail } = unhelped;
    return { kind: isPlaced(unhelped) ? 'fits' : 'unhelped', reason, detail };
  }
  const own = plan.newNodes.find(({ pods }) => pods.includes(`${pod.namespace}/${pod.name}`));
  if (own === undefined) return { kind: 'awaitsScheduler' };
  const { pods: _, kinds: _kinds, ...newNode } = own;
  return { kind: 'newNode', ...newNode };
}

export function nodeAnswer({ plan, machines, groups }: LocalPlan, node: Node): NodeAnswer {
  const { name } = node;
  const machine = machines.find((each) => each.node === name);
  const group = machine?.group ?? node.labels[GROUP_LABEL] ?? null;
  const identity = { name, group };
  const mark = markOf(node);
  if (mark !== null) return { ...identity, kind: 'draining', workflow: mark.drain };
  const removal = plan.removals.find((each) => each.node === name);
  if (removal !== undefined) {
    const { reason, detail, podCount, replacement } = removal;
    return { ...identity, kind: 'goes', reason, detail, podCount, replacement };
  }
  const kept = plan.kept.find((each) => each.node === name);
  if (kept !== undefined) {
    const { reason, detail, until } = kept;
    return { ...identity, kind: 'stays', reason, detail, until };
  }
  if (node.isDeleting || machine?.isDeleting === true) return { ...identity, kind: 'leaving' };
  const detail = whyUnmanaged(group, groups);
  if (detail !== null) return { ...identity, kind: 'unmanaged', detail };
  if (machine === undefined) {
    const missing = `it has the label of ${group}, but no VPSieNode of that group became it`;
    return { ...identity, kind: 'unmanaged', detail: missing };
  }
  return { ...identity, kind: machine.phase === 'Terminating' || machine.phase === 'Deleting' ? 'leaving' : 'coming' };
}

function whyUnmanaged(group: string | null, groups: LocalPlan['groups']): string | null {
  if (group === null) return `it belongs to no NodeGroup: it has no label ${GROUP_LABEL}`;
  const read = groups.find(({ name }) => name === group);
  if (read === undefined) return `its NodeGroup ${group} is not there`;
  return read.group === null ? `its NodeGroup ${group} is invalid: ${read.problems.join('; ')}` : null;
}
