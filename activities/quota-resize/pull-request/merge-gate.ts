/**
 * The last check before a merge. It believes nothing but the target: the decision and its approval come from the Lease,
 * the policy from the annotations and the guardrails as they are now.
 */
import { equalLists } from '../../../domain/kernel/resource-list.ts';
import type { Logger } from 'pino';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { isFor } from '../../../domain/quota-resize/decide/approval.ts';
import {
  approvalRequirementOf,
  approvalRequirementOfDecision,
} from '../../../domain/quota-resize/decide/approval-requirement.ts';
import {
  type Approval,
  type ApprovalRequirement,
  type BatchedQuota,
  type Decision,
  decidedLimits,
  isDemandByMessage,
  isHeldIn,
  type JoinedDecision,
  type LimitChange,
  type Merge,
  type OpenDecision,
} from '../../../domain/quota-resize/model/decision.ts';
import { verifiedApproval, type VerifiedSources } from '../../../domain/quota-resize/decide/verified-approval.ts';
import { asksForVerified } from '../../../domain/quota-resize/policy/guardrail.ts';
import { forbiddenPlace } from '../../../domain/quota-resize/policy/allowed-place.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { currentWorkflow } from '../../kernel/audit.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { orNull, withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { ForgeApproval } from '../../forge/forge.ts';
import { withGuardrailLock } from '../lease/guardrail-lock.ts';
import { type QuotaRaise, recordEnd, recordMerge } from '../lease/raises.ts';
import { policyOf } from '../quota/policy-of-quota.ts';
import { type NeedOptions, type ReadRequirements, requirementsOnce } from '../quota/needed.ts';
import { readTotals, type Totals } from '../quota/totals.ts';
import {
  type CheckedDecision,
  type CheckedMerge,
  type Expected,
  expectAll,
  forgetAll,
  isAsChecked,
} from './checked-merge.ts';
import { policyChanged } from './policy-guard.ts';
import { type RaisedQuota, type RaisedQuotas, readRaised } from './raised-quota.ts';
import { assertUnattended } from './unattended.ts';
import type { PullRequestEnds } from '../lease/ends.ts';

/** The approving reviews of the pull request that hold. */
type Reviews = () => Promise<readonly ForgeApproval[]>;

export interface MergeGate {
  /**
   * The decision in the quota's Lease, with its pull request.
   *
   * @throws {ApplicationFailure} PolicyChanged when the Lease has another one, or none with a pull request.
   */
  recorded(target: QuotaTarget, decisionId: string): Promise<OpenDecision>;
  /**
   * Merges, if everything still allows it. Totals of a guardrail stay as they were checked until the merge is done.
   *
   * @param merge gets what was checked, which alone it may merge. It has to call `expect` right before it asks the forge: from
   *   then on the Leases count the raises as merged, until `ended` or `refused` says what became of them.
   * @param reviews asked only where an approval has to be verified; absent: there are none.
   * @throws {ApplicationFailure} PolicyChanged when something forbids it.
   */
  merging<Result>(
    target: QuotaTarget,
    decision: OpenDecision,
    merge: (checked: CheckedMerge, expect: () => Promise<Expected>) => Promise<Result>,
    reviews?: Reviews,
  ): Promise<Result>;
  /**
   * Records in the Leases that the decision's pull request is merged, as the forge says.
   *
   * @param expected what this request has written; null where it was merged already.
   */
  ended(target: QuotaTarget, decision: OpenDecision, merge: Merge, expected: Expected | null): Promise<void>;
  /** Records in the Leases that the forge has refused this request, and the pull request is not merged. */
  refused(expected: Expected): Promise<void>;
}

interface MergeGateOptions extends NeedOptions {
  readonly systemNamespace: string;
  readonly ends: PullRequestEnds;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** What a merge is checked with besides its decision. */
interface Given {
  /** The policy of the namespace, for the guardrail whose totals are locked. */
  readonly guarded: ResizePolicy;
  readonly reviews: Reviews;
  readonly needs: ReadRequirements;
}

/** Decisions and quotas of one pull request that are read in parallel. */
const READ_AT_ONCE = 4;

export function createMergeGate(options: MergeGateOptions): MergeGate {
  const recorded = withKubernetesFailures(async (target: QuotaTarget, decisionId: string) =>
    recordedDecision(options, target, decisionId),
  );
  const check = withKubernetesFailures(
    async (target: QuotaTarget, decision: OpenDecision, given: Given): Promise<CheckedMerge> => {
      const now = await recordedDecision(options, target, decision.id);
      if (!isSameHead(now, decision)) {
        throw policyChanged(target, 'merge', 'its Lease records another head of the pull request');
      }
      if (!isAsChecked(now, decision)) {
        throw policyChanged(target, 'merge', 'its Lease records another decision than the one that is to be merged');
      }
      const totals = await readTotals(options, given.guarded);
      const checked = async (other: QuotaTarget, theirs: OpenDecision): Promise<CheckedDecision & Allowed> => {
        const allowed = await assertMayBeMerged(options, other, theirs, { ...given, totals });
        return { target: other, decision: theirs, ...allowed };
      };
      const own = await checked(target, now);
      const joined = await inParallel(READ_AT_ONCE, heldIn(target, now), async ({ target: other, joined: one }) => {
        const theirs = await recordedDecision(options, other, one.decision);
        assertLetsMerge(other, theirs, { owner: now, joined: one });
        return await checked(other, theirs);
      });
      for (const one of [own, ...joined]) {
        if (one.approval !== null) auditApproval(options.log, one.target, one.decision, one.approval);
      }
      return { own, joined };
    },
  );
  const ahead = withKubernetesFailures(async (target: QuotaTarget, decision: OpenDecision, needs: ReadRequirements) =>
    readAhead(options, target, decision, needs),
  );
  const expectChecked = withKubernetesFailures(
    async (checked: CheckedMerge) => await expectAll(options.leases, checked),
  );
  return {
    recorded,
    async merging(target, decision, merge, reviews = () => Promise.resolve([])) {
      const { namespace: name } = target;
      const namespace = await orNull(options.kubernetes.core.readNamespace({ name }));
      const { policy: guarded } = policyOf(options.policyDefaults, name, namespace, null);
      const needs = requirementsOnce(options);
      const checked = async (renewLock?: () => Promise<void>): Promise<Awaited<ReturnType<typeof merge>>> => {
        const all = await check(target, decision, { guarded, reviews: once(reviews), needs });
        await renewLock?.();
        return await merge(all, async () => await expectChecked(all));
      };
      if (Object.keys(guarded.guardrail.totals).length === 0) return await checked();
      await ahead(target, decision, needs);
      const holder = `${targetName(target)}/${decision.id}`;
      return await withGuardrailLock(options, guarded.guardrail.name, holder, checked);
    },
    ended: withKubernetesFailures(async (target, decision, merge, expected) => {
      const { pullRequest, batchedQuotas = [] } = decision;
      const raiseFor = (quota: QuotaTarget): QuotaRaise['raise'] | undefined =>
        expected?.raises.find((one) => targetName(one.target) === targetName(quota))?.raise;
      const others = [
        ...batchedQuotas.map(({ quota }) => ({ ...target, quota })),
        ...heldIn(target, decision).map((one) => one.target),
      ];
      const end = { kind: 'merged', at: merge.at, isOwn: merge.isOwn === true } as const;
      for (const other of others) {
        const raise = raiseFor(other);
        await recordEnd(options, other, pullRequest, raise === undefined ? end : { ...end, raise });
      }
      // The own one last: while it is pending, so may be the others.
      const raise = raiseFor(target) ?? raiseOf(decision, decision.changes, false);
      await recordMerge(options, { target, raise }, merge);
    }),
    refused: withKubernetesFailures(async (expected) => await forgetAll(options.leases, expected)),
  };
}

/** The decisions that joined the pull request and are still in it. */
function heldIn(
  target: QuotaTarget,
  { joined = [] }: OpenDecision,
): readonly { readonly target: QuotaTarget; readonly joined: JoinedDecision }[] {
  return joined
    .filter(isHeldIn)
    .map((one) => ({ target: { ...target, namespace: one.namespace, quota: one.quota }, joined: one }));
}

/** What takes long to read: what was needed some seconds before a merge may be merged, so that others do not wait for it. */
async function readAhead(
  options: MergeGateOptions,
  target: QuotaTarget,
  decision: OpenDecision,
  needs: ReadRequirements,
): Promise<void> {
  const others = heldIn(target, decision).map((one) => ({ target: one.target, id: one.joined.decision }));
  await inParallel(READ_AT_ONCE, [{ target, id: decision.id }, ...others], async (one) => {
    const theirs = await recordedDecision(options, one.target, one.id);
    // Whatever it says of an approval: that is asked anew under the lock.
    await needs(one.target, theirs);
  });
}

/** All decisions that are merged together have the same pull request. */
function once(reviews: Reviews): Reviews {
  let read: ReturnType<Reviews> | undefined;
  return async () => await (read ??= reviews());
}

function isSameHead(a: Pick<Decision, 'pullRequest'>, b: OpenDecision): boolean {
  return a.pullRequest?.headSha === b.pullRequest.headSha && a.pullRequest.number === b.pullRequest.number;
}

async function recordedDecision(
  { leases }: MergeGateOptions,
  target: QuotaTarget,
  decisionId: string,
): Promise<OpenDecision> {
  const { decision } = await leases.read(target);
  if (decision?.id !== decisionId) {
    throw policyChanged(target, 'merge', `its Lease does not hold decision ${decisionId}`);
  }
  const { pullRequest } = decision;
  if (pullRequest === null) throw policyChanged(target, 'merge', 'its Lease records no pull request');
  return { ...decision, pullRequest, merge: null };
}

/** @throws {ApplicationFailure} PolicyChanged when a decision that joined does not let this head be merged. */
function assertLetsMerge(
  target: QuotaTarget,
  theirs: OpenDecision,
  { owner, joined }: { readonly owner: OpenDecision; readonly joined: JoinedDecision },
): void {
  const { number, headSha } = owner.pullRequest;
  const { joinedTo } = theirs.pullRequest;
  const isSame = joinedTo?.decision === owner.id && theirs.pullRequest.number === number;
  if (isSame && theirs.readyAt === headSha && equalLists(joined.limits, decidedLimits(theirs))) return;
  throw policyChanged(target, 'merge', `its decision does not let pull request #${number} be merged at this head`);
}

/** What allows a merge, and what is raised by it. */
interface Allowed {
  /** The approval that the decision needs; null where it needs none. */
  readonly approval: Approval | null;
  readonly raises: readonly QuotaRaise[];
}

/**
 * @throws {ApplicationFailure} PolicyChanged when something forbids the merge.
 */
async function assertMayBeMerged(
  options: MergeGateOptions,
  target: QuotaTarget,
  decision: OpenDecision,
  { guarded, reviews, needs, totals }: Given & { readonly totals: Totals },
): Promise<Allowed> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const read = { decision, totals };
  const raised = await readRaised(options, target, decision, read);
  const { policy } = raised;
  // Only the totals of one guardrail are locked meanwhile.
  if (policy.guardrail.name !== guarded.guardrail.name) throw refuse('another guardrail holds for its namespace');
  const place = forbiddenPlace(policy.guardrail, target, placeOf(decision));
  if (place !== null) throw refuse(place);
  const batched = await inParallel(READ_AT_ONCE, decision.batchedQuotas ?? [], async (one) => ({
    one,
    current: await readRaised(options, { ...target, quota: one.quota }, one, read),
  }));
  const batchedQuotas = batched.map(({ one, current }): BatchedQuota => {
    const byMessage = isDemandByMessage(one);
    return { ...one, approvalRequirement: approvalRequirementOf(current.policy, current.changes, byMessage) };
  });
  const all: RaisedQuotas = [raised, ...batched.map(({ current }) => current)];
  const { demandByMessage } = decision;
  const { changes } = raised;
  const requirement = approvalRequirementOfDecision(raised.policy, { changes, demandByMessage, batchedQuotas });
  const approval =
    requirement === null
      ? null
      : await givenApproval(raised, { ...decision, approvalRequirement: requirement }, reviews);
  if (approval === null) await assertUnattended(options.usage, decision, all, needs);
  const raises = all.map(
    ({ target: quota, changes: theirs }): QuotaRaise => ({
      target: quota,
      raise: raiseOf(decision, theirs, approval !== null),
    }),
  );
  return { approval, raises };
}

/**
 * The approval of what needs one.
 *
 * @throws {ApplicationFailure} PolicyChanged when nobody has given it.
 */
async function givenApproval(
  { target, policy, lease }: RaisedQuota,
  approved: OpenDecision & { readonly approvalRequirement: ApprovalRequirement },
  reviews: Reviews,
): Promise<Approval> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const { approval, approvalRequirement: requirement } = approved;
  if (asksForVerified(policy) || approval?.verified !== undefined) {
    // Whoever vouched for the name is asked again: the decision says only what the workflow believed.
    const { headSha } = approved.pullRequest;
    const ofReviews = async (): Promise<VerifiedSources> => ({
      reviews: { headSha, approvals: (await reviews()).filter((review) => review.headSha === headSha) },
    });
    const verified =
      verifiedApproval(approved, { lease: lease.approval }) ?? verifiedApproval(approved, await ofReviews());
    if (verified !== null) return verified;
    throw refuse(`nobody whose name is verified has approved it, and ${requirement.message}`);
  }
  if (approval === undefined || !isFor(approval, approved)) {
    throw refuse(`nobody has approved it, and ${requirement.message}`);
  }
  return approval;
}

