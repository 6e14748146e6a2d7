import type { V1Namespace, V1ResourceQuota } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { maskList, type ResourceList } from '../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { QuotaObservation, WorkloadDemand } from '../../domain/quota-resize/observation.ts';
import { type PolicyDefaults, resolvePolicy } from '../../domain/quota-resize/policy.ts';
import type { ResizeTimings } from '../../domain/quota-resize/timings.ts';
import { readGlobalPause } from '../kernel/global-pause.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { orNull } from '../ports/kubernetes-failure.ts';
import { readDemand } from './demand.ts';
import type { LeaseStore } from './lease.ts';

interface ObserveQuotaOptions {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
  readonly systemNamespace: string;
  readonly timings: ResizeTimings;
  readonly leases: LeaseStore;
  readonly log: Pick<Logger, 'warn'>;
}

/** Everything that a decision about a quota looks at in the cluster. Reads only. */
export async function observeQuota(options: ObserveQuotaOptions, target: QuotaTarget): Promise<QuotaObservation> {
  const { kubernetes, policyDefaults: defaults, timings, leases } = options;
  const [namespace, seen, globalPause, lease] = await Promise.all([
    orNull(kubernetes.core.readNamespace({ name: target.namespace })),
    readQuota(kubernetes, target),
    readGlobalPause(options),
    leases.read(target),
  ]);
  const presence = presenceOf(namespace);
  const { quota, demand } =
    presence === 'present' ? await withDemand(options, target, seen) : { quota: seen, demand: [] };
  const { policy, warnings } = resolvePolicy({
    defaults,
    namespaceAnnotations: namespace?.metadata?.annotations,
    quotaAnnotations: quota?.metadata?.annotations,
  });
  return {
    namespace: presence,
    quota: quota === null ? null : limitsOf(quota),
    policy,
    warnings,
    timings,
    globalPause,
    demand,
    lease,
  };
}

/** How often the pods of a rollout in full swing are counted again in one look. */
const DEMAND_READINGS = 3;

/**
 * The demand that goes with what the quota has counted: pods that came in while the owners were read are in `used` or
 * missing, and not both. After some readings the last one is taken, which asks for too little and never for too much.
 */
async function withDemand(
  options: ObserveQuotaOptions,
  target: QuotaTarget,
  first: V1ResourceQuota | null,
): Promise<{ readonly quota: V1ResourceQuota | null; readonly demand: readonly WorkloadDemand[] }> {
  let quota = first;
  for (let reading = 1; quota !== null; reading += 1) {
    const demand = await readDemand(options, target.namespace, quota);
    if (demand.length === 0 || reading === DEMAND_READINGS) return { quota, demand };
    const after = await readQuota(options.kubernetes, target);
    if (after?.metadata?.resourceVersion === quota.metadata?.resourceVersion) return { quota, demand };
    quota = after;
  }
  return { quota, demand: [] };
}

/** The quota; null when it does not exist or is being deleted. */
export async function readQuota(kubernetes: Kubernetes, target: QuotaTarget): Promise<V1ResourceQuota | null> {
  const { quota: name, namespace } = target;
  const quota = await orNull(kubernetes.core.readNamespacedResourceQuota({ name, namespace }));
  return quota === null || quota.metadata?.deletionTimestamp !== undefined ? null : quota;
}

/** `spec.hard` in canonical quantities. */
export function hardOf(quota: V1ResourceQuota): ResourceList {
  const hard = quota.spec?.hard ?? {};
  return maskList(hard, Object.keys(hard));
}

function limitsOf(quota: V1ResourceQuota): NonNullable<QuotaObservation['quota']> {
  const hard = hardOf(quota);
  return { uid: quota.metadata?.uid ?? '', hard, used: maskList(quota.status?.used ?? {}, Object.keys(hard)) };
}

function presenceOf(namespace: V1Namespace | null): QuotaObservation['namespace'] {
  if (namespace === null) return 'gone';
  const isTerminating =
    namespace.metadata?.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating';
  return isTerminating ? 'terminating' : 'present';
}
