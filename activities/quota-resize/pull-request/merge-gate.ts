/**
 * The last check before a merge. It believes nothing but the target: the decision and its approval come from the Lease,
 * the policy from the annotations and the guardrails as they are now.
 */
import { compareQuantities, parseQuantity } from '../../../domain/kernel/quantity.ts';
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
import { mergeHold } from '../../../domain/quota-resize/policy/merge-window.ts';
import { maximumFor, type ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { currentWorkflow } from '../../kernel/audit.ts';
import { orNull, withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { ForgeApproval } from '../../forge/forge.ts';
import { withGuardrailLock } from '../lease/guardrail-lock.ts';
import { type QuotaRaise, recordEnd, recordMerge, settledRaises } from '../lease/raises.ts';
import { hardOf, policyOf, withUnattendedLimits } from '../quota/policy-of-quota.ts';
import type { NeedOptions } from '../quota/needed.ts';
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
import { assertUnattended, type RaisedQuota } from './unattended.ts';
import type { PullRequestEnds } from '../lease/ends.ts';

/** The approving reviews of a pull request that hold. */
type Reviews = (number: number) => Promise<readonly ForgeApproval[]>;

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
}

export function createMergeGate(options: MergeGateOptions): MergeGate {
  const recorded = withKubernetesFailures(async (target: QuotaTarget, decisionId: string) =>
    recordedDecision(options, target, decisionId),
  );
  const check = withKubernetesFailures(
    async (target: QuotaTarget, decision: OpenDecision, { guarded, reviews }: Given): Promise<CheckedMerge> => {
      const now = await recordedDecision(options, target, decision.id);
      if (!isSameHead(now, decision)) {
        throw policyChanged(target, 'merge', 'its Lease records another head of the pull request');
      }
      if (!isAsChecked(now, decision)) {
        throw policyChanged(target, 'merge', 'its Lease records another decision than the one that is to be merged');
      }
      const checked = async (other: QuotaTarget, theirs: OpenDecision): Promise<CheckedDecision> => {
        const { approval, raises } = await assertMayBeMerged(options, other, theirs, { guarded, reviews });
        if (approval !== null) auditApproval(options.log, other, theirs, approval);
        return { target: other, decision: theirs, raises };
      };
      const own = await checked(target, now);
      const all: CheckedDecision[] = [];
      for (const joined of (now.joined ?? []).filter(isHeldIn)) {
        const other = { ...target, namespace: joined.namespace, quota: joined.quota };
        const theirs = await recordedDecision(options, other, joined.decision);
        assertLetsMerge(other, theirs, { owner: now, joined });
        all.push(await checked(other, theirs));
      }
      return { own, joined: all };
    },
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
      const checked = async (renewLock?: () => Promise<void>): Promise<Awaited<ReturnType<typeof merge>>> => {
        const all = await check(target, decision, { guarded, reviews });
        await renewLock?.();
        return await merge(all, async () => await expectChecked(all));
      };
      if (Object.keys(guarded.guardrail.totals).length === 0) return await checked();
      const holder = `${targetName(target)}/${decision.id}`;
      return await withGuardrailLock(options, guarded.guardrail.name, holder, checked);
    },
    ended: withKubernetesFailures(async (target, decision, merge, expected) => {
      const { pullRequest, batchedQuotas = [], joined = [] } = decision;
      const raiseFor = (quota: QuotaTarget): QuotaRaise['raise'] | undefined =>
        expected?.raises.find((one) => targetName(one.target) === targetName(quota))?.raise;
      const others = [
        ...batchedQuotas.map(({ quota }) => ({ ...target, quota })),
        ...joined.filter(isHeldIn).map(({ namespace, quota }) => ({ ...target, namespace, quota })),
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

/** A quota of the decision as it is now, with the policy in force for it. */
interface Current {
  readonly changes: readonly LimitChange[];
  readonly policy: ResizePolicy;
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
  { guarded, reviews }: Given,
): Promise<Allowed> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const totals = await readTotals(options, guarded);
  const raised = await readCurrent(options, target, decision, { decision, totals });
  const { policy } = raised;
  // Only the totals of one guardrail are locked meanwhile.
  if (policy.guardrail.name !== guarded.guardrail.name) throw refuse('another guardrail holds for its namespace');
  const place = forbiddenPlace(policy.guardrail, target, placeOf(decision));
  if (place !== null) throw refuse(place);
  const batchedQuotas: BatchedQuota[] = [];
  const all: [RaisedQuota, ...RaisedQuota[]] = [{ ...raised, target }];
  for (const batchedQuota of decision.batchedQuotas ?? []) {
    const other = { ...target, quota: batchedQuota.quota };
    const current = await readCurrent(options, other, batchedQuota, { decision, totals });
    all.push({ ...current, target: other });
    batchedQuotas.push({
      ...batchedQuota,
      approvalRequirement: approvalRequirementOf(current.policy, current.changes, isDemandByMessage(batchedQuota)),
    });
  }
  const { demandByMessage } = decision;
  const { changes } = raised;
  const requirement = approvalRequirementOfDecision(raised.policy, { changes, demandByMessage, batchedQuotas });
  const approval =
    requirement === null
      ? null
      : await givenApproval(options, target, { ...decision, approvalRequirement: requirement }, { policy, reviews });
  if (approval === null) await assertUnattended(options, target, decision, all);
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
  options: MergeGateOptions,
  target: QuotaTarget,
  approved: OpenDecision & { readonly approvalRequirement: ApprovalRequirement },
  { policy, reviews }: { readonly policy: ResizePolicy; readonly reviews: Reviews },
): Promise<Approval> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const { approval, approvalRequirement: requirement } = approved;
  if (asksForVerified(policy) || approval?.verified !== undefined) {
    // Whoever vouched for the name is asked again: the decision says only what the workflow believed.
    const { approval: lease } = await options.leases.read(target);
    const { number, headSha } = approved.pullRequest;
    const ofReviews = async (): Promise<VerifiedSources> => ({
      reviews: { headSha, approvals: (await reviews(number)).filter((review) => review.headSha === headSha) },
    });
    const verified = verifiedApproval(approved, { lease }) ?? verifiedApproval(approved, await ofReviews());
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

/**
 * A quota of the pull request with its policy, which lets Headroom merge now.
 *
 * @throws {ApplicationFailure} PolicyChanged when the quota is another one, opted out, observed, above a maximum, left to
 * people, or held by a freeze or a window.
 */
async function readCurrent(
  { kubernetes, policyDefaults, leases, ends }: MergeGateOptions,
  target: QuotaTarget,
  { quotaUid, changes }: Pick<BatchedQuota, 'quotaUid' | 'changes'>,
  { decision, totals }: { readonly decision: OpenDecision; readonly totals: Totals },
): Promise<Current> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const { namespace: name, quota: quotaName } = target;
  const [namespace, quota, raises] = await Promise.all([
    orNull(kubernetes.core.readNamespace({ name })),
    orNull(kubernetes.core.readNamespacedResourceQuota({ name: quotaName, namespace: name })),
    settledRaises({ leases, ends }, target, decision.pullRequest),
  ]);
  if (namespace === null || quota === null) throw refuse('the quota is gone');
  if (quota.metadata?.uid !== quotaUid) throw refuse('the quota was deleted and created again');
  const { policy: annotated } = policyOf(policyDefaults, name, namespace, quota);
  const hard = hardOf(quota);
  const policy = withUnattendedLimits(annotated, hard, raises, {
    now: Date.now(),
    totals: totals(target, hard, decision),
  });
  if (!policy.enabled) throw refuse('it opted out');
  if (policy.mode === 'observe') throw refuse('the mode is observe');
  if (!policy.autoMerge.allowed) throw refuse('auto-merge is off');
  const held = mergeHold(policy, Date.now());
  if (held !== null) throw refuse(held.detail);
  for (const { resource, to } of changes) {
    const maximum = maximumFor(policy, resource);
    if (maximum !== undefined && compareQuantities(parseQuantity(to), parseQuantity(maximum)) > 0) {
      throw refuse(`${resource} ${to} is above its maximum of ${maximum}`);
    }
  }
  return { changes: changes.map((change) => ({ ...change, from: hard[change.resource] ?? '0' })), policy };
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
