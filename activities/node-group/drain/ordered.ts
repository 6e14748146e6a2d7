/** Whether a drain was ordered, by what is written in the cluster and not by what its caller says. */
import {
  claimedRemovals,
  countedClaims,
  parseClaims,
  PLAN_CLAIMS,
  PLAN_LEASE,
} from '../../../domain/node-group/plan-claim.ts';
import { isOrphaning } from '../../../domain/node-group/machine/hold.ts';
import { foreignNode } from '../../../domain/node-group/machine/machine-node.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { DrainTarget } from '../../../domain/node-group/target.ts';
import { failure } from '../../kernel/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { readLease } from '../../kubernetes/lease-object.ts';
import type { ServerClock } from '../../kubernetes/server-clock.ts';
import { readGroup } from '../group/group-objects.ts';
import { machinesOfNode } from '../machines/machine-of-node.ts';

interface OrderedOptions {
  readonly kubernetes: Kubernetes;
  /** The namespace of the plan's Lease. */
  readonly systemNamespace: string;
  /** Is set by what is read. */
  readonly clock: ServerClock;
}

/**
 * Asked before anything is done to a node.
 *
 * @param isMarked whether the node has the marks of this drain: it was ordered when they were put on.
 * @throws PolicyChanged, not retried, where the node is none of the group's, whose pauses would be asked in vain; where nobody knows which
 *   machine would be deleted with it; and before it has the marks, where nobody has ordered its drain.
 */
export async function ensureOrdered(
  options: OrderedOptions,
  target: DrainTarget,
  node: Node,
  isMarked: boolean,
): Promise<void> {
  const { group, node: name } = target;
  const machines = await machinesOfNode(options.kubernetes, node);
  const foreign = foreignNode(group, node, machines);
  if (foreign !== null) throw refused(foreign);
  if (isMarked) return;
  const { group: present } = await readGroup(options.kubernetes, group);
  if (present?.mode !== 'act') throw refused(`the NodeGroup ${group} is gone, invalid or observed only`);
  const goesWithGroup = present.isDeleting && !isOrphaning(present);
  if (machines.some(({ isDrainRequested }) => isDrainRequested) || goesWithGroup || (await isClaimed(options, target)))
    return;
  throw refused(`no plan of the last ten minutes has ${name} drained; whoever asked for it asks again`);
}

function refused(message: string): Error {
  return failure({ type: 'PolicyChanged', message, nonRetryable: true });
}

/** Whether the group has claimed the node a short while ago. */
async function isClaimed(options: OrderedOptions, { group, uid }: DrainTarget): Promise<boolean> {
  const lease = await readLease(options, PLAN_LEASE);
  const claims = parseClaims(lease?.metadata?.annotations?.[PLAN_CLAIMS]);
  const own = countedClaims(claims, options.clock.now()).filter((claim) => claim.group === group);
  return claimedRemovals(own).includes(uid);
}
