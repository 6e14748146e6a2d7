import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { PLAN_WISHES, withoutWishes, withWishes } from '../../../domain/node-group/plan-wishes.ts';
import { annotateLease, createLease, readLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import type { WishesInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup } from './group-objects.ts';

/** See `NodeGroupActivities.ensureWishesKept`. */
export async function ensureWishesKept(
  options: Pick<MachineOptions, 'kubernetes' | 'systemNamespace' | 'now' | 'guard'>,
  input: WishesInput,
): Promise<void> {
  const { target, uid, wishes } = input;
  const isThere = (await findGroup(options.kubernetes, input)) !== null;
  await retryOnConflict(`the Lease ${PLAN_LEASE}`, async () => {
    const lease = await readLease(options, PLAN_LEASE);
    const present = lease?.metadata?.annotations ?? {};
    const text = isThere
      ? withWishes(present[PLAN_WISHES], { group: target.group, uid, ...wishes }, options.now())
      : withoutWishes(present[PLAN_WISHES], { group: target.group, uid });
    if (text === null) return;
    await options.guard(target);
    const annotations = { ...present, [PLAN_WISHES]: text };
    if (lease === null) await createLease(options, { name: PLAN_LEASE, labels: {}, annotations }, null);
    else await annotateLease(options, lease, annotations);
  });
}
