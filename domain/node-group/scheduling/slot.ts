import type { HostPort, Labels, Taint } from '../model/pod.ts';
import type { Amounts } from '../model/resources.ts';
import type { PodClass } from './pod-class.ts';

/** What a node is for scheduling: one of the cluster, one that is on its way, or one of a template. */
export interface SlotSpec {
  readonly name: string;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  readonly isCordoned: boolean;
  readonly allocatable: Amounts;
  /** How many volumes of each CSI driver can be attached; null where nothing limits them. */
  readonly attachLimits: Amounts | null;
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
  readonly used: number[];
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
