/** The plan for the whole cluster at one moment: which nodes are to come, and which could go. */
import type { EpochMs } from '../../kernel/time.ts';
import type { InVain } from './in-vain.ts';
import type { DisruptionReason } from './node-group.ts';

/** Why a node is to come. */
export type ScaleUpReason = 'PendingPods' | 'BelowMinimum' | 'BelowDesired' | 'Replacement';

export interface NewNodes {
  readonly group: string;
  readonly instanceType: string;
  readonly count: number;
  readonly reason: ScaleUpReason;
  /** `<namespace>/<name>` of pods that go there, the first few. */
  readonly pods: readonly string[];
  /** How many pods go there. */
  readonly podCount: number;
  /** How many of them do not exist yet, and come when their workloads wake. Absent: none. */
  readonly comingPods?: number;
  /** Their kinds (`podKind`), the first few, and `*` where there are more; absent for none. */
  readonly kinds?: readonly string[];
  /** How much later than others kube-scheduler should fill them (`plan/fill-later.ts`); absent: not later. */
  readonly fillLater?: number;
}

/** Why a pending pod gets no new node: none would help it, or none is to be had. Each is a sentence in `docs/node-groups.md`. */
export type UnhelpedReason =
  | 'ClaimNotBound'
  | 'ClaimMissing'
  | 'ClaimInUse'
  | 'VolumeElsewhere'
  | 'SchedulingGated'
  | 'DeviceClaims'
  | 'LowPriority'
  | 'Preempting'
  | 'OtherScheduler'
  | 'NoGroupMatches'
  | 'TooLarge'
  | 'AtMaximum'
  | 'BackedOff'
  | 'Disabled'
  | 'Paused'
  | 'Limited'
  | 'PodAffinity'
  | 'TooManyTerms'
  | 'Spread'
  | 'NoInstanceTypes'
  | 'CameInVain'
  | 'FitsExisting'
  | 'FitsUpcoming';

export interface UnhelpedPod {
  readonly namespace: string;
  readonly name: string;
  readonly reason: UnhelpedReason;
  /** One sentence for people, with the name of what stands in the way. */
  readonly detail: string;
}

/** Why a node that could go stays, in the words of the VPSie autoscaler's checks and of Kubernetes. */
type KeepReason =
  | 'AtMinimum'
  | 'Cooldown'
  | 'NotUnneededLongEnough'
  | 'CameLately'
  | 'SleepsSoon'
  | 'NotReadyLately'
  | 'TooFewReady'
  | 'NoReplacement'
  | 'NoUtilization'
  | 'Utilized'
  | 'PodDisruptionBudget'
  | 'LocalStorage'
  | 'SystemPod'
  | 'Affinity'
  | 'UnreplicatedPod'
  | 'NotSafeToEvict'
  | 'DoNotDisrupt'
  | 'ScaleDownDisabled'
  | 'Protected'
  | 'OutsideAllowedHours'
  | 'PodsFitNowhere'
  | 'NodeBudget'
  | 'UnmanagedNode'
  | 'NodeDeleting'
  | 'MachineUnknown'
  | 'PolicyDisabled';

export interface Removal {
  readonly group: string;
  readonly node: string;
  readonly uid: string;
  /** The VPSieNode of the node. */
  readonly machine: string;
  readonly reason: DisruptionReason;
  /** Pods that have to be evicted. */
  readonly podCount: number;
  /** A machine that must be ready before the first eviction; null where the pods fit elsewhere already. */
  readonly replacement: {
    readonly instanceType: string;
    /** The kinds of the pods that it comes for (`podKind`), the first few; absent for none. */
    readonly kinds?: readonly string[];
  } | null;
  /** One sentence for people: why this node. */
  readonly detail: string;
}

/** Why a node stays. */
export interface Keep {
  readonly reason: KeepReason;
  /** One sentence for people, with the name of the pod or object in the way. */
  readonly detail: string;
  /** When the reason may be over; null where no clock decides it. */
  readonly until: EpochMs | null;
}

export interface KeptNode extends Keep {
  readonly group: string;
  readonly node: string;
}

export interface ClusterPlan {
  readonly at: EpochMs;
  readonly newNodes: readonly NewNodes[];
  readonly unhelped: readonly UnhelpedPod[];
  /** In the order in which they are to go. */
  readonly removals: readonly Removal[];
  readonly kept: readonly KeptNode[];
  /** What the status of each group should say of nodes that came in vain, by the group's name. */
  readonly inVain: Readonly<Record<string, readonly InVain[]>>;
}
