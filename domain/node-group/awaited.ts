import { type AwaitedIn, COMMON_WAITS, PERSON } from '../kernel/awaited.ts';
import type { NodeGroupPhase } from './decide/verdict.ts';
import type { DrainPhase } from './drain/steps.ts';

export const nodeGroupAwaits: AwaitedIn<NodeGroupPhase> = {
  ...COMMON_WAITS,
  Starting: { whom: 'Headroom', until: 'there is a plan' },
  Observing: { whom: 'the cluster', until: 'there is another plan', isRest: true },
  Steady: { whom: 'the cluster', until: 'pods need nodes, or nodes no pods', isRest: true },
  ScalingUp: { whom: 'the provider', until: 'its machines are nodes' },
  ScalingDown: { whom: 'the pods', until: 'its nodes are empty and gone' },
  AwaitingApproval: { whom: PERSON, until: 'it is approved or rejected' },
  Deleting: { whom: 'the pods', until: 'its nodes are gone' },
};

export const drainAwaits: AwaitedIn<DrainPhase> = {
  ...COMMON_WAITS,
  Draining: { whom: 'the pods', until: 'the node is empty' },
  Undoing: { whom: 'Headroom', until: 'the marks are off the node' },
};
