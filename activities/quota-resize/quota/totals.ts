/** Reads what counts towards the totals of a guardrail: quotas of the cluster, and decisions in Leases. */
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import { decidedLimits } from '../../../domain/quota-resize/model/decision.ts';
import {
  isFileLease,
  leaseSelector,
  readLeaseMemory,
  targetOfLease,
} from '../../../domain/quota-resize/model/lease.ts';
import { guardrailFor } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults, ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { type CountedQuota, type DecidedRaise, totalLimits } from '../../../domain/quota-resize/policy/totals.ts';
import { type RecordedRaise, SYNCS_WITHIN_MS } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { UnattendedLimit } from '../../../domain/quota-resize/policy/unattended-limit.ts';
import { listAll } from '../../kubernetes/list.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';

interface TotalsOptions {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: Pick<PolicyDefaults, 'guardrails'>;
  readonly systemNamespace: string;
}

/** What is left of a guardrail's totals for one quota. */
export type Totals = (
  target: QuotaTarget,
  hard: CountedQuota['hard'],
  decision: Pick<Decision, 'id' | 'decidedAt' | 'grownAt'> | null,
) => readonly UnattendedLimit[];

const NO_TOTALS: Totals = () => [];

/**
 * The totals of the policy's guardrail. Reads the quotas and the namespaces of the cluster, and all Leases, once; and
 * nothing where the guardrail has no totals.
 */
export async function readTotals(
  { kubernetes, policyDefaults, systemNamespace }: TotalsOptions,
  { guardrail }: Pick<ResizePolicy, 'guardrail'>,
): Promise<Totals> {
  if (Object.keys(guardrail.totals).length === 0) return NO_TOTALS;
  const [namespaces, quotas, leases] = await Promise.all([
    listAll((range) => kubernetes.core.listNamespace(range)),
    listAll((range) => kubernetes.core.listResourceQuotaForAllNamespaces(range)),
    listAll((range) =>
      kubernetes.coordination.listNamespacedLease({
        namespace: systemNamespace,
        labelSelector: leaseSelector,
        ...range,
      }),
    ),
  ]);
  const counted = new Set(
    namespaces.flatMap(({ metadata: { name = '', labels } = {} }) =>
      guardrailFor(policyDefaults.guardrails, { name, labels }).name === guardrail.name ? [name] : [],
    ),
  );
  const all = quotas.flatMap((quota): readonly CountedQuota[] => {
    const { namespace = '', name = '' } = quota.metadata ?? {};
    return counted.has(namespace) ? [{ namespace, quota: name, hard: quota.spec?.hard ?? {} }] : [];
  });
  const decided = leases.flatMap((lease): readonly DecidedRaise[] => {
    const owner = targetOfLease(lease);
    if (owner === null || isFileLease(lease)) return [];
    const { decision, raises } = readLeaseMemory(lease).memory;
    return [...(decision === null ? [] : raisesOf(owner, decision)), ...recentRaisesOf(owner, raises, Date.now())];
  });
  return (target, hard, decision) => totalLimits(guardrail, { ...target, hard, decision }, all, decided);
}

/** A pending one counts for twice as long, since it may be merged some time after the forge was asked. */
function recentRaisesOf(
  { namespace, quota }: Pick<QuotaTarget, 'namespace' | 'quota'>,
  raises: readonly RecordedRaise[],
  now: EpochMs,
): readonly DecidedRaise[] {
  return raises
    .filter(({ at, isPending }) => at > now - (isPending === true ? 2 : 1) * SYNCS_WITHIN_MS)
    .map(({ decision, at, to }) => ({ namespace, quota, decision, decidedAt: at, isMerged: true, limits: to }));
}

/** The raises of a decision: of its own quota, and of those that it raises with it. */
function raisesOf(
  { namespace, quota }: Pick<QuotaTarget, 'namespace' | 'quota'>,
  decision: Decision,
): readonly DecidedRaise[] {
  const { id, decidedAt, batchedQuotas = [], merge } = decision;
  const raise = (name: string, limits: DecidedRaise['limits']): DecidedRaise => ({
    namespace,
    quota: name,
    decision: id,
    decidedAt,
    isMerged: merge !== null,
    limits,
  });
  return [
    raise(quota, { ...decidedLimits(decision), ...merge?.limits }),
    ...batchedQuotas.map((batchedQuota) => raise(batchedQuota.quota, decidedLimits(batchedQuota))),
  ];
}
