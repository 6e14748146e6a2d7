/** What a group may claim, by what is written in the cluster and not by what the caller says of a plan. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { GROUP_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { type PlanClaims, upcomingMachines } from '../../../domain/node-group/plan-claim.ts';
import { growthRefusal, paidFor } from '../../../domain/node-group/rules/growth.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
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
  wanted: Readonly<Record<string, number>>,
): string | null {
  const existing = new Set(machines.map(({ name }) => name));
  const upcoming = upcomingMachines(claims, existing, now).filter((claimed) => claimed.group === group.name);
  const present = paidFor(machines) + upcoming.length;
  return growthRefusal(group, present, wanted);
}

/**
 * Why the group may not have these nodes, by their UIDs, count as leaving; null where it may.
 *
 * @param machines all of the group.
 */
export async function nodesRefusal(
  { core }: Pick<Kubernetes, 'core'>,
  group: string,
  machines: readonly DrivenMachine[],
  uids: readonly string[],
): Promise<string | null> {
  if (uids.length === 0) return null;
  const labelSelector = `${GROUP_LABEL}=${group}`;
  const labelled = await nodeNames({ core }, { labelSelector });
  const known = new Map(labelled.map(({ name, uid }) => [name, uid]));
  const names = machines.flatMap(({ node }) => (node === null ? [] : [node]));
  // Somebody may have taken the label of the group off.
  const own = await inParallel(AT_ONCE, names, async (name) => known.get(name) ?? (await findNode(core, name))?.uid);
  const foreign = uids.find((uid) => !own.includes(uid));
  return foreign === undefined ? null : `${foreign} is the UID of no node of the NodeGroup ${group}`;
}
