import { ownValue } from '../../kernel/record.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { PodConstraints } from '../model/pod.ts';

/**
 * Whether a group opens nodes for the pod, as far as its option `exclusive` is concerned: only for pods that ask for one of its
 * labels. The VPSie autoscaler has it so for every group with labels; kube-scheduler places other pods there all the same.
 */
export function opensFor(
  { exclusive, labels }: Pick<NodeGroup, 'exclusive' | 'labels'>,
  { nodeSelector, nodeAffinity }: Pick<PodConstraints, 'nodeSelector' | 'nodeAffinity'>,
): boolean {
  const keys = Object.keys(labels);
  if (!exclusive || keys.length === 0) return true;
  if (keys.some((key) => ownValue(nodeSelector, key) === labels[key])) return true;
  return (nodeAffinity ?? []).some(({ matchExpressions = [] }) =>
    matchExpressions.some(({ key }) => keys.includes(key)),
  );
}
