/** What a group may claim, by what is written in the cluster and not by what the caller says of a plan. */
import { GROUP_LABEL } from '../../../domain/node-group/api/names.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { type PlanClaims, upcomingMachines } from '../../../domain/node-group/plan-claim.ts';
import { growthRefusal } from '../../../domain/node-group/rules/growth.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { listAll } from '../../kubernetes/list.ts';
import { listAllMachines } from './machine-objects.ts';
import { findNode } from './node-objects.ts';
import type { MachineOptions } from './options.ts';

type ReadOptions = Pick<MachineOptions, 'kubernetes' | 'now'>;
const AT_ONCE = 20;

/**
 * Reads the machines of a group.
 *
 * @returns why the group may not have so many more, by instance type, beside what is claimed; null where it may. What was created since the
 *   read is among the claims.
 */
export async function machinesRefusal(
  { kubernetes, now }: ReadOptions,
  group: NodeGroup,
  wanted: Readonly<Record<string, number>>,
): Promise<(claims: PlanClaims) => string | null> {
  const machines = await listAllMachines(kubernetes, group.name);
  const existing = new Set(machines.map(({ name }) => name));
  return (claims) => {
    const upcoming = upcomingMachines(claims, existing, now()).filter((claimed) => claimed.group === group.name);
    const present = machines.filter(({ phase }) => phase !== 'Failed').length + upcoming.length;
    return growthRefusal(group, present, wanted);
  };
}

/** Why the group may not have these nodes, by their UIDs, count as leaving; null where it may. */
export async function nodesRefusal(
  { kubernetes }: ReadOptions,
  group: string,
  uids: readonly string[],
): Promise<string | null> {
  if (uids.length === 0) return null;
  const labelSelector = `${GROUP_LABEL}=${group}`;
  const [machines, labelled] = await Promise.all([
    listAllMachines(kubernetes, group),
    listAll((range) => kubernetes.core.listNode({ ...range, labelSelector })),
  ]);
  const known = new Map(labelled.map(({ metadata }) => [metadata?.name, metadata?.uid]));
  const names = machines.flatMap(({ node }) => (node === null ? [] : [node]));
  // Somebody may have taken the label of the group off.
  const own = await inParallel(
    AT_ONCE,
    names,
    async (name) => known.get(name) ?? (await findNode(kubernetes.core, name))?.uid,
  );
  const foreign = uids.find((uid) => !own.includes(uid));
  return foreign === undefined ? null : `${foreign} is the UID of no node of the NodeGroup ${group}`;
}
