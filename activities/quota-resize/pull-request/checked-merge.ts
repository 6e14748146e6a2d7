/** What the gate has checked: it alone is compared with the commits, merged and recorded, whatever the Leases say by then. */
import { isDeepStrictEqual } from 'node:util';
import { targetName } from '../../../domain/kernel/target.ts';
import {
  type BatchedQuota,
  type Decision,
  decidedLimits,
  isHeldIn,
  type OpenDecision,
} from '../../../domain/quota-resize/model/decision.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { LockOwner } from '../lease/file-lock.ts';
import { type ExpectedRaise, expectRaise, forgetRaise, type QuotaRaise } from '../lease/raises.ts';
import type { LeaseStore } from '../lease/lease.ts';
import { policyChanged } from './policy-guard.ts';

/** A decision as the gate has read and checked it. */
export interface CheckedDecision extends LockOwner {
  readonly decision: OpenDecision;
  /** What its merge raises, from the limits in the cluster. */
  readonly raises: readonly QuotaRaise[];
}

/** A pull request that may be merged as long as these are its decisions. */
export interface CheckedMerge {
  readonly own: CheckedDecision;
  /** In the order of their commits. */
  readonly joined: readonly CheckedDecision[];
}

/** Whether it says nothing else of what is merged than the decision that was checked. */
export function isAsChecked(now: Decision | null, checked: OpenDecision): boolean {
  return now !== null && isDeepStrictEqual(mergedPart(now), mergedPart(checked));
}

/** What a merge writes, where, and for whom. Not what a workflow adds to its decision meanwhile, such as evidence. */
function mergedPart(decision: Decision): unknown {
  const { id, quotaUid, demandByMessage, source, pullRequest, readyAt, batchedQuotas = [], joined = [] } = decision;
  return [
    [id, quotaUid, demandByMessage, readyAt],
    [source?.repository, source?.base, source?.placement],
    [pullRequest?.repository, pullRequest?.number, pullRequest?.headSha, pullRequest?.branch, pullRequest?.base],
    [pullRequest?.path, pullRequest?.joinedTo],
    decidedLimits(decision),
    batchedQuotas.map((one: BatchedQuota) => [
      [one.quota, one.quotaUid, one.demandByMessage, one.placement],
      decidedLimits(one),
    ]),
    joined.filter(isHeldIn).map(({ namespace, quota, decision: theirs, limits }) => [namespace, quota, theirs, limits]),
  ];
}

/** Leases that are written in parallel. */
const WRITTEN_AT_ONCE = 4;

/** The raises that one request to merge has written into the Leases. */
export interface Expected {
  readonly raises: readonly ExpectedRaise[];
}

/**
 * Records all raises right before the forge is asked to merge them.
 *
 * @throws {ApplicationFailure} PolicyChanged when a Lease holds another decision than the one that was checked.
 */
export async function expectAll(leases: LeaseStore, { own, joined }: CheckedMerge): Promise<Expected> {
  const all = [own, ...joined].flatMap((checked) => checked.raises.map((raise) => ({ checked, raise })));
  const written = await inParallel(WRITTEN_AT_ONCE, all, async ({ checked: { target, decision }, raise }) => {
    // The Lease of a batched quota has no decision of its own.
    const hasDecision = targetName(raise.target) === targetName(target);
    const isChecked = (now: Decision | null): boolean => !hasDecision || isAsChecked(now, decision);
    return { target, expected: await expectRaise({ leases }, raise, isChecked) };
  });
  const raises = written.flatMap(({ expected }) => expected ?? []);
  const other = written.find(({ expected }) => expected === null);
  if (other === undefined) return { raises };
  await forgetAll(leases, { raises });
  throw policyChanged(other.target, 'merge', 'its Lease holds another decision');
}

/** Forgets them, unless an earlier request whose answer was lost may still come to its end. */
export async function forgetAll(leases: LeaseStore, { raises }: Expected): Promise<void> {
  if (raises.some(({ wasPending }) => wasPending)) return;
  for (const one of raises) await forgetRaise({ leases }, one);
}
