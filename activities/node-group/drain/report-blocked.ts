import type { Logger } from 'pino';
import type { DrainTarget } from '../../../domain/node-group/target.ts';
import { nodeDrainId } from '../../../domain/node-group/target.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { reportOnGroup } from '../group/group-event.ts';
import { countBlockedDrain } from '../machines/metrics.ts';
import type { BlockedDrain } from './interface.ts';

/** Says on the NodeGroup that a node stays because it could not be drained, and counts it. */
export async function reportBlocked(
  options: { readonly kubernetes: Kubernetes; readonly log: Pick<Logger, 'warn'> },
  target: DrainTarget,
  { groupUid, reason, detail }: BlockedDrain,
): Promise<void> {
  const { cluster, group, node } = target;
  countBlockedDrain(group, reason);
  await reportOnGroup(
    options,
    { target: { cluster, group }, uid: groupUid },
    {
      type: 'Warning',
      reason: 'ScaleDownBlocked',
      message: `the node ${node} stays: ${detail}`,
      key: `${nodeDrainId(target)} ${reason} ${detail}`,
    },
  );
}
