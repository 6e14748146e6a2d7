/** Quotas and decisions about them, as many as wanted, for the overview. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import { type LeaseObject, quotaLeaseLabels, withMemory } from '../../../domain/quota-resize/model/lease.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import { tellOf } from '../../../starter/quota-resize/lease-watch.ts';
import { OpenDecisions } from '../../../starter/quota-resize/open-decisions.ts';
import { quotaOverview } from '../../../starter/quota-resize/overview.ts';
import type { Overview } from '../../../starter/overview/part.ts';
import { defaults } from '../../domain/quota-resize/policy/policies.ts';

export const NOW = Date.UTC(2026, 10, 28, 12);
const HOUR = 3_600_000;

export function quotaWith(
  namespace: string,
  name: string,
  used: Readonly<Record<string, string>>,
  hard: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>> = {},
): V1ResourceQuota {
  return {
    metadata: { namespace, name, annotations: { ...annotations } },
    spec: { hard: { ...hard } },
    status: { hard: { ...hard }, used: { ...used } },
  };
}

export const approvalRequired = {
  reason: 'MaxStepExceeded',
  message: 'requests.cpu from 4 to 10 is more than twice the limit',
} as const;

export function decisionFor(number: number, other: Partial<Decision> = {}): Decision {
  return {
    id: number.toString(16).padStart(8, '0'),
    quotaUid: `u-${number}`,
    decidedAt: NOW - 3 * HOUR,
    changes: [{ resource: 'requests.cpu', from: '4', to: '10', used: '4', demand: '6', reason: 'full' }],
    evidence: ['ReplicaSet web-1 misses 2 replicas'],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: {
      number,
      url: `https://github.example.com/acme/gitops/pull/${number}`,
      repository: 'acme/gitops',
      branch: `headroom/c1/b-${number}`,
      base: 'main',
      path: 'quota.yaml',
      headSha: 'f'.repeat(40),
      openedAt: NOW - 2 * HOUR,
      pushedAt: NOW - HOUR,
    },
    merge: null,
    ...other,
  };
}

/** The Lease of a quota that the decision holds. */
export function leaseOf(namespace: string, quota: string, decision: Decision): LeaseObject {
  const memory = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision };
  return {
    metadata: {
      name: `state-${namespace}-${quota}`,
      labels: quotaLeaseLabels,
      annotations: withMemory({}, { cluster: 'c1', namespace, quota }, memory),
    },
    spec: { holderIdentity: `headroom/${decision.id}` },
  };
}

/** The overview of these quotas and Leases. */
export function overviewOf(
  quotas: readonly V1ResourceQuota[],
  leases: readonly LeaseObject[],
  autoMerge = false,
): Overview {
  const decisions = new OpenDecisions();
  for (const lease of leases) tellOf(lease, [decisions]);
  const byName = new Map(quotas.map((quota) => [`${quota.metadata?.namespace}/${quota.metadata?.name}`, quota]));
  return quotaOverview({
    cluster: 'c1',
    quotas: (namespace) =>
      namespace === undefined ? quotas : quotas.filter(({ metadata }) => metadata?.namespace === namespace),
    quota: (name, namespace) => byName.get(`${namespace}/${name}`),
    decisions: decisions.byQuota,
    mayMerge: autoMerge,
    policyOf: ({ metadata }) =>
      resolvePolicy({
        defaults: { ...defaults, autoMerge },
        namespace: { name: metadata?.namespace ?? '', labels: {}, annotations: {} },
        quotaAnnotations: metadata?.annotations ?? {},
      }).policy,
    countedUsed: () => null,
  });
}

/** Quotas of six limits each, ten in a namespace, every fifth with an open decision. */
export function manyQuotas(count: number): {
  readonly quotas: readonly V1ResourceQuota[];
  readonly leases: readonly LeaseObject[];
} {
  const named = Array.from({ length: count }, (_, index) => ({
    index,
    namespace: `team-${Math.floor(index / 10)}`,
    name: `quota-${index % 10}`,
  }));
  return {
    quotas: named.map(({ index, namespace, name }) =>
      quotaWith(
        namespace,
        name,
        {
          'requests.cpu': `${(index * 37) % 8000}m`,
          'requests.memory': `${(index * 53) % 16_000}Mi`,
          'limits.cpu': `${(index * 71) % 16_000}m`,
          'limits.memory': `${(index * 97) % 32_000}Mi`,
          pods: String((index * 13) % 50),
          'count/deployments.apps': String(index % 20),
        },
        {
          'requests.cpu': '8',
          'requests.memory': '16Gi',
          'limits.cpu': '16',
          'limits.memory': '32Gi',
          pods: '50',
          'count/deployments.apps': '20',
        },
      ),
    ),
    leases: named
      .filter(({ index }) => index % 5 === 0)
      .map(({ index, namespace, name }) =>
        leaseOf(
          namespace,
          name,
          decisionFor(index + 1, index % 10 === 0 ? { approvalRequirement: approvalRequired } : {}),
        ),
      ),
  };
}
