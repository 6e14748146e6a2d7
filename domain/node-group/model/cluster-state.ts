/** What one plan is made of. Everything in it is as of one moment, and sorted by nobody: the plan must not depend on the order. */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type {
  LimitRange as KubernetesLimitRange,
  RuntimeClass as KubernetesRuntimeClass,
} from '../../kernel/stored-pod.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { InstanceType, Machine, NodeGroup } from './node-group.ts';
import type { Node } from './node.ts';
import type { Labels, NodeSelectorTerm, Pod } from './pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';

/** A DaemonSet: each node that its pod fits has one. */
export interface DaemonSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly createdAt: EpochMs;
  readonly labels: Labels;
  /** The spec of its template as it is written, in the shape of Kubernetes' JSON: a stored pod of it has more (`storedPodSpec`). */
  readonly template: Readonly<Record<string, unknown>>;
  /** Counts the changes of the template, as the label `pod-template-generation` of its pods does; null where it is not said. */
  readonly generation: string | null;
  /** Whether some nodes should have its pod and none has one, as its controller says: a quota or a webhook refuses them. */
  readonly hasNoPods: boolean;
  /** From then on its controller makes no pods. */
  readonly isDeleting?: boolean;
}

/** What a namespace fills into pods that are created in it. */
export interface LimitRange extends KubernetesLimitRange {
  readonly namespace: string;
  readonly name: string;
}

/** What is filled into pods that name it. */
export interface RuntimeClass extends KubernetesRuntimeClass {
  readonly name: string;
}

/** A PodDisruptionBudget. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector | null;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  /** How many of its pods were evicted and are not known to be gone. */
  readonly disruptedPods: number;
  readonly unhealthyPodEvictionPolicy: 'IfHealthyBudget' | 'AlwaysAllow';
  /** Whether `status` is of the current generation: until then the API server refuses evictions of ready pods. */
  readonly isObserved: boolean;
}

export interface Claim {
  readonly namespace: string;
  readonly name: string;
  /** The PersistentVolume that it is bound to; null for an unbound one. */
  readonly volume: string | null;
  /** The PersistentVolume that it names without being bound to it; absent where it names none. */
  readonly wantedVolume?: string;
  readonly storageClass: string | null;
  /** The node for which a volume is being made: until there is one, its pod can go nowhere else. */
  readonly selectedNode?: string;
  readonly isLost: boolean;
  readonly isDeleting?: boolean;
  /** `ReadWriteOncePod`: one pod may use it at a time, on whatever node. */
  readonly isOfOnePod?: boolean;
}

export interface PersistentVolume {
  readonly name: string;
  /** Where it can be used; null for everywhere. */
  readonly nodeAffinity: readonly NodeSelectorTerm[] | null;
  /** The CSI driver, whose attach limit counts; null for another kind of volume. */
  readonly driver: string | null;
  /** Two claims with one handle are one attachment. */
  readonly handle: string;
  readonly isLocal: boolean;
  /** Its labels of zone and region, where it has any: another way to say where it can be used. */
  readonly zones?: Labels;
}

export interface StorageClass {
  readonly name: string;
  readonly bindsAtOnce: boolean;
  readonly provisioner: string;
  /** Where volumes of the class can be made; one of the terms must match, null for everywhere. */
  readonly allowedTopologies: readonly NodeSelectorTerm[] | null;
}

/** How many volumes of each CSI driver can be attached to a node. */
export interface AttachLimits {
  readonly node: string;
  readonly limits: Amounts;
}

/** What a node uses, by metrics.k8s.io: shares of its allocatable in percent. */
export interface UtilizationSample {
  readonly at: EpochMs;
  readonly cpu: number;
  readonly memory: number;
}

export interface ClusterState {
  readonly at: EpochMs;
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
  readonly limitRanges: readonly LimitRange[];
  readonly runtimeClasses: readonly RuntimeClass[];
  readonly budgets: readonly DisruptionBudget[];
  readonly claims: readonly Claim[];
  readonly volumes: readonly PersistentVolume[];
  readonly storageClasses: readonly StorageClass[];
  readonly attachLimits: readonly AttachLimits[];
  /** The labels of each namespace, by its name. */
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly groups: readonly NodeGroup[];
  readonly machines: readonly Machine[];
  /** The names of nodes that are being drained: they are there no longer for pods, the minimum, or a budget. */
  readonly leaving: readonly string[];
  /** Those of `leaving` that others do not wait for: their drain takes long, stands still in a pause, or is nobody's. */
  readonly lingering: readonly string[];
  /** The instance types of each group, by the group's name; none where the provider has not answered yet. */
  readonly instanceTypes: Readonly<Record<string, readonly InstanceType[]>>;
  /** By the node's name, oldest first. */
  readonly utilization: Readonly<Record<string, readonly UtilizationSample[]>>;
  /** Pods that do not exist yet, of workloads that wake soon. Absent: none. */
  readonly coming?: readonly Pod[];
  /** By the UIDs of pods whose workload sleeps within the hour: when. Absent: of none. */
  readonly going?: ReadonlyMap<string, EpochMs>;
}
