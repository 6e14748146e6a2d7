/** The order in which the VPSie autoscaler takes groups that fit the same pods; expanders do that in Headroom. */
import type { NodeGroup } from '../model/node-group.ts';

/** The price of a month at which a group gets all points for its cost. */
const REFERENCE_PRICE = 50;
const COST_POINTS = { most: 500, least: 10 };

/**
 * More is better: 100 for each pod, 50 for each node that may still come, 200 where any may, 100 for a preferred type, and up to
 * 500 for a low price.
 *
 * @param podCount pods that fit the group.
 * @param monthlyPrice of its instance type; null where it is not known.
 */
export function groupScore(
  {
    maxNodes,
    desiredNodes,
    preferredInstanceType,
  }: Pick<NodeGroup, 'maxNodes' | 'desiredNodes' | 'preferredInstanceType'>,
  podCount: number,
  monthlyPrice: number | null = null,
): number {
  const free = maxNodes - (desiredNodes ?? 0);
  return (
    100 * podCount +
    (free > 0 ? 50 * free + 200 : 0) +
    (preferredInstanceType === null ? 0 : 100) +
    (monthlyPrice === null || monthlyPrice <= 0 ? 0 : costPoints(monthlyPrice))
  );
}

function costPoints(monthlyPrice: number): number {
  const points = Math.trunc((COST_POINTS.most * REFERENCE_PRICE) / monthlyPrice);
  return Math.min(Math.max(points, COST_POINTS.least), COST_POINTS.most);
}
