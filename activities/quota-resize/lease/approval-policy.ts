/** Whether the API server verifies who writes an approval into a Lease. */
import { ApiException, CoordinationV1Api } from '@kubernetes/client-node';
import { approvalAnnotations } from '../../../domain/quota-resize/model/lease-approval.ts';
import type { PolicyTrial } from '../../kernel/policy-proof.ts';
import type { LeaseNamespace } from '../../kubernetes/lease-object.ts';
import { apiMessage } from '../../kubernetes/failure.ts';

/** The policy of deploy/chart/templates/approval-policy.yaml. */
export const APPROVAL_POLICY = 'headroom-approvals';
const POLICY = `ValidatingAdmissionPolicy '${APPROVAL_POLICY}'`;
const NAME = 'headroom-approval-probe';
const FORGED = { by: NAME, at: 0, reason: 'a trial', decision: NAME, limits: {}, headSha: '', places: {} };

/**
 * Tries, without effect, to write an approval in the name of somebody else. Where the API server would admit that, the
 * policy is not in force, and whoever may write Leases may have written the approvals in them.
 */
export async function areApprovalsVerified({
  kubernetes: { coordination },
  systemNamespace,
}: LeaseNamespace): Promise<boolean> {
  return await isApprovalRefused(async () => await forge(coordination, systemNamespace));
}

/** The same, to be tried at the start and from time to time. */
export function approvalTrial(systemNamespace: string): PolicyTrial {
  return {
    what: 'an approval in the name of somebody else',
    attempt: async (kubeConfig) => await forge(kubeConfig.makeApiClient(CoordinationV1Api), systemNamespace),
  };
}

async function forge(coordination: CoordinationV1Api, namespace: string): Promise<void> {
  const metadata = { name: NAME, namespace, annotations: { ...approvalAnnotations(FORGED) } };
  await coordination.createNamespacedLease({ namespace, body: { metadata, spec: {} }, dryRun: 'All' });
}

/**
 * Whether the policy refuses what is tried.
 *
 * @throws whatever else is wrong with it.
 */
export async function isApprovalRefused(attempt: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt();
    return false;
  } catch (error) {
    if (error instanceof ApiException && apiMessage(error)?.includes(POLICY) === true) return true;
    throw error;
  }
}
