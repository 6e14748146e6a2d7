import type { NodeGroup } from '../model/node-group.ts';

/**
 * Why a group may not have more machines, whatever a plan says; null where it may. No plan of its own spec asks for what is refused here.
 *
 * @param present machines that there are or that were claimed, those that leave included, as they are paid for: all that have not failed.
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
