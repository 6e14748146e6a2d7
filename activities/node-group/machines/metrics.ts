/** What activities count of node groups. */
import { nodeGroupMetrics as metrics } from '../../../domain/node-group/metrics.ts';
import { count, record } from '../../kernel/metrics.ts';

/** @param reason of `ScaleUpReason`, or why a machine goes. */
export function countDecision(decision: 'scale_up' | 'scale_down', nodegroup: string, reason: string): void {
  count(metrics.decisions, { decision, reason, nodegroup });
}

export function countScaleUp(nodegroup: string, nodes: number): void {
  count(metrics.scaleUps, { nodegroup }, nodes);
}

export function countScaleDown(nodegroup: string): void {
  count(metrics.scaleDowns, { nodegroup });
}

/** Not under a name of the VPSie autoscaler: its `scale_down_blocked` counts nodes that checks keep, as the starter does. */
export function countBlockedDrain(nodegroup: string, reason: string): void {
  count(metrics.blockedDrains, { nodegroup, reason });
}

/** @param ms from the creation of the machine's object until its node was ready. */
export function recordProvisioning(nodegroup: string, ms: number): void {
  record(metrics.provisioning, { nodegroup }, ms);
}

/** @param ms from the first mark on the node until its last pod was gone. */
export function recordDrain(nodegroup: string, ms: number): void {
  record(metrics.drains, { nodegroup }, ms);
}
