import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import {
  goneNodes,
  type GoneNodes,
  PLAN_WISHES,
  type Wishes,
  withoutNodes,
  withoutWishes,
  withWishes,
} from '../../../domain/node-group/plan-wishes.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { readLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import type { WishesInput } from '../interface.ts';
import { nodeNames } from '../machines/node-objects.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup } from './group-objects.ts';
import { writePlanLease } from './write-plan-lease.ts';

/** See `NodeGroupActivities.ensureWishesKept`. */
export async function ensureWishesKept(
  options: Pick<MachineOptions, 'kubernetes' | 'systemNamespace' | 'now' | 'guard' | 'log'>,
  input: WishesInput,
): Promise<GoneNodes> {
  const { target, uid, wishes, forgetsGone = false } = input;
  const { kubernetes } = options;
  const isThere = (await findGroup(kubernetes, input)) !== null;
  const gone = forgetsGone ? await readGone(kubernetes, wishes) : { names: [], uids: [] };
  await retryOnConflict(`the Lease ${PLAN_LEASE}`, async () => {
    const lease = await readLease(options, PLAN_LEASE);
    const present = lease?.metadata?.annotations ?? {};
    const text = isThere
      ? withWishes(present[PLAN_WISHES], { group: target.group, uid, ...withoutNodes(wishes, gone) }, options.now())
      : withoutWishes(present[PLAN_WISHES], { group: target.group, uid });
    if (text === null) return;
    await writePlanLease(options, target, lease, { ...present, [PLAN_WISHES]: text });
  });
  return gone;
}

async function readGone(kubernetes: Kubernetes, wishes: Wishes): Promise<GoneNodes> {
  const isNothing = [wishes.requested, wishes.failed, wishes.rejected].every(({ length }) => length === 0);
  return goneNodes(wishes, isNothing ? [] : await nodeNames(kubernetes));
}
