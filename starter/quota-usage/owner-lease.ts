/** Elects the one starter of a cluster that writes the status of quotas: by a Lease, as Kubernetes' controllers do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CoordinationV1Api, type V1Lease, V1MicroTime } from '@kubernetes/client-node';
import type { PolicyTrial } from '../../activities/kernel/policy-proof.ts';
import { statusCode } from '../../activities/kubernetes/failure.ts';
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { holderOf, readLease } from '../../activities/kubernetes/lease-object.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';

export const OWNER_LEASE = 'quota-usage-owner';

/** A write that the owner's role allows, as no right to create is bound to a name, and the policy has to refuse. */
export function otherLeaseTrial(namespace: string): PolicyTrial {
  const body = { metadata: { name: 'headroom-write-trial' }, spec: {} };
  return {
    what: `another Lease than ${OWNER_LEASE}`,
    attempt: async (kubeConfig) =>
      await kubeConfig.makeApiClient(CoordinationV1Api).createNamespacedLease({ namespace, body, dryRun: 'All' }),
  };
}

/** client-go's defaults, in milliseconds: another starter takes over a Lease that was not renewed for so long. */
const LEASE_MS = 15_000;
/** Shorter than the Lease, so that an owner that cannot renew it has stopped before another one begins. */
const RENEW_DEADLINE_MS = 10_000;
const RETRY_MS = 2_000;

export interface OwnerLeaseOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  /** Different for each process. */
  readonly identity: string;
  /** Called when this process becomes the owner. */
  readonly onAcquired: () => void;
  readonly log: Log;
}

/**
 * Whether this process is the owner. Times are of the own clock only: a holder counts as alive for as long as its Lease
 * was seen to change. Two owners for a moment do no harm, because every write names the version that it is about.
 */
export class OwnerLease {
  readonly #options: OwnerLeaseOptions;
  /** As it was read or written last. */
  #lease: V1Lease | null = null;
  /** When its present version was seen first. */
  #changedAt = 0;
  #ownerUntil = Number.NEGATIVE_INFINITY;
  #trouble = '';

  constructor(options: OwnerLeaseOptions) {
    this.#options = options;
  }

  get isOwner(): boolean {
    return performance.now() < this.#ownerUntil;
  }

  /** Acquires and renews the Lease until the signal is aborted; then gives it up, so that another starter need not wait. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, onAcquired, identity } = this.#options;
    while (!signal.aborted) {
      const wasOwner = this.isOwner;
      try {
        const since = performance.now();
        if (await this.#acquireOrRenew(since)) this.#ownerUntil = since + RENEW_DEADLINE_MS;
        else this.#ownerUntil = Number.NEGATIVE_INFINITY;
        this.#trouble = '';
      } catch (error) {
        this.#lease = null;
        const { reason } = failureOf(error);
        if (reason !== this.#trouble) log.warn({ lease: OWNER_LEASE, reason }, 'the Lease could not be renewed');
        this.#trouble = reason;
      }
      if (this.isOwner && !wasOwner) {
        log.info({ lease: OWNER_LEASE, identity }, 'this starter writes the status of quotas from now on');
        onAcquired();
      } else if (wasOwner && !this.isOwner) {
        log.warn({ lease: OWNER_LEASE }, 'this starter does not write the status of quotas any more');
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
    await this.#release();
  }

  async #acquireOrRenew(now: number): Promise<boolean> {
    const { identity } = this.#options;
    // The own Lease is renewed as it was written, without being read.
    const lease =
      this.#lease !== null && holderOf(this.#lease) === identity
        ? this.#lease
        : await readLease(this.#options, OWNER_LEASE);
    if (lease?.metadata?.resourceVersion !== this.#lease?.metadata?.resourceVersion) this.#changedAt = now;
    this.#lease = lease;
    const holder = lease === null ? null : holderOf(lease);
    if (holder !== null && holder !== identity && now - this.#changedAt < LEASE_MS) return false;
    return await this.#write(lease, identity);
  }

  /** False when somebody else has written it meanwhile. */
  async #write(lease: V1Lease | null, holder: string): Promise<boolean> {
    const { kubernetes, systemNamespace: namespace } = this.#options;
    const { coordination } = kubernetes;
    const now = new V1MicroTime(Date.now());
    const isSame = lease !== null && holderOf(lease) === holder;
    const acquired = isSame ? lease.spec?.acquireTime : undefined;
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: LEASE_MS / 1_000,
      acquireTime: acquired === undefined ? now : new V1MicroTime(acquired),
      renewTime: now,
      leaseTransitions: (lease?.spec?.leaseTransitions ?? 0) + (isSame ? 0 : 1),
    };
    try {
      this.#lease =
        lease === null
          ? await coordination.createNamespacedLease({ namespace, body: { metadata: { name: OWNER_LEASE }, spec } })
          : await coordination.replaceNamespacedLease({
              name: OWNER_LEASE,
              namespace,
              body: { metadata: lease.metadata ?? {}, spec },
            });
      return true;
    } catch (error) {
      if (statusCode(error) !== 409 && statusCode(error) !== 404) throw error;
      this.#lease = null;
      return false;
    }
  }

  async #release(): Promise<void> {
    const lease = this.#lease;
    if (!this.isOwner || lease === null) return;
    this.#ownerUntil = Number.NEGATIVE_INFINITY;
    // Without it another starter waits until the Lease is over.
    await this.#write(lease, '').catch(() => {});
  }
}
