import { removalsOf } from '../../../domain/node-group/plan-claim.ts';
import type { ClaimRemovalsInput } from '../interface.ts';
import { findGroup } from '../group/group-objects.ts';
import { claimPlan } from './claim-plan.ts';
import { nodesRefusal } from './claimable.ts';
import { fenceOf } from './fence.ts';
import type { MachineOptions } from './options.ts';

/** See `NodeGroupActivities.ensureRemovalsClaimed`. */
export async function claimRemovals(options: MachineOptions, input: ClaimRemovalsInput): Promise<boolean> {
  const { kubernetes } = options;
  const { target, nodes } = input;
  const fence = fenceOf(input);
  const decision = removalsOf(fence, target.group);
  const claim = { decision, group: target.group, machines: {}, givenUp: [], removals: nodes };
  const refusal =
    (await findGroup(kubernetes, input))?.read.group?.mode === 'act'
      ? await nodesRefusal(kubernetes, target.group, nodes)
      : `the NodeGroup ${target.group} is gone, invalid or observed only`;
  const { claim: claimed } = await claimPlan(options, target, fence, claim, () => refusal);
  return claimed !== null && nodes.every((uid) => claimed.removals?.includes(uid));
}
