import type { Machine, NodeGroup } from '../model/node-group.ts';
import type { NewNodes, ScaleUpReason } from '../model/plan.ts';

/** How many machines count against the maximum of their group: those that leave too, as they are paid for; all that have not failed. */
export function paidFor(machines: readonly Pick<Machine, 'phase'>[]): number {
  return machines.filter(({ phase }) => phase !== 'Failed').length;
}

/**
 * Why a group may not have more machines, whatever a plan says; null where it may. No plan of its own spec asks for what is refused here.
 *
 * @param present machines that there are or that were claimed, as by `paidFor`.
 * @param wanted how many more, by instance type.
 */
export function growthRefusal(
  { name, maxNodes, offeringIds, scaleUp }: Pick<NodeGroup, 'name' | 'maxNodes' | 'offeringIds' | 'scaleUp'>,
  present: number,
  wanted: Readonly<Record<string, number>>,
): string | null {
  if (!scaleUp.enabled) return `scaling up is disabled in ${name}`;
  const unknown = Object.keys(wanted).find((type) => !offeringIds.includes(type));
  if (unknown !== undefined) return `${name} does not offer the instance type ${unknown}`;
  const more = Object.values(wanted).reduce((sum, count) => sum + count, 0);
  return present + more > maxNodes
    ? `${name} may have ${maxNodes} nodes: it has ${present}, and not ${more} more`
    : null;
}

/**
 * Why nodes that the size asked for are not made, though a plan says so; null where they are. The group and its machines reach whoever plans
 * by watches of their own, so that a machine may be gone there before the size has gone down.
 *
 * @param present machines that the size may count (`mayBeWanted`), or that were claimed.
 */
export function sizeRefusal(
  { name, desiredNodes }: Pick<NodeGroup, 'name' | 'desiredNodes'>,
  present: number,
  newNodes: readonly Pick<NewNodes, 'count' | 'reason'>[],
): string | null {
  const countOf = (reason: ScaleUpReason): number =>
    newNodes.filter((line) => line.reason === reason).reduce((sum, { count }) => sum + count, 0);
  const below = countOf('BelowDesired');
  const wanted = desiredNodes ?? 0;
  return below > 0 && present + countOf('BelowMinimum') + below > wanted
    ? `${name} is to have ${wanted === 1 ? '1 node' : `${wanted} nodes`} and has ${present}: fewer are wanted than when the plan was made`
    : null;
}
