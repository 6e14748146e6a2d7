/** Claims of a plan, in its Lease. */
import type { V1Lease } from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../../../domain/kernel/failures.ts';
import {
  type Fence,
  formatClaims,
  parseClaims,
  PLAN_CLAIMS,
  PLAN_LEASE,
  type PlanClaim,
  withClaim,
  withoutMachines,
  withoutRemoval,
  type PlanClaims,
} from '../../../domain/node-group/plan-claim.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { DrainTarget, NodeGroupTarget } from '../../../domain/node-group/target.ts';
import { annotateLease, readLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { writePlanLease } from '../group/write-plan-lease.ts';
import type { MachineOptions } from './options.ts';

export const OVER = 'somebody acted on another plan since this one was made, or it is too late for it';
const NO_CLAIMS: PlanClaims = { plan: '', claims: [] };

type StrikeOptions = Pick<MachineOptions, 'kubernetes' | 'systemNamespace' | 'clock' | 'guard'>;

type ClaimAnswer =
  /** As it is in the Lease. */
  | { readonly claim: PlanClaim }
  /** It may not be acted on, and nothing was written. `detail`: why, a sentence. */
  | { readonly claim: null; readonly detail: string };

/**
 * Claims a part of a plan. Two that claim at once are put in order by the Lease's resourceVersion.
 *
 * @param refusal why the group may not have that, whoever plans it; null where it may. Asked before a claim is written, and not again:
 *   what was claimed counts already.
 */
export async function claimPlan(
  options: StrikeOptions & Pick<MachineOptions, 'log'>,
  target: NodeGroupTarget,
  fence: Fence,
  claim: Omit<PlanClaim, 'at'>,
  refusal: (present: PlanClaims) => string | null,
): Promise<ClaimAnswer> {
  return await retryOnConflict(`the Lease ${PLAN_LEASE}`, async () => {
    const lease = await readLease(options, PLAN_LEASE);
    const present =
      lease === null
        ? null
        : {
            resourceVersion: lease.metadata?.resourceVersion ?? '',
            claims: parseClaims(annotationsOf(lease)[PLAN_CLAIMS]),
          };
    const wanted = { ...claim, at: options.clock.now() };
    const claimed = withClaim(present, fence, wanted);
    if (claimed.kind === 'held') return { claim: claimed.claim };
    if (claimed.kind === 'over') return { claim: null, detail: OVER };
    const detail = refusal(present?.claims ?? NO_CLAIMS);
    if (detail !== null) return { claim: null, detail };
    const annotations = { ...annotationsOf(lease ?? {}), [PLAN_CLAIMS]: formatClaims(claimed.claims) };
    await writePlanLease(options, target, lease, annotations);
    return { claim: wanted };
  });
}

/** Machines that were given up count as coming no longer. */
export async function strikeMachines(
  options: StrikeOptions,
  target: NodeGroupTarget,
  names: ReadonlySet<string>,
): Promise<void> {
  if (names.size === 0) return;
  await strike(options, target, (claims, now) => withoutMachines(claims, names, now));
}

/**
 * The same while the group itself is paused: the Lease is Headroom's own, and pods that count on machines which nobody creates would
 * wait. Nothing is struck while everything is paused, or another controller acts; the claims end by their time.
 */
export async function strikeDespitePause(
  options: StrikeOptions,
  target: NodeGroupTarget,
  names: ReadonlySet<string>,
): Promise<void> {
  const guard = async (): Promise<void> => {
    try {
      await options.guard(target);
    } catch (error) {
      if (!isOfType(error, 'Paused')) throw error;
    }
  };
  try {
    await strikeMachines({ ...options, guard }, target, names);
  } catch (error) {
    if (!isOfType(error, 'GloballyPaused') && !isOfType(error, 'PolicyChanged')) throw error;
  }
}

function isOfType(error: unknown, type: FailureType): boolean {
  return error instanceof ApplicationFailure && error.type === type;
}

/** A node whose drain was undone leaves no longer. */
export async function strikeRemoval(options: StrikeOptions, { uid, ...target }: DrainTarget): Promise<void> {
  await strike(options, target, (claims, now) => withoutRemoval(claims, uid, now));
}

async function strike(
  options: StrikeOptions,
  target: NodeGroupTarget,
  change: (claims: PlanClaims, now: EpochMs) => PlanClaims | null,
): Promise<void> {
  await retryOnConflict(`the Lease ${PLAN_LEASE}`, async () => {
    const lease = await readLease(options, PLAN_LEASE);
    if (lease === null) return;
    const annotations = annotationsOf(lease);
    const claims = change(parseClaims(annotations[PLAN_CLAIMS]), options.clock.now());
    if (claims === null) return;
    await options.guard(target);
    await annotateLease(options, lease, { ...annotations, [PLAN_CLAIMS]: formatClaims(claims) });
  });
}

function annotationsOf({ metadata }: Pick<V1Lease, 'metadata'>): Readonly<Record<string, string>> {
  return metadata?.annotations ?? {};
}
