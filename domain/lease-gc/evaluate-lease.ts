import { quotaResizeId } from '../quota-resize/target.ts';
import type { EpochMs } from '../kernel/time.ts';
import { GROWTH_MEMORY_MS } from '../quota-resize/policy/recorded-raise.ts';
import {
  carrierOfLease,
  decisionIdOf,
  isFileLease,
  type LeaseObject,
  legacyNamespaces,
  otherHoldersOf,
  readLeaseMemory,
  targetOfLease,
  waitersOf,
} from '../quota-resize/model/lease.ts';

/** The state of the cluster and of Temporal, read after the Leases. */
export interface Surroundings {
  readonly cluster: string;
  readonly namespaces: ReadonlySet<string>;
  /** `<namespace>/<quota>` of every ResourceQuota. */
  readonly quotas: ReadonlySet<string>;
  /** Workflow ids of the quota resizes that run. */
  readonly running: ReadonlySet<string>;
}

/** What to do with a Lease, and why, as a sentence. `unlock` removes the holder; a file's Lease is deleted instead. */
type LeaseEvaluation =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete'; readonly why: string }
  | { readonly kind: 'unlock'; readonly why: string };

/** A workflow that has just started may not be in the list of running ones yet. */
const UNLOCK_GRACE_MS = 10 * 60_000;

/** A GitOps tool may delete a quota or its namespace and create it again; its cooldown should survive that. */
const GONE_GRACE_MS = 24 * 60 * 60_000;

const keep: LeaseEvaluation = { kind: 'keep' };

/**
 * Evaluates whether a Lease can be collected. The annotations name its target; an earlier tool's Lease has only its
 * name, and is deleted when no interpretation of the name is an existing namespace.
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
  // A running workflow still needs it, also to end the decision of a deleted quota. The lock of a batched quota belongs
  // to the batch owner's workflow; the quota's own workflow only waits for it.
  const carrier = carrierOfLease(lease);
  const owner = { cluster, namespace, quota: carrier ?? quota };
  // A file may be changed by the pull requests of several quotas, and others wait for it. Whoever asks for it next drops
  // holders that are over.
  const waiting = isFileLease(lease) ? waitersOf(lease) : [];
  const owners = isFileLease(lease)
    ? [owner, ...[...otherHoldersOf(lease), ...waiting].map((other) => ({ cluster, ...other }))]
    : [owner];
  if (owners.some((one) => running.has(quotaResizeId(one)))) return keep;
  // Waiting does not renew the Lease.
  if (waiting.some(({ until }) => until > now)) return keep;

  const holder = lease.spec?.holderIdentity || null;
  const isStale = now - lastWritten > UNLOCK_GRACE_MS;
  if (isFileLease(lease)) {
    return isStale ? { kind: 'unlock', why: `no workflow of ${namespace}/${quota} runs that changes the file` } : keep;
  }
  // A quota that is made again under its name starts with its history.
  const binds = now < boundUntil(lease);
  if (!namespaces.has(namespace) && !binds) {
    return { kind: 'delete', why: `the namespace ${namespace} does not exist` };
  }
  if (decisionIdOf(holder) !== null) {
    return isStale ? { kind: 'unlock', why: `no workflow of ${namespace}/${owner.quota} runs that holds it` } : keep;
  }
  const isOld = now - lastWritten > GONE_GRACE_MS && !binds;
  if (holder === null && !quotas.has(`${namespace}/${quota}`) && isOld) {
    return { kind: 'delete', why: `the quota ${namespace}/${quota} does not exist` };
  }
  return keep;
}

/** Until when what a quota's Lease remembers of raises, rejections and other ends may hold up another raise. */
function boundUntil(lease: LeaseObject): EpochMs {
  const { raises, rejections, lastModified, lastWithdrawal } = readLeaseMemory(lease).memory;
  const ends = [lastModified ?? 0, lastWithdrawal ?? 0].map((at) => at + GONE_GRACE_MS);
  return Math.max(...ends, ...[...raises, ...rejections].map(({ at }) => at + GROWTH_MEMORY_MS));
}
