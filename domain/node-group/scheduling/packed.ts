/** What a packing is made of: nodes, classes of pods, and counts of pods in domains. They refer to each other. */
import type { HostPort, Labels, PodConstraints, Taint, TopologySpreadConstraint } from '../model/pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';
import type { Misfit } from './misfit.ts';
import type { VolumeNeeds } from './volumes.ts';

/** How many pods of some kind are in each domain of a topology. */
export interface PodTally {
  readonly topologyKey: string;
  /** All pods that were counted. */
  readonly total: number;
  /** How many domains have a node that counts; 0 for a rule that does not spread. */
  readonly domainCount: number;
  /** The least number of pods in a domain; 0 where there is no domain, and for a rule that does not spread. */
  readonly least: number;
  /** How many pods are in the domain of the node. */
  at(slot: Slot): number;
  /** So many pods came to the node, or went. */
  add(slot: Slot, count: number): void;
}

/** A spread constraint with what it counts. */
export interface SpreadRule {
  readonly constraint: TopologySpreadConstraint;
  readonly tally: PodTally;
  /** 1 where the pod itself is counted by the constraint. */
  readonly self: 0 | 1;
}

interface AffinityRule {
  /** One for each topology key: pods that match all terms. */
  readonly tallies: readonly PodTally[];
  /** The first pod of a group that has affinity to itself may go anywhere. */
  readonly matchesItself: boolean;
}

interface SetAsidePods {
  /** A sentence for people. */
  readonly why: string;
  /** The topology keys of anti-affinity that could keep away pods of other namespaces, sorted. */
  readonly closes: readonly string[];
}

/** Pods that no rule of scheduling tells apart. */
export interface PodClass {
  readonly key: string;
  readonly namespace: string;
  /** Those that a selector asks for. */
  readonly labels: Labels;
  readonly constraints: PodConstraints;
  readonly isTerminating: boolean;
  /** Pairs of the packing's number of a resource and the amount; without zeros. An amount that overflowed is negative. */
  readonly requests: readonly (readonly [resource: number, amount: number])[];
  readonly volumes: VolumeNeeds;
  spread: readonly SpreadRule[];
  affinity: AffinityRule | null;
  /** Pods that its anti-affinity keeps away. */
  antiAffinity: readonly PodTally[];
  /** Pods whose anti-affinity keeps it away. */
  readonly keptAwayBy: PodTally[];
  readonly countedBy: PodTally[];
  /** The nodes that have any of them. */
  readonly placedOn: Set<Slot>;
  /** Where its namespace is beyond its budget of terms (`namespacesToSetAside`): it fits nowhere, and its rules are asked of nobody. */
  readonly setAside: SetAsidePods | null;
  /** A namespace whose labels decide what its rules, or those of others, mean for it, and are not known; null where there is none. */
  unclear: string | null;
  /** By the shape of the node: null where nothing in its labels and taints is in the way. Classes that ask the same of nodes share it. */
  readonly byShape: (Misfit | null | undefined)[];
}

/** What a node is for scheduling: one of the cluster, one that is on its way, or one of a template. */
export interface SlotSpec {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly isCordoned: boolean;
  readonly allocatable: Amounts;
  /** How many volumes of each CSI driver can be attached; null where nothing limits them. */
  readonly attachLimits: Amounts | null;
  /** Host ports that are taken by pods which are not placed: those of its kubelet. */
  readonly hostPorts: readonly HostPort[];
  /** `existing`, `upcoming` (its machine is on its way) or `new` (only planned). */
  readonly origin: 'existing' | 'upcoming' | 'new';
  /** The NodeGroup that it belongs to; null for a node of nobody's. */
  readonly group: string | null;
  /** Null for a node of nobody's. */
  readonly instanceType: string | null;
  /** Equal for nodes that only differ in their names; each node without one is a shape of its own. */
  readonly template: string | null;
}

/** A node in a packing, with what is on it. Only the packing changes it. */
export interface Slot extends SlotSpec {
  readonly index: number;
  readonly shape: number;
  /** By the packing's own numbers of resources. */
  readonly capacity: readonly number[];
  /** What of it is left; as in kube-scheduler an int64, which ends where amounts add up to more. */
  readonly free: number[];
  readonly maxPods: number;
  podCount: number;
  isClosed: boolean;
  readonly pods: Map<PodClass, number>;
  readonly ports: HostPort[];
  /** How often each volume is used, by its unique name. */
  readonly attached: Map<string, number>;
  /** How many volumes of each driver are attached. */
  readonly attachedByDriver: Map<string, number>;
}
