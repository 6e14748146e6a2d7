/**
 * The fields of a pod that affect a ResourceQuota, in the shape of Kubernetes' JSON, so that
 * an object from any client can be passed.
 */
import type { ResourceList } from '../kernel/resource-list.ts';

export interface ResourceRequirements {
  readonly requests?: ResourceList | undefined;
  readonly limits?: ResourceList | undefined;
}

export interface Container {
  readonly name?: string;
  readonly resources?: ResourceRequirements | undefined;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string | undefined;
}

interface PodAffinityTerm {
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: object | undefined;
}

interface PodAffinityTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] | undefined;
  readonly preferredDuringSchedulingIgnoredDuringExecution?:
    | readonly { readonly podAffinityTerm: PodAffinityTerm }[]
    | undefined;
}

export interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[] | undefined;
  /** Pod-level resources; where set, they replace the sum of the containers'. */
  readonly resources?: ResourceRequirements | undefined;
  readonly overhead?: ResourceList | undefined;
  readonly activeDeadlineSeconds?: number | undefined;
  readonly priorityClassName?: string | undefined;
  readonly affinity?:
    | {
        readonly podAffinity?: PodAffinityTerms | undefined;
        readonly podAntiAffinity?: PodAffinityTerms | undefined;
      }
    | undefined;
}

export interface ContainerStatus {
  readonly name?: string;
  /** The resources that the container runs with now. */
  readonly resources?: ResourceRequirements | undefined;
  /** The resources that the node has reserved. */
  readonly allocatedResources?: ResourceList | undefined;
}

export interface Pod {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly uid?: string | undefined;
        readonly deletionTimestamp?: Date | string | undefined;
        readonly deletionGracePeriodSeconds?: number | undefined;
      }
    | undefined;
  readonly spec?: PodSpec | undefined;
  readonly status?:
    | {
        readonly phase?: string | undefined;
        readonly qosClass?: string | undefined;
        readonly containerStatuses?: readonly ContainerStatus[] | undefined;
        readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
        readonly conditions?: readonly { readonly type: string; readonly reason?: string | undefined }[] | undefined;
        /** The claim that the scheduler made for the extended resources of this pod. */
        readonly extendedResourceClaimStatus?: { readonly resourceClaimName?: string | undefined } | undefined;
      }
    | undefined;
}
