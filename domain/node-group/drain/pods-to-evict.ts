/** Which pods of a node are evicted, and in which order. */
import type { EpochMs } from '../../kernel/time.ts';
import type { Pod } from '../model/pod.ts';
import { isOfDaemonSet, isOfNode } from '../model/pod-owner.ts';

/** What a drain needs to know of a pod. */
export type DrainedPod = Pick<
  Pod,
  | 'uid'
  | 'namespace'
  | 'name'
  | 'labels'
  | 'annotations'
  | 'owner'
  | 'phase'
  | 'isReady'
  | 'priority'
  | 'createdAt'
  | 'deletesAt'
  | 'gracePeriodSeconds'
  | 'localVolumes'
>;

/** cluster-autoscaler's: a pod of a DaemonSet that is to be evicted too, so that it can end in good order. */
const EVICT_DAEMON = 'cluster-autoscaler.kubernetes.io/enable-ds-eviction';
/** The lowest priority of Kubernetes' own classes, `system-cluster-critical`. */
const CRITICAL_PRIORITY = 2_000_000_000;
const SYSTEM_NAMESPACE = 'kube-system';

/**
 * The pods that a drain takes off a node: all but those that have ended, that the kubelet makes by itself, and those of
 * DaemonSets, which would be made again at once. A pod that is being deleted already is among them, as it is waited for.
 */
export function podsToEvict<P extends Pick<Pod, 'owner' | 'phase'>>(pods: readonly P[]): readonly P[] {
  return pods.filter((pod) => !isOver(pod) && !isOfNode(pod));
}

/**
 * All that leaves a node in a drain: `podsToEvict`, and pods of DaemonSets where they ask for it, of those that were there
 * when the drain began: their DaemonSet makes new ones at once.
 */
export function leavingPods(pods: readonly DrainedPod[], drainBegan: EpochMs): readonly DrainedPod[] {
  const asking = pods.filter(
    (pod) =>
      isOfDaemonSet(pod) && !isOver(pod) && pod.annotations[EVICT_DAEMON] === 'true' && pod.createdAt < drainBegan,
  );
  return [...podsToEvict(pods), ...asking];
}

/**
 * The pods that leave before any other does, in Karpenter's order.
 *
 * @param leaving as by `leavingPods`.
 */
export function firstStage(leaving: readonly DrainedPod[]): readonly DrainedPod[] {
  const first = Math.min(...leaving.map(stageOf));
  return leaving.filter((pod) => stageOf(pod) === first).toSorted((a, b) => podName(a).localeCompare(podName(b)));
}

/** 0 ordinary, 1 of a DaemonSet, 2 critical, 3 critical and of a DaemonSet. */
function stageOf(pod: DrainedPod): number {
  const isCritical = pod.priority >= CRITICAL_PRIORITY || pod.namespace === SYSTEM_NAMESPACE;
  return (isCritical ? 2 : 0) + (isOfDaemonSet(pod) ? 1 : 0);
}

export function podName({ namespace, name }: Pick<Pod, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}

function isOver({ phase }: Pick<Pod, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
