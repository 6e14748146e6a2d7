/** What is seen of a namespace around a quota. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type {
  DoubtedDenial,
  UsageContradiction,
  WorkloadDemand,
  WorkloadRef,
} from '../../../domain/quota-resize/model/observation.ts';
import type { ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';

/** A quota of the namespace with the demand that it lacks room for. */
export interface SeenQuota {
  readonly object: V1ResourceQuota;
  readonly policy: ResizePolicy;
  readonly demand: readonly WorkloadDemand[];
  readonly contradictions: readonly UsageContradiction[];
}

export interface Surroundings {
  readonly quota: V1ResourceQuota | null;
  readonly demand: readonly WorkloadDemand[];
  /** When it was begun to be read; absent where there is none. */
  readonly demandReadAt?: EpochMs;
  readonly doubted: readonly DoubtedDenial[];
  readonly unsettled: readonly WorkloadRef[];
  readonly contradictions: readonly UsageContradiction[];
  /** The other quotas that lack room for the same workloads, by name. */
  readonly otherQuotas: readonly SeenQuota[];
}
