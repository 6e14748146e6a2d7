/**
 * Reads and writes Leases in Headroom's namespace. Every write contains the resourceVersion that was read, so that no
 * write overwrites another.
 */
import { V1Lease, V1MicroTime, V1ObjectMeta } from '@kubernetes/client-node';
import { orNull } from './failure.ts';
import type { Kubernetes } from './kubernetes.ts';

/** The namespace of the Leases. */
export interface LeaseNamespace {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
}

type Annotations = Readonly<Record<string, string>>;

/** The holder of a Lease; both a missing and an empty holder mean unlocked. */
export function holderOf(lease: V1Lease): string | null {
  return lease.spec?.holderIdentity || null;
}

export async function readLease(
  { kubernetes, systemNamespace }: LeaseNamespace,
  name: string,
): Promise<V1Lease | null> {
  return await orNull(kubernetes.coordination.readNamespacedLease({ name, namespace: systemNamespace }));
}

/** @throws ApiException 409 when the Lease exists. */
export async function createLease(
  { kubernetes, systemNamespace: namespace }: LeaseNamespace,
  {
    name,
    labels,
    annotations,
  }: { readonly name: string; readonly labels: Annotations; readonly annotations: Annotations },
  holder: string | null,
): Promise<void> {
  const metadata = { name, namespace, labels: { ...labels }, annotations: { ...annotations } };
  const body = { metadata, spec: specWith(undefined, holder) };
  await kubernetes.coordination.createNamespacedLease({ namespace, body });
}

/**
 * Writes a Lease that was read, with a new holder (null: unlocked), and with new annotations if given.
 *
 * @throws ApiException 409 when the Lease changed since it was read.
 */
export async function replaceLease(
  { kubernetes, systemNamespace: namespace }: LeaseNamespace,
  lease: V1Lease,
  holder: string | null,
  annotations: Annotations = lease.metadata?.annotations ?? {},
): Promise<void> {
  const metadata = Object.assign(new V1ObjectMeta(), lease.metadata, { annotations });
  const body = Object.assign(new V1Lease(), lease, { metadata, spec: specWith(lease.spec, holder) });
  const name = lease.metadata?.name ?? '';
  await kubernetes.coordination.replaceNamespacedLease({ name, namespace, body });
}

/** Deletes exactly the Lease that was read; throws the API server's 409 when it changed since. */
export async function deleteLease({ kubernetes, systemNamespace }: LeaseNamespace, lease: V1Lease): Promise<void> {
  const { name = '', uid, resourceVersion } = lease.metadata ?? {};
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  await orNull(
    kubernetes.coordination.deleteNamespacedLease({ name, namespace: systemNamespace, body: { preconditions } }),
  );
}

/** The spec of a Lease that this holder acquires now. */
function specWith(spec: V1Lease['spec'], holder: string | null): NonNullable<V1Lease['spec']> {
  const now = new V1MicroTime(Date.now());
  const { holderIdentity, acquireTime, ...rest } = spec ?? {};
  const kept = acquireTime === undefined ? {} : { acquireTime: new V1MicroTime(acquireTime) };
  if (holder === null) return { ...rest, ...kept, renewTime: now };
  if (holder === holderIdentity) return { ...rest, ...kept, holderIdentity: holder, renewTime: now };
  const leaseTransitions = (rest.leaseTransitions ?? 0) + 1;
  return { ...rest, holderIdentity: holder, acquireTime: now, renewTime: now, leaseTransitions };
}