/** The audit log has who approved what is merged now, and who has verified that it was him. */
function auditApproval(
  log: MergeGateOptions['log'],
  target: QuotaTarget,
  { id, pullRequest }: OpenDecision,
  { by, at, reason, verified, limits }: Approval,
): void {
  const { repository, number, headSha } = pullRequest;
  const who = verified === undefined ? { claimedBy: by } : { approvedBy: by, verifiedBy: verified };
  const what = {
    target: targetName(target),
    cluster: target.cluster,
    decision: id,
    repository,
    number,
    headSha,
    limits,
  };
  log.info(
    { audit: 'approval', ...currentWorkflow(), ...what, ...who, approvedAt: formatInstant(at), reason },
    `pull request #${number} of ${repository} is approved by ${by}`,
  );
}

/** What the Lease remembers of a raise: from the limits in the cluster, whatever the decision says. */
function raiseOf(
  { id, pullRequest: { repository, number } }: OpenDecision,
  changes: readonly LimitChange[],
  isApproved: boolean,
): QuotaRaise['raise'] {
  return {
    decision: id,
    from: Object.fromEntries(changes.map(({ resource, from }) => [resource, from])),
    to: decidedLimits({ changes }),
    pullRequest: { repository, number },
    ...(isApproved ? { isApproved } : {}),
  };
}

function placeOf({ source, pullRequest, batchedQuotas = [] }: OpenDecision): Parameters<typeof forbiddenPlace>[2] {
  const { repository, base, path } = pullRequest;
  const placements = [source?.placement, ...batchedQuotas.map(({ placement }) => placement)];
  const values = placements.flatMap((placement) => Object.values(placement?.values ?? {}));
  return { repository, branch: base, values: values.length === 0 ? [{ path, field: '' }] : values };
}
