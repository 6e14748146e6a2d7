/** What a group may claim, by what is written in the cluster and not by what the caller says of a plan. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { GROUP_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { foreignNode, ownersAmong } from '../../../domain/node-group/machine/machine-node.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { NewNodes } from '../../../domain/node-group/model/plan.ts';
import { type PlanClaims, upcomingMachines } from '../../../domain/node-group/plan-claim.ts';
import { mayBeWanted } from '../../../domain/node-group/rules/desired.ts';
import { growthRefusal, paidFor, sizeRefusal } from '../../../domain/node-group/rules/growth.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listEveryMachine } from './machine-objects.ts';
import { findNode, nodeNames } from './node-objects.ts';

const AT_ONCE = 20;

/**
 * Why the group may not have so many more machines, by instance type, beside what is claimed; null where it may.
 *
 * @param machines all of the group, as they were before the claims: what was created since is among those.
 */
export function machinesRefusal(
  group: NodeGroup,
  machines: readonly DrivenMachine[],
  { claims, now }: { readonly claims: PlanClaims; readonly now: EpochMs },
  { wanted, newNodes }: { readonly wanted: Readonly<Record<string, number>>; readonly newNodes: readonly NewNodes[] },
): string | null {
  const existing = new Set(machines.map(({ name }) => name));
  const upcoming = upcomingMachines(claims, existing, now).filter((claimed) => claimed.group === group.name);
  return (
    growthRefusal(group, paidFor(machines) + upcoming.length, wanted) ??
    sizeRefusal(group, machines.filter(mayBeWanted).length + upcoming.length, newNodes)
  );
}

/** Why the group may not have these nodes, by their UIDs, count as leaving; null where it may. */
export async function nodesRefusal(
  kubernetes: Pick<Kubernetes, 'core' | 'custom'>,
  group: string,
  uids: readonly string[],
): Promise<string | null> {
  if (uids.length === 0) return null;
  const machines = await listEveryMachine(kubernetes);
  const labelled = await nodeNames(kubernetes, { labelSelector: `${GROUP_LABEL}=${group}` });
  const known = new Set(labelled.map(({ name }) => name));
  // Somebody may have taken the label of the group off.
  const unlabelled = machines.flatMap(({ node, group: of }) =>
    of !== group || node === null || known.has(node) ? [] : [node],
  );
  const wanted = labelled.filter(({ uid }) => uids.includes(uid)).map(({ name }) => name);
  const nodes = await inParallel(
    AT_ONCE,
    [...wanted, ...unlabelled],
    async (name) => await findNode(kubernetes.core, name),
  );
  const ownersOf = ownersAmong(machines);
  for (const uid of uids) {
    const node = nodes.find((each) => each?.uid === uid) ?? null;
    const refusal =
      node === null
        ? `${uid} is the UID of no node of the NodeGroup ${group}`
        : foreignNode(group, node, ownersOf(node));
    if (refusal !== null) return refusal;
  }
  return null;
}
