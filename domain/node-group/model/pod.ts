/** A pod, reduced to what scheduling, draining and explanations need. */
import type { LabelSelector } from '../../kernel/label-selector.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Amounts } from '../../kernel/amounts.ts';

export type Labels = Readonly<Record<string, string>>;

type TaintEffect = 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: TaintEffect;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: 'Equal' | 'Exists' | 'Lt' | 'Gt';
  readonly value?: string;
  readonly effect?: TaintEffect;
  readonly tolerationSeconds?: number;
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  readonly values?: readonly string[];
}

/** All requirements of a term must hold; one without any matches no node. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

/** A required term of pod affinity or anti-affinity. */
export interface PodAffinityTerm {
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector | null;
  readonly namespaces?: readonly string[];
  /** Null selects none, an empty one all namespaces. */
  readonly namespaceSelector?: LabelSelector | null;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
}

/** A constraint with `whenUnsatisfiable: DoNotSchedule`. Others do not keep a pod from a node, and are left out. */
export interface TopologySpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly labelSelector?: LabelSelector | null;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore';
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore';
  readonly matchLabelKeys?: readonly string[];
}

export interface HostPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  /** `0.0.0.0` where none is given. */
  readonly ip: string;
}

/** What scheduling asks about. Two pods with equal constraints fit the same nodes. */
export interface PodConstraints {
  /** Without `pods`, which is 1 for each. */
  readonly requests: Amounts;
  readonly nodeSelector: Labels;
  /** Null where the pod has no required node affinity; one of the terms must match. */
  readonly nodeAffinity: readonly NodeSelectorTerm[] | null;
  readonly tolerations: readonly Toleration[];
  readonly podAffinity: readonly PodAffinityTerm[];
  readonly podAntiAffinity: readonly PodAffinityTerm[];
  readonly spread: readonly TopologySpreadConstraint[];
  readonly hostPorts: readonly HostPort[];
  /** The names of its PersistentVolumeClaims, generic ephemeral volumes included. */
  readonly claims: readonly string[];
  /** Whether it claims devices by Dynamic Resource Allocation, which is not simulated. */
  readonly claimsDevices: boolean;
}

/** The controller of a pod. */
export interface PodOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What kube-scheduler says of a pod for which it has found no node. */
interface Unscheduled {
  /** Such as `Unschedulable` or `SchedulingGated`. */
  readonly reason: string;
  readonly message: string;
  readonly since: EpochMs;
  /**
   * When it was last written, in whole seconds, by the clock of the API server; null where nobody knows. It is written when it says
   * something else than before, so kube-scheduler may have looked at the pod later, but not earlier.
   */
  readonly writtenAt: EpochMs | null;
}

export interface Pod extends PodConstraints {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  /** Those that say something about scaling or draining; others are left out. */
  readonly annotations: Labels;
  readonly owner: PodOwner | null;
  /** The node that it is bound to; null for one that is not. */
  readonly node: string | null;
  readonly nominatedNode: string | null;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly priority: number;
  readonly schedulerName: string;
  readonly createdAt: EpochMs;
  /** When the kubelet may end it at the latest; null for one that is not being deleted. */
  readonly deletesAt: EpochMs | null;
  /** Seconds that it is given to end. */
  readonly gracePeriodSeconds: number;
  /** The condition `PodScheduled` of a pod that has no node. */
  readonly unscheduled: Unscheduled | null;
  readonly isReady: boolean;
  /** Volumes whose content is lost with the node: `emptyDir` on disk (not in memory) and `hostPath`, by their names. */
  readonly localVolumes: readonly string[];
}
