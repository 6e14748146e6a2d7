import { quotaResizeId } from '../quota-resize/target.ts';
import type { EpochMs } from '../kernel/time.ts';
import {
  carrierOfLease,
  decisionIdOf,
  isFileLease,
  type LeaseObject,
  legacyNamespaces,
  targetOfLease,
} from '../quota-resize/model/lease.ts';

/** What is so in the cluster and in Temporal, read after the Leases were. */
export interface Surroundings {
  readonly cluster: string;
  readonly namespaces: ReadonlySet<string>;
  /** `<namespace>/<quota>` of every ResourceQuota. */
  readonly quotas: ReadonlySet<string>;
  /** Workflow ids of the quota resizes that run. */
  readonly running: ReadonlySet<string>;
}

/** What to do with a Lease, and why in a sentence. `unlock` takes its holder away; a file's Lease is nothing without one. */
type LeaseEvaluation =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete'; readonly why: string }
  | { readonly kind: 'unlock'; readonly why: string };

/** A workflow that has just begun is in no list of running ones yet. */
const UNLOCK_GRACE_MS = 10 * 60_000;

/** A GitOps tool may delete a quota and create it again; its cooldown and refusals should outlive that. */
const QUOTA_GONE_GRACE_MS = 24 * 60 * 60_000;

const keep: LeaseEvaluation = { kind: 'keep' };

/**
 * Whether a Lease is old. The annotations say whose it is; an earlier tool's Lease has only its name, and goes when no
 * reading of that names a living namespace.
 *
 * @param lastWritten when the Lease was last written.
 */
export function evaluateLease(
  lease: LeaseObject,
  lastWritten: EpochMs,
  surroundings: Surroundings,
  now: EpochMs,
): LeaseEvaluation {
  const { namespaces, quotas, running, cluster } = surroundings;
  const target = targetOfLease(lease);
  if (target === null) {
    const readings = legacyNamespaces(lease.metadata?.name ?? '');
    if (readings.length === 0 || readings.some((namespace) => namespaces.has(namespace))) return keep;
    return { kind: 'delete', why: `none of the namespaces ${readings.join(', ')} exists` };
  }
  const { namespace, quota } = target;
  // A workflow that runs still needs it, also to say goodbye to a quota that is gone. The lock of a quota that another one's
  // pull request raises is that one's; its own workflow only waits for it.
  const carrier = carrierOfLease(lease);
  const owner = { cluster, namespace, quota: carrier ?? quota };
  if (running.has(quotaResizeId(owner))) return keep;

  const holder = lease.spec?.holderIdentity || null;
  const isStale = now - lastWritten > UNLOCK_GRACE_MS;
  if (isFileLease(lease)) {
    return isStale ? { kind: 'unlock', why: `no workflow of ${namespace}/${quota} runs that changes the file` } : keep;
  }
  if (!namespaces.has(namespace)) return { kind: 'delete', why: `the namespace ${namespace} does not exist` };
  if (decisionIdOf(holder) !== null) {
    return isStale ? { kind: 'unlock', why: `no workflow of ${namespace}/${owner.quota} runs that holds it` } : keep;
  }
  if (holder === null && !quotas.has(`${namespace}/${quota}`) && now - lastWritten > QUOTA_GONE_GRACE_MS) {
    return { kind: 'delete', why: `the quota ${namespace}/${quota} does not exist` };
  }
  return keep;
}
