/** The metrics of the VPSie autoscaler, under its names; the worker's endpoint adds `_total`, and `_seconds`. */
import { asyncLocalStorage } from '@temporalio/activity';

const PREFIX = 'vpsie_autoscaler';
const PROVISIONING = `${PREFIX}_node_provisioning_duration`;
const DRAIN = `${PREFIX}_node_drain_duration`;
const BLOCKED_DRAINS = 'headroom_drains_blocked';

/** Half a minute to the half hour after which a machine is given up at the latest. */
const PROVISIONING_SECONDS = [5, 10, 30, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800];
const DRAIN_SECONDS = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Histogram buckets for the metrics endpoint of the process. */
export const nodeBuckets = { [PROVISIONING]: PROVISIONING_SECONDS, [DRAIN]: DRAIN_SECONDS };

/** @param reason of `ScaleUpReason`, or why a machine goes. */
export function countDecision(decision: 'scale_up' | 'scale_down', nodegroup: string, reason: string): void {
  count('scaling_decisions', 'Decisions to add nodes or to take them away.', { decision, reason, nodegroup });
}

export function countScaleUp(nodegroup: string, nodes: number): void {
  count('scale_up', 'Nodes that were asked for.', { nodegroup }, nodes);
}

export function countScaleDown(nodegroup: string): void {
  count('scale_down', 'Nodes that were taken away.', { nodegroup });
}

/** Not under a name of the VPSie autoscaler: its `scale_down_blocked` counts nodes that checks keep, as the starter does. */
export function countBlockedDrain(nodegroup: string, reason: string): void {
  counted(BLOCKED_DRAINS, 'Drains that ended with their node uncordoned.', { nodegroup, reason });
}

/** @param ms from the creation of the machine's object until its node was ready. */
export function recordProvisioning(nodegroup: string, ms: number): void {
  record(PROVISIONING, 'How long it took until a node was ready.', ms, nodegroup);
}

/** @param ms from the first mark on the node until its last pod was gone. */
export function recordDrain(nodegroup: string, ms: number): void {
  record(DRAIN, 'How long the drain of a node took.', ms, nodegroup);
}

function count(name: string, description: string, labels: Record<string, string>, by = 1): void {
  counted(`${PREFIX}_${name}`, description, labels, by);
}

function counted(name: string, description: string, labels: Record<string, string>, by = 1): void {
  if (by > 0) meter()?.createCounter(name, undefined, description).add(by, labels);
}

function record(name: string, description: string, ms: number, nodegroup: string): void {
  meter()
    ?.createHistogram(name, 'float', 'seconds', description)
    .record(Math.max(0, ms) / 1000, { nodegroup });
}

/** None outside of an activity. */
function meter() {
  return asyncLocalStorage.getStore()?.metricMeter;
}
