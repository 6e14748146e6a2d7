/**
 * `headroom approve`: before the workflow is told, the approval is written into the quota's Lease with the rights of
 * whoever approves, because the API server verifies there who that is. An update says any name.
 */
import type { WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { isApprovalRefused } from '../../../activities/quota-resize/lease/approval-policy.ts';
import { apiMessage, kubernetesFailure } from '../../../activities/kubernetes/failure.ts';
import { type LeaseNamespace, patchLease, readLease } from '../../../activities/kubernetes/lease-object.ts';
import { ApiException } from '@kubernetes/client-node';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import { isBeforePullRequest } from '../../../domain/quota-resize/decide/approval-requirement.ts';
import { approvedPlaces, approvedValues } from '../../../domain/quota-resize/model/decision.ts';
import { leaseNames, leaseRelation } from '../../../domain/quota-resize/model/lease.ts';
import { approverName, short } from '../../../domain/quota-resize/decide/sentences.ts';
import { approvalAnnotations, type LeaseApproval } from '../../../domain/quota-resize/model/lease-approval.ts';
import { commandUpdates, type ResizeStatus, status } from '../../../workflows/quota-resize/messages.ts';
import { withCluster } from '../cluster.ts';
import { confirmedCluster } from '../confirmed-cluster.ts';
import type { LoadedConfig, Prepared } from '../controller.ts';
import { CommandFailed } from '../shared.ts';

interface Given {
  readonly by: string;
  readonly reason: string;
  readonly head?: string;
}

/** @returns the update's input, with the name that the API server has verified where it has. */
export async function prepareApproval(
  loaded: LoadedConfig,
  target: QuotaTarget,
  workflow: WorkflowHandle,
  given: Given,
): Promise<Prepared> {
  const seen = await workflow.query(status);
  const approval = toApprove(seen, given);
  // The workflow says why there is nothing to approve.
  if (approval === null) return { input: given, notes: [], isInVain: false };
  try {
    const by = await record(loaded, target, approval);
    // The workflow finds the approval when it looks: said in an update, the name would be a claim again.
    return {
      instead: { update: commandUpdates.reconcileNow.name, done: doneBy(by, approval) },
      input: { by, reason: given.reason },
      notes: [],
      isInVain: false,
    };
  } catch (error) {
    const guardrail = seen.policy?.approvalVerifiedFor ?? null;
    const isInVain = guardrail !== null;
    const consequence = isInVain ? ` The guardrail ${guardrail} asks for a verified one, so it does not count.` : '';
    return { input: given, notes: [`This approval is only a claimed name: ${whyNot(error)}.${consequence}`], isInVain };
  }
}

function doneBy(by: string, { decision, headSha }: Omit<LeaseApproval, 'by'>): string {
  const what = headSha === '' ? '' : ` at ${short(headSha)}`;
  return `approved by ${approverName({ by, verified: 'kubernetes' })}: decision ${decision}${what}, for these values only`;
}

/** What the workflow shows to be approved; null where that is nothing, or not what the person has seen. */
function toApprove({ decision }: ResizeStatus, { reason, head }: Given): Omit<LeaseApproval, 'by'> | null {
  if (decision === null || decision.merge !== null || decision.approvalRequirement === null) return null;
  if (decision.pullRequest === null && !isBeforePullRequest(decision.approvalRequirement)) return null;
  const headSha = decision.pullRequest?.headSha ?? '';
  if (head !== undefined && (head.length < 7 || !headSha.startsWith(head.toLowerCase()))) return null;
  const covered = { limits: approvedValues(decision), headSha, places: approvedPlaces(decision) };
  return { at: Date.now(), reason, decision: decision.id, ...covered };
}

/**
 * Writes the approval into the Lease of the quota.
 *
 * @returns the user's name as the API server knows it.
 */
async function record(loaded: LoadedConfig, target: QuotaTarget, approval: Omit<LeaseApproval, 'by'>): Promise<string> {
  const { loaded: confirmed } = await confirmedCluster(loaded);
  const { systemNamespace } = confirmed.config.kubernetes;
  return await withCluster(confirmed, async ({ kubernetes }) => {
    const leases = { kubernetes, systemNamespace };
    const review = await kubernetes.authentication.createSelfSubjectReview({ body: {} });
    const by = review.status?.userInfo?.username ?? '';
    const name = await leaseOf(leases, target);
    const write = async (annotations: ReturnType<typeof approvalAnnotations>, dryRun?: 'All'): Promise<void> =>
      await patchLease(leases, name, { metadata: { annotations } }, dryRun);
    await write(approvalAnnotations({ ...approval, by }), 'All');
    const forged = approvalAnnotations({ ...approval, by: `not ${by}` });
    if (!(await isApprovalRefused(async () => await write(forged, 'All')))) {
      throw new CommandFailed('the ValidatingAdmissionPolicy headroom-approvals is not in force');
    }
    await write(approvalAnnotations({ ...approval, by }));
    return by;
  });
}

async function leaseOf(leases: LeaseNamespace, target: QuotaTarget): Promise<string> {
  for (const name of leaseNames(target)) {
    const lease = await readLease(leases, name);
    if (lease !== null && leaseRelation(lease, target) === 'own') return name;
  }
  throw new CommandFailed(`the quota has no Lease in ${leases.systemNamespace}`);
}

/** A clause, without a full stop. */
function whyNot(error: unknown): string {
  const failure = kubernetesFailure(error);
  const known =
    error instanceof ApiException
      ? apiMessage(error)
      : error instanceof CommandFailed || failure instanceof ApplicationFailure
        ? (failure as Error).message
        : undefined;
  if (known === undefined) throw error;
  return known.replace(/\.$/, '');
}
