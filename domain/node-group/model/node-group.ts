import type { EpochMs } from '../../kernel/time.ts';
import type { InVain } from './in-vain.ts';
import type { HostPort, Labels, Taint } from './pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';

export type Provider = 'vpsie' | 'kwok';
export type Mode = 'observe' | 'act';
type Expander = 'least-waste' | 'price';

/** How many nodes may be taken away at once: a count, or a share of the group in percent; for some hours of the week. */
export interface NodeBudget {
  /** What may be disrupted at once, such as `3` or `10%` (of the group's nodes, rounded up). */
  readonly nodes: string;
  /** For which reasons; all where none is named. */
  readonly reasons: readonly DisruptionReason[];
  /** When it holds, as a cron expression in UTC with a duration in milliseconds; null for always. */
  readonly window: { readonly schedule: string; readonly durationMs: number } | null;
}

/** Why a node is taken away. */
export type DisruptionReason =
  | 'Empty'
  | 'Underutilized'
  | 'Consolidation'
  | 'NotReady'
  | 'Overprovisioned'
  | 'Requested';

/** A NodeGroup with every default filled in. Times in milliseconds, shares in percent. */
export interface NodeGroup {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly isDeleting: boolean;
  readonly annotations: Labels;
  readonly provider: Provider;
  readonly mode: Mode;
  readonly minNodes: number;
  readonly maxNodes: number;
  /** In the order of the object; the first is what is used where nothing is preferred. */
  readonly offeringIds: readonly string[];
  readonly preferredInstanceType: string | null;
  /** What the node is given: labels and taints of the group. */
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Taints that a node has until something that runs on it takes them off; ignored when pods are placed. */
  readonly startupTaints: readonly Taint[];
  readonly expander: Expander;
  /** `simulation`, or the fixed estimate of the VPSie autoscaler. */
  readonly estimate: 'simulation' | 'simple';
  /** Pods without a selector for the group's labels are not placed on it, as the VPSie autoscaler has it. */
  readonly exclusive: boolean;
  readonly scaleUp: {
    readonly enabled: boolean;
    readonly cooldownMs: number;
    /** At most so many nodes in one decision; 0 for no limit. */
    readonly batchSize: number;
  };
  readonly scaleDown: {
    readonly enabled: boolean;
    readonly stabilizationMs: number;
    readonly cooldownMs: number;
    readonly cpuThreshold: number;
    readonly memoryThreshold: number;
    readonly consolidation: boolean;
  };
  readonly replaceBeforeDrain: boolean;
  readonly budgets: readonly NodeBudget[];
  /** What becomes of its nodes when it is deleted: they are drained and given back, or stay, and are nobody's. */
  readonly deletionPolicy: 'Drain' | 'Orphan';
  /** What a person must approve first. */
  readonly approval: 'none' | 'scale-down' | 'replacement';
  /** From the creation of a machine until its node has registered and is ready. */
  readonly maxNodeProvisionMs: number;
  /** What the provider needs, as it is written in the spec; each provider reads its own. */
  readonly providerSpec: Readonly<Record<string, string>>;
  /** `status.desiredNodes`: what the last decision made it, or a person; null before the first one. */
  readonly desiredNodes: number | null;
  /** When nodes of the group last came, and last went, by its status; null where none did. */
  readonly lastScaleUp: EpochMs | null;
  readonly lastScaleDown: EpochMs | null;
  /** After machines that failed: until when no more are asked for, and why; null where nothing failed lately. */
  readonly backoff: { readonly until: EpochMs; readonly failures: number; readonly reason: string } | null;
  /** The instance types of the group as the provider had them at that moment; null where it was not asked yet. */
  readonly instanceTypes: readonly InstanceType[];
  readonly instanceTypesAt: EpochMs | null;
  /** Nodes that came in vain, by its status. */
  readonly inVain: readonly InVain[];
}

/** An instance type of a group (an offering), and the node that it becomes. */
export interface InstanceType {
  readonly id: string;
  readonly capacity: Amounts;
  /** What is left for pods: capacity without what the system reserves. */
  readonly allocatable: Amounts;
  /** Labels that every node of it has, such as its zone and instance type; without those of the group. */
  readonly labels: Labels;
  /** Of an hour, in any one currency; null where the provider tells none. */
  readonly pricePerHour: number | null;
  readonly isAvailable: boolean;
  /** What its nodes have turned out to have, or not to have, whatever the provider says: `plan/learned-types.ts`. */
  readonly learned?: {
    readonly taints: readonly Taint[];
    readonly missingLabels: readonly string[];
    /** How many volumes of each CSI driver the least of them can attach; none where it is not known. */
    readonly attachLimits?: Amounts;
    /** Host ports that the kubelet's own pods hold on one of them. */
    readonly hostPorts?: readonly HostPort[];
  };
}

/** The phases of a VPSieNode, as the VPSie autoscaler names them. */
export const machinePhases = [
  'Pending',
  'Provisioning',
  'Provisioned',
  'Joining',
  'Ready',
  'Terminating',
  'Deleting',
  'Failed',
] as const;
export type MachinePhase = (typeof machinePhases)[number];

/** A VPSieNode: the object of one machine, which is created before the provider is asked for it. */
export interface Machine {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly group: string;
  readonly instanceType: string;
  readonly phase: MachinePhase;
  /** The provider's own name of the machine; null until the provider has answered. */
  readonly providerId: string | null;
  /** The Node that it became; null until one registered. */
  readonly node: string | null;
  /** The name that its Node will have, by the provider; empty where it said none. */
  readonly hostname: string;
  readonly createdAt: EpochMs;
  /** When the phase began. */
  readonly phaseSince: EpochMs;
  /** It goes, or is gone already: nobody counts on it. */
  readonly isDeleting: boolean;
  /** Somebody has deleted its object. Its Node, as long as there is one, is drained before the machine goes. */
  readonly isDrainRequested: boolean;
  /** Whether it has the label of its group, by which those who drive machines find it. */
  readonly isLabelled: boolean;
  /** The UID of the NodeGroup that holds it; null where it is not held as it should be: `api/holder.ts`. */
  readonly heldBy: string | null;
  /** The decision that it was created for. */
  readonly decision: string;
  /** Why there is the machine, by its annotation; empty where it does not say. Only `metrics` and empty ones are taken away. */
  readonly creationReason: string;
  /** The kinds of the pods that it came for (`podKind`), and `*` for further ones. */
  readonly cameFor: readonly string[];
  /** How much later than others kube-scheduler should fill its Node; 0: not later. */
  readonly fillLater: number;
  /** The UID of the Node in whose place it came; null where it came in nobody's. */
  readonly replaces: string | null;
}
