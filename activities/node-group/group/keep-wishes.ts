import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import {
  boundNodes,
  goneNodes,
  NO_WISHES,
  PLAN_WISHES,
  type Wishes,
  withBound,
  withoutNodes,
  withoutWishes,
  withWishes,
} from '../../../domain/node-group/plan-wishes.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { readLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import type { KeptWishes, WishesInput } from '../interface.ts';
import { nodeNames } from '../machines/node-objects.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup } from './group-objects.ts';
import { writePlanLease } from './write-plan-lease.ts';

/** See `NodeGroupActivities.ensureWishesKept`. */
export async function ensureWishesKept(
  options: Pick<MachineOptions, 'kubernetes' | 'systemNamespace' | 'clock' | 'guard' | 'log'>,
  input: WishesInput,
): Promise<KeptWishes> {
  const { target, uid, wishes, forgetsGone = false, bindsNodes = false } = input;
  const { kubernetes } = options;
  const isThere = (await findGroup(kubernetes, input)) !== null;
  const { bound, ...gone } = await nodesOf(kubernetes, forgetsGone || bindsNodes ? wishes : NO_WISHES);
  const known = bindsNodes ? withBound(withoutNodes(wishes, gone), bound) : withoutNodes(wishes, gone);
  await retryOnConflict(`the Lease ${PLAN_LEASE}`, async () => {
    const lease = await readLease(options, PLAN_LEASE);
    const present = lease?.metadata?.annotations ?? {};
    const text = isThere
      ? withWishes(present[PLAN_WISHES], { group: target.group, uid, ...known }, options.clock.now())
      : withoutWishes(present[PLAN_WISHES], { group: target.group, uid });
    if (text === null) return;
    await writePlanLease(options, target, lease, { ...present, [PLAN_WISHES]: text });
  });
  return bindsNodes ? { ...gone, bound } : gone;
}

async function nodesOf(kubernetes: Kubernetes, wishes: Wishes): Promise<Required<KeptWishes>> {
  const isNothing = [wishes.requested, wishes.failed, wishes.rejected].every(({ length }) => length === 0);
  const nodes = isNothing ? [] : await nodeNames(kubernetes);
  return { ...goneNodes(wishes, nodes), bound: boundNodes(wishes, nodes) };
}
