/** Which pods are of a node, and go with it: one answer for plans and for drains. */
import type { Pod } from './pod.ts';

type Owned = Pick<Pod, 'owner'>;

export function isOfDaemonSet({ owner }: Owned): boolean {
  return owner?.kind === 'DaemonSet';
}

/**
 * Whether the kubelet makes the pod by itself from a file, so that the API server cannot end it. A kubelet has to name its Node as the owner
 * (the admission plugin NodeRestriction). The annotations of such a pod say nothing: whoever creates a pod may write them.
 */
export function isStatic({ owner }: Owned): boolean {
  // Other APIs have a kind of that name.
  return owner?.kind === 'Node' && owner.apiVersion === 'v1';
}

/** Whether the pod goes with its node, takes nobody's place there, and needs none elsewhere. */
export function isOfNode(pod: Owned): boolean {
  return isOfDaemonSet(pod) || isStatic(pod);
}
