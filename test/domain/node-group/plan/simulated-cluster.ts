/** A cluster with a clock of its own: pods come and go, the scheduler places them, machines come late, and plans are carried out. */
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { InstanceType, Machine, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { ClusterPlan, Removal } from '../../../../domain/node-group/model/plan.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import type { RestingNode } from '../../../../domain/node-group/scale-down/plan-removals.ts';
import { fits, snapshotOf } from '../../../../domain/node-group/scheduling/fits.ts';
import { inVainChange, withChange } from '../../../../domain/node-group/status/in-vain-change.ts';
import { boundTo, machineOf, NOW, stateOf } from '../builders.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Between 0 and 1, the same for each seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The life of one node. */
interface NodeLife {
  readonly name: string;
  readonly group: string;
  readonly cameAt: number;
  wentAt: number | null;
}

export interface SimulationOptions {
  readonly groups: readonly NodeGroup[];
  readonly instanceTypes: Readonly<Record<string, readonly InstanceType[]>>;
  readonly random: () => number;
  /** Of what pods ask for, the share that they use at least; up to a quarter more. */
  readonly use: number;
  /** What the node really has, where that is not what its type promises. */
  readonly asItComes?: (node: Node) => Node;
  /** What the model does not know: why kube-scheduler does not place a pod that fits, by the pods that are there; null where it does. */
  readonly refuses?: (pod: Pod, node: Node, pods: readonly Pod[]) => string | null;
  /** Pods whose eviction is refused: a drain ends after five minutes without it, and its node rests for ten. */
  readonly holds?: (pod: Pod) => boolean;
  /** What every plan knows besides. */
  readonly beside?: Partial<ClusterState>;
}

interface Drain {
  readonly removal: Removal;
  /** The machine that must be ready first; null for none. */
  readonly replacement: string | null;
  emptyAt: number | null;
  /** Since when a pod does not leave; null where none is refused. */
  heldAt: number | null;
}

export class SimulatedCluster {
  at = NOW;
  pods: Pod[] = [];
  readonly lives: NodeLife[] = [];
  plan: ClusterPlan | null = null;
  /** How many nodes were asked for, by the plan that asked for them. */
  readonly requests: number[] = [];
  #groups: NodeGroup[];
  #nodes: Node[] = [];
  #machines: Machine[] = [];
  #memory: PlanMemory = freshPlanMemory;
  #count = 0;
  readonly #readyAt = new Map<string, number>();
  readonly #drains = new Map<string, Drain>();
  #resting: readonly RestingNode[] = [];
  readonly #utilization = new Map<string, { at: number; cpu: number; memory: number }[]>();
  readonly #options: SimulationOptions;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#groups = [...options.groups];
  }

  get nodes(): readonly Node[] {
    return this.#nodes;
  }

  /** How many machines there are, those that come and those that leave included. */
  get size(): number {
    return this.#machines.length;
  }

  get pending(): readonly Pod[] {
    return this.pods.filter(({ node }) => node === null);
  }

  /** Ten seconds pass. */
  step(): void {
    this.at += 10 * SECOND;
    this.#machinesCome();
    this.#drainsGoOn();
    this.#schedule();
    if (this.at % MINUTE === 0) this.#sample();
    this.#carryOut();
  }

  /** Another starter plans from now on: what is not in the cluster is not known any more. */
  restart(): void {
    this.#memory = freshPlanMemory;
  }

  /** From now on its kubelet is heard, or not. */
  hear(name: string, isHeard: boolean): void {
    const ready = { status: isHeard ? 'True' : 'Unknown', since: this.at } as const;
    const taints = isHeard ? [] : [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } as const];
    this.#nodes = this.#nodes.map((node) => (node.name === name ? { ...node, ready, taints } : node));
  }

  /** A person wants so many nodes. */
  want(group: string, desiredNodes: number): void {
    this.#changeGroup(group, () => ({ desiredNodes }));
  }

  run(minutes: number, each: () => void = () => {}): void {
    for (const end = this.at + minutes * MINUTE; this.at < end; ) {
      each();
      this.step();
    }
  }

  #state(): ClusterState {
    return stateOf({
      at: this.at,
      nodes: this.#nodes,
      pods: this.pods,
      groups: this.#groups,
      machines: this.#machines,
      leaving: [...this.#drains.keys()],
      lingering: [],
      instanceTypes: this.#options.instanceTypes,
      utilization: Object.fromEntries(this.#utilization),
      ...this.#options.beside,
    });
  }

  #machinesCome(): void {
    for (const machine of this.#machines) {
      const readyAt = this.#readyAt.get(machine.name);
      if (readyAt === undefined || readyAt > this.at) continue;
      this.#readyAt.delete(machine.name);
      const type = this.#typeOf(machine);
      const group = this.#groups.find(({ name }) => name === machine.group);
      if (type === undefined || group === undefined) continue;
      const node: Node = {
        name: machine.name,
        uid: `uid-${machine.name}`,
        labels: {
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': machine.name,
          'node.kubernetes.io/instance-type': type.id,
          ...type.labels,
          ...group.labels,
        },
        annotations: {},
        taints: group.taints,
        isCordoned: false,
        allocatable: type.allocatable,
        providerId: machine.name,
        createdAt: this.at,
        ready: { status: 'True', since: this.at },
        isDeleting: false,
      };
      this.#nodes.push(this.#options.asItComes?.(node) ?? node);
      this.#change(machine, { phase: 'Ready', node: machine.name, phaseSince: this.at });
    }
  }

  /** Pods of a node that leaves are evicted at once, and made again elsewhere; half a minute later its machine is gone. */
  #drainsGoOn(): void {
    for (const [node, drain] of this.#drains) {
      const { removal, replacement } = drain;
      const isAwaited = this.#machines.some(({ name, phase }) => name === replacement && phase !== 'Ready');
      if (isAwaited) continue;
      const isHeld = (pod: Pod): boolean => this.#options.holds?.(pod) ?? false;
      this.pods = this.pods.map((pod) =>
        pod.node === node && pod.owner?.kind !== 'Node' && !isHeld(pod) ? this.#again(pod) : pod,
      );
      if (this.pods.some((pod) => pod.node === node && isHeld(pod))) {
        drain.heldAt ??= this.at;
        if (this.at - drain.heldAt >= 5 * MINUTE) this.#undo(drain);
        continue;
      }
      drain.emptyAt ??= this.at;
      if (this.at - drain.emptyAt < 30 * SECOND) continue;
      this.#drains.delete(node);
      this.#nodes = this.#nodes.filter(({ name }) => name !== node);
      this.#machines = this.#machines.filter(({ name }) => name !== removal.machine);
      this.pods = this.pods.filter((pod) => pod.node !== node);
      this.#utilization.delete(node);
      const life = this.lives.find(({ name }) => name === node);
      if (life !== undefined) life.wentAt = this.at;
      this.#changeGroup(removal.group, (group) => ({
        lastScaleDown: this.at,
        desiredNodes: Math.max(0, (group.desiredNodes ?? 0) - 1),
      }));
    }
  }

  #undo({ removal: { node, uid } }: Drain): void {
    this.#drains.delete(node);
    this.#resting = [...this.#resting, { uid, detail: 'its drain was blocked', until: this.at + 10 * MINUTE }];
  }

  #again(pod: Pod): Pod {
    this.#count += 1;
    const name = `${pod.name.split('.')[0] ?? ''}.${this.#count}`;
    const unscheduled = { reason: 'Unschedulable', message: '', since: this.at, writtenAt: this.at };
    return { ...pod, name, uid: `uid-${name}`, node: null, phase: 'Pending', unscheduled, createdAt: this.at };
  }

  /** kube-scheduler: of the nodes that fit, the one with most left of its resources. */
  #schedule(): void {
    if (this.pending.length === 0) return;
    const open = this.#nodes.map((node) => (this.#drains.has(node.name) ? { ...node, isCordoned: true } : node));
    this.pods = this.pods.map((pod) => {
      if (pod.node !== null) return pod;
      const snapshot = snapshotOf({ ...this.#state(), nodes: open });
      const misfits = new Map(open.map((node) => [node.name, this.#misfit(pod, node, snapshot)]));
      const fitting = open.filter(({ name }) => misfits.get(name) === null);
      const best = fitting.toSorted((a, b) => this.#share(a) - this.#share(b))[0];
      if (best === undefined) return this.#refused(pod, [...misfits.values()]);
      const placed = boundTo(best.name, pod);
      this.#replace(placed);
      return placed;
    });
  }

  #misfit(pod: Pod, node: Node, snapshot: ReturnType<typeof snapshotOf>): string | null {
    const fit = fits(pod, node.name, snapshot);
    return fit.kind === 'misfit' ? fit.detail : (this.#options.refuses?.(pod, node, this.pods) ?? null);
  }

  /** Says of how many nodes it has looked at none is good, and why. */
  #refused(pod: Pod, misfits: readonly (string | null | undefined)[]): Pod {
    const why = [...new Set(misfits)].map(
      (misfit) => `${misfits.filter((other) => other === misfit).length} ${misfit ?? ''}`,
    );
    const message = `0/${misfits.length} nodes are available: ${why.join(', ')}.`;
    if (pod.unscheduled?.message === message) return pod;
    return { ...pod, unscheduled: { reason: 'Unschedulable', since: pod.createdAt, message, writtenAt: this.at } };
  }

  #replace(pod: Pod): void {
    this.pods = this.pods.map((other) => (other.uid === pod.uid ? pod : other));
  }

  /** The share of the node's resources that its pods have asked for. */
  #share({ name, allocatable }: Node, resource: 'cpu' | 'memory' | 'both' = 'both'): number {
    const asked = (of: string): number =>
      this.pods.reduce((sum, { node, requests }) => sum + (node === name ? (requests[of] ?? 0) : 0), 0) /
      (allocatable[of] ?? 1);
    return resource === 'both' ? (asked('cpu') + asked('memory')) / 2 : asked(resource);
  }

  #sample(): void {
    for (const node of this.#nodes) {
      const used = (resource: 'cpu' | 'memory'): number =>
        5 + 100 * this.#share(node, resource) * (this.#options.use + 0.25 * this.#options.random());
      const samples = this.#utilization.get(node.name) ?? [];
      samples.push({ at: this.at, cpu: used('cpu'), memory: used('memory') });
      this.#utilization.set(node.name, samples.slice(-15));
    }
  }

  #carryOut(): void {
    this.#resting = this.#resting.filter(({ until }) => until > this.at);
    const options = { blocked: {}, memory: this.#memory, requested: [], resting: this.#resting };
    const { plan, memory } = planCluster(this.#state(), options);
    this.#memory = memory;
    this.plan = plan;
    const asked = plan.newNodes.reduce((sum, { count }) => sum + count, 0);
    if (asked > 0) this.requests.push(asked);
    for (const { group, instanceType, count, kinds = [] } of plan.newNodes) {
      for (let index = 0; index < count; index += 1) this.#create(group, instanceType, kinds);
      this.#raise(group);
    }
    // As the workflow of the group does.
    for (const [name, wanted] of Object.entries(plan.inVain)) {
      this.#changeGroup(name, ({ inVain }) => {
        const change = inVainChange(inVain, wanted);
        return change === null ? {} : { inVain: withChange(inVain, change) };
      });
    }
    for (const removal of plan.removals) {
      const { instanceType, kinds = [] } = removal.replacement ?? {};
      const replacement =
        instanceType === undefined ? null : this.#create(removal.group, instanceType, kinds, removal.uid);
      if (replacement !== null) this.#raise(removal.group);
      this.#drains.set(removal.node, { removal, replacement, emptyAt: null, heldAt: null });
    }
  }

  /** What was created is wanted. */
  #raise(group: string): void {
    const machines = this.#machines.filter((machine) => machine.group === group).length;
    this.#changeGroup(group, () => ({ lastScaleUp: this.at, desiredNodes: machines }));
  }

  #create(group: string, instanceType: string, cameFor: readonly string[], replaces: string | null = null): string {
    this.#count += 1;
    const name = `${group}-${String(this.#count).padStart(5, '0')}`;
    const since = { createdAt: this.at, phaseSince: this.at };
    this.#machines.push(machineOf(name, group, { instanceType, cameFor, replaces, ...since }));
    this.#readyAt.set(name, this.at + (40 + 140 * this.#options.random()) * SECOND);
    this.lives.push({ name, group, cameAt: this.at, wentAt: null });
    return name;
  }

  #typeOf({ group, instanceType }: Machine): InstanceType | undefined {
    return (this.#options.instanceTypes[group] ?? []).find(({ id }) => id === instanceType);
  }

  #change(machine: Machine, over: Partial<Machine>): void {
    this.#machines = this.#machines.map((other) => (other.name === machine.name ? { ...other, ...over } : other));
  }

  #changeGroup(name: string, over: (group: NodeGroup) => Partial<NodeGroup>): void {
    this.#groups = this.#groups.map((group) => (group.name === name ? { ...group, ...over(group) } : group));
  }
}
