/** The Lease of a guardrail: only one merge at a time is checked against its totals. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { guardrailLeaseName, quotaLeaseLabels } from '../../../domain/quota-resize/model/lease.ts';
import { WRITE_TIMEOUT_MS } from '../../../domain/quota-resize/model/timings.ts';
import { failure } from '../../kernel/failure.ts';
import { statusCode } from '../../kubernetes/failure.ts';
import {
  createLease,
  deleteLease,
  holderOf,
  lastWritten,
  type LeaseNamespace,
  readLease,
  replaceLease,
} from '../../kubernetes/lease-object.ts';

/** Longer than a merge may take, with its checks and with clocks that differ: a holder that is older is gone. */
export const GUARDRAIL_LOCK_EXPIRES_MS = WRITE_TIMEOUT_MS + 60_000;
const RETRY_MS = 250;
/** How long an attempt waits for others; it is retried afterwards. */
const WAIT_MS = 20_000;

/** Where the locks are, and what is logged about them. */
interface GuardrailLocks extends LeaseNamespace {
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Goes on holding the lock, from now on for as long as a merge may take.
 *
 * @throws {ApplicationFailure} KubernetesUnavailable when it is lost.
 */
type Renew = () => Promise<void>;

/**
 * Runs a task while nobody else runs one for the same guardrail.
 *
 * @param holder who runs it, for people.
 * @param task calls `renew` right before it writes: a lock that was held for too long may be somebody else's.
 * @throws {ApplicationFailure} KubernetesUnavailable when others held it all the time.
 */
export async function withGuardrailLock<Result>(
  leases: GuardrailLocks,
  guardrail: string,
  holder: string,
  task: (renew: Renew) => Promise<Result>,
): Promise<Result> {
  const name = guardrailLeaseName(guardrail);
  const deadline = Date.now() + WAIT_MS;
  while (!(await acquired(leases, name, holder, guardrail))) {
    if (Date.now() > deadline) {
      throw failure({
        type: 'KubernetesUnavailable',
        message: `the Lease ${leases.systemNamespace}/${name} of guardrail ${guardrail} is held by another merge`,
      });
    }
    await delay(RETRY_MS);
  }
  try {
    return await task(async () => {
      const lease = await readLease(leases, name);
      const isHeld = lease !== null && holderOf(lease) === holder;
      if (isHeld && (await ignoringConflict(replaceLease(leases, lease, holder)))) return;
      throw failure({
        type: 'KubernetesUnavailable',
        message: `the Lease ${leases.systemNamespace}/${name} of guardrail ${guardrail} was lost before the merge`,
      });
    });
  } finally {
    await giveBack(leases, name, holder);
  }
}

/** What the task has done stays done: a lock that cannot be given back expires. */
async function giveBack(leases: GuardrailLocks, name: string, holder: string): Promise<void> {
  try {
    const lease = await readLease(leases, name);
    if (lease !== null && holderOf(lease) === holder) await ignoringConflict(deleteLease(leases, lease));
  } catch (error) {
    leases.log.warn({ lease: name, error: String(error) }, `the Lease ${name} could not be given back, and expires`);
  }
}

async function acquired(leases: LeaseNamespace, name: string, holder: string, guardrail: string): Promise<boolean> {
  const lease = await readLease(leases, name);
  if (lease === null) {
    const annotations = { 'headroom.io/guardrail': guardrail };
    return await ignoringConflict(
      createLease(
        leases,
        { name, labels: { ...quotaLeaseLabels, 'headroom.io/kind': 'guardrail' }, annotations },
        holder,
      ),
    );
  }
  const before = holderOf(lease);
  // An earlier attempt of the same merge may have ended without giving it back.
  if (before !== null && before !== holder && Date.now() < lastWritten(lease) + GUARDRAIL_LOCK_EXPIRES_MS) return false;
  return await ignoringConflict(replaceLease(leases, lease, holder));
}

/** False where somebody else was faster. */
async function ignoringConflict(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (statusCode(error) === 409) return false;
    throw error;
  }
}
