/**
 * Reads and writes Leases in Headroom's namespace. Every write contains the resourceVersion that was read, so that no
 * write overwrites another.
 */
import {
  ApiException,
  PatchStrategy,
  setHeaderOptions,
  V1Lease,
  V1MicroTime,
  V1ObjectMeta,
} from '@kubernetes/client-node';
import { orNull } from './failure.ts';
import type { Kubernetes } from './kubernetes.ts';
import type { ServerClock } from './server-clock.ts';

/** The namespace of the Leases. */
export interface LeaseNamespace {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
}

interface LeaseReading extends LeaseNamespace {
  /** Is set by the answer; absent: nobody goes by it. */
  readonly clock?: ServerClock | undefined;
}

type Annotations = Readonly<Record<string, string>>;

/** The holder of a Lease; both a missing and an empty holder mean unlocked. */
export function holderOf(lease: V1Lease): string | null {
  return lease.spec?.holderIdentity || null;
}

export async function readLease(
  { kubernetes, systemNamespace, clock }: LeaseReading,
  name: string,
): Promise<V1Lease | null> {
  const read = async () =>
    await kubernetes.coordination.readNamespacedLeaseWithHttpInfo({ name, namespace: systemNamespace }).then(
      ({ headers, data }) => ({ headers, lease: data }),
      // That there is none is an answer as well.
      (error: unknown) => {
        if (error instanceof ApiException && error.code === 404) return { headers: error.headers, lease: null };
        throw error;
      },
    );
  const { lease } = clock === undefined ? await read() : await clock.timed(read, ({ headers }) => headers['date']);
  return lease;
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
  leases: LeaseNamespace,
  lease: V1Lease,
  holder: string | null,
  annotations: Annotations = lease.metadata?.annotations ?? {},
): Promise<void> {
  await writeLease(leases, lease, specWith(lease.spec, holder), annotations);
}

/**
 * Writes a Lease that was read, with a holder that acquired it at some other moment than now.
 *
 * @throws ApiException 409 when the Lease changed since it was read.
 */
export async function replaceLeaseHeldSince(
  leases: LeaseNamespace,
  lease: V1Lease,
  { holder, since }: { readonly holder: string; readonly since: number },
  annotations: Annotations,
): Promise<void> {
  const spec = Object.assign(specWith(lease.spec, holder), { acquireTime: new V1MicroTime(since) });
  await writeLease(leases, lease, spec, annotations);
}

/**
 * Writes a Lease that was read with other annotations: neither its holder nor its times change.
 *
 * @throws ApiException 409 when the Lease changed since it was read.
 */
export async function annotateLease(leases: LeaseNamespace, lease: V1Lease, annotations: Annotations): Promise<void> {
  const { acquireTime, renewTime, ...rest } = lease.spec ?? {};
  const spec = {
    ...rest,
    ...(acquireTime === undefined ? {} : { acquireTime: new V1MicroTime(acquireTime) }),
    ...(renewTime === undefined ? {} : { renewTime: new V1MicroTime(renewTime) }),
  };
  await writeLease(leases, lease, spec, annotations);
}

/** Whatever else the Lease has stays as it was read. */
async function writeLease(
  { kubernetes, systemNamespace: namespace }: LeaseNamespace,
  lease: V1Lease,
  spec: NonNullable<V1Lease['spec']>,
  annotations: Annotations,
): Promise<void> {
  const metadata = Object.assign(new V1ObjectMeta(), lease.metadata, { annotations });
  const body = Object.assign(new V1Lease(), lease, { metadata, spec });
  await kubernetes.coordination.replaceNamespacedLease({ name: lease.metadata?.name ?? '', namespace, body });
}

/** Changes a part of a Lease, whatever else has changed in it since it was read. */
export async function patchLease(
  { kubernetes, systemNamespace: namespace }: LeaseNamespace,
  name: string,
  body: object,
  dryRun?: 'All',
): Promise<void> {
  const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
  await kubernetes.coordination.patchNamespacedLease(
    { name, namespace, body, ...(dryRun === undefined ? {} : { dryRun }) },
    mergePatch,
  );
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

/** When the holder of a Lease acquired it, in milliseconds. */
export function acquiredAt(lease: V1Lease): number {
  const acquired = lease.spec?.acquireTime;
  return acquired === undefined ? lastWritten(lease) : new Date(acquired).getTime();
}

/** When a Lease was written last, in milliseconds; the client gives the time as a text. */
export function lastWritten(lease: V1Lease): number {
  const written = lease.spec?.renewTime ?? lease.metadata?.creationTimestamp;
  // An unknown time counts as now, which keeps the Lease.
  return written === undefined ? Date.now() : new Date(written).getTime();
}
