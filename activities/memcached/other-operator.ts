import type { EpochMs } from '../../domain/kernel/time.ts';
import { FORMER_LEASE } from '../../domain/memcached/api/names.ts';
import { orNull } from '../kubernetes/failure.ts';
import { holderOf } from '../kubernetes/lease-object.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';

/**
 * How long a leader may have renewed nothing, in milliseconds, before it counts as gone: several times its own limit of 15 s, as
 * clocks may differ.
 */
const ALIVE_MS = 60_000;

/** The Lease of the first implementation, while a leader renews it; null where none does, or it elects none. */
export async function otherOperator(
  { coordination }: Kubernetes,
  namespace: string,
  now: EpochMs,
): Promise<string | null> {
  const lease = await orNull(coordination.readNamespacedLease({ namespace, name: FORMER_LEASE }));
  const renewed = lease?.spec?.renewTime;
  if (lease === null || renewed === undefined || holderOf(lease) === null) return null;
  return now - new Date(renewed).getTime() < ALIVE_MS ? `${namespace}/${FORMER_LEASE}` : null;
}
