/** What pods are for kube-scheduler, so that one which is made again is known: by another name, of another Job, after a restart. */
import { digestOf } from '../../kernel/digest.ts';
import type { InstanceType, NodeGroup } from '../model/node-group.ts';
import type { Pod, PodConstraints } from '../model/pod.ts';
import { askedOfNode, sorted } from '../scheduling/pod-class.ts';

/** 64 bits: nobody finds a pod that counts as another tenant's, of which the namespace is a part. */
const LENGTH = 16;

/** What a kind is told by. */
export type Asking = PodConstraints & Pick<Pod, 'namespace' | 'name'>;

/**
 * Equal for pods of a namespace that ask for the same. Their names, labels and owners do not count: a Job that is made again has others.
 * Claims do, but for those that are called after the pod.
 */
export function podKind(pod: Asking): string {
  const own = `${pod.name}-`;
  return hashOf([
    pod.namespace,
    ...askedOfNode(pod),
    pod.claims.map((claim) => (claim.startsWith(own) ? `*-${claim.slice(own.length)}` : claim)),
  ]);
}

/** A hash of what the provider and the group promise of a type's nodes. It changes when either promises something else. */
export function promiseOf(group: NodeGroup, { allocatable, labels }: InstanceType): string {
  return hashOf([
    sorted(allocatable),
    sorted(labels),
    sorted(group.labels),
    group.taints,
    group.startupTaints,
    sorted(group.providerSpec),
  ]);
}

function hashOf(value: unknown): string {
  return digestOf(JSON.stringify(value), LENGTH);
}
