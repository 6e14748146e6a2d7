/** A cluster that lives through days in steps of two minutes: controllers, kube-scheduler, machines, drains, and a plan in each. */
import type { ClusterState, DaemonSet } from '../../../../domain/node-group/model/cluster-state.ts';
import type { InstanceType, Machine, NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { ClusterPlan, NewNodes, Removal } from '../../../../domain/node-group/model/plan.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import type { Blocked } from '../../../../domain/node-group/plan/offers.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { loweredDesired, raisedDesired } from '../../../../domain/node-group/rules/desired.ts';
import { freshPlanMemory, type PlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import type { RestingNode } from '../../../../domain/node-group/scale-down/plan-removals.ts';
import { inVainChange, withChange } from '../../../../domain/node-group/status/in-vain-change.ts';
import { boundTo, machineOf, NOW, stateOf } from '../builders.ts';
import { type BudgetSpec, budgetOf } from './api-server.ts';
import { type Drain, type DrainedCluster, drainOn, marked, unmarked } from './drains.ts';
import { askedOf, KubeScheduler } from './kube-scheduler.ts';
import { PodLife } from './pod-life.ts';
import { attachLimitsOf, storage } from './tenants.ts';
import type { Workload } from './workloads.ts';

export const MINUTE = 60_000;
/** Between two plans: starters make one each minute at least, which finds no more. */
export const STEP_MS = 2 * MINUTE;
/** A drain that failed is not begun again for so long. */
const RESTS_MS = 60 * MINUTE;
const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const;

export interface WeekOptions {
  readonly groups: readonly NodeGroup[];
  readonly instanceTypes: ClusterState['instanceTypes'];
  readonly daemonSets: readonly DaemonSet[];
  /** What of a DaemonSet is on a node; null where none comes. */
  readonly daemonPod: (set: DaemonSet, node: Node) => Pod | null;
  readonly random: () => number;
  /** Of what pods ask for, the share that they use. */
  readonly use: number;
  /** What no model knows: kube-scheduler has a plugin of its own. */
  readonly refuses: (pod: Pod) => boolean;
}

/** What is told to whoever watches. */
export interface Watcher {
  readonly planned: (plan: ClusterPlan, cluster: WeekCluster) => void;
  readonly created: (line: NewNodes, machine: Machine) => void;
  readonly bound: (pod: Pod) => void;
  /** Just before its machine is deleted; `evicted`: the UIDs of all pods that an eviction was allowed for. */
  readonly deleted: (removal: Removal, pods: readonly Pod[], evicted: ReadonlySet<string>) => void;
}

export class WeekCluster implements DrainedCluster {
  at = NOW;
  pods: Pod[] = [];
  budgets: BudgetSpec[] = [];
  nodes: Node[] = [];
  machines: Machine[] = [];
  groups: NodeGroup[];
  /** Groups that are paused, by name. */
  readonly blocked = new Map<string, Blocked>();
  readonly drains = new Map<string, Drain>();
  /** Until then kube-scheduler is away, or far behind. */
  schedulerAwayUntil = 0;
  /** The last one. */
  plan: ClusterPlan | null = null;
  readonly #options: WeekOptions;
  readonly #watcher: Watcher;
  /** When machines register, by their names. */
  readonly #comesAt = new Map<string, number>();
  readonly #life = new PodLife();
  readonly #scheduler: KubeScheduler;
  readonly #evicted = new Set<string>();
  readonly #utilization = new Map<string, { at: number; cpu: number; memory: number }[]>();
  #resting: RestingNode[] = [];
  #memory: PlanMemory = freshPlanMemory;
  #count = 0;

  constructor(options: WeekOptions, watcher: Watcher) {
    this.#options = options;
    this.#watcher = watcher;
    this.#scheduler = new KubeScheduler(options);
    this.groups = [...options.groups];
  }

  get pending(): readonly Pod[] {
    return this.pods.filter(({ node }) => node === null);
  }

  get workloads(): Map<string, Workload> {
    return this.#life.workloads;
  }

  workloadOf(pod: Pod): Workload | undefined {
    return this.#life.workloadOf(pod);
  }

  /** Another starter plans from now on. */
  restart(): void {
    this.#memory = freshPlanMemory;
  }

  step(): void {
    this.at += STEP_MS;
    this.pods = this.#life.run(this.pods, this.nodes, this.at);
    this.#machinesCome();
    this.pods = this.#life.control(this.pods, this.at);
    this.#daemonsCome();
    this.#drainsGoOn();
    this.pods = this.#life.control(this.pods, this.at);
    this.#schedule();
    this.#sample();
    this.#carryOut();
  }

  changeNode(name: string, over: (node: Node) => Node): void {
    this.nodes = this.nodes.map((node) => (node.name === name ? over(node) : node));
  }

  changeMachine(name: string, over: Partial<Machine>): void {
    this.machines = this.machines.map((machine) => (machine.name === name ? { ...machine, ...over } : machine));
  }

  evicted(pod: Pod, grace: number): void {
    this.#evicted.add(pod.uid);
    const deletesAt = this.at + grace * 1_000;
    this.pods = this.pods.map((other) => (other.uid === pod.uid ? { ...pod, deletesAt } : other));
  }

  state(): ClusterState {
    return stateOf({
      at: this.at,
      nodes: this.nodes,
      pods: this.pods,
      groups: this.groups,
      machines: this.machines,
      daemonSets: this.#options.daemonSets,
      budgets: this.budgets.map((spec) => budgetOf(spec, this.pods)),
      claims: storage.claims,
      volumes: storage.volumes,
      attachLimits: this.nodes.map(({ name }) => attachLimitsOf(name)),
      namespaces: Object.fromEntries(
        this.pods.map(({ namespace }) => [namespace, { 'kubernetes.io/metadata.name': namespace }]),
      ),
      leaving: [...this.drains.keys()],
      instanceTypes: this.#options.instanceTypes,
      utilization: Object.fromEntries(this.#utilization),
    });
  }

  /** A machine registers as a node that is not ready, and is one in the next step. */
  #machinesCome(): void {
    for (const machine of this.machines) {
      const { name } = machine;
      const comesAt = this.#comesAt.get(name);
      if (comesAt === undefined || comesAt > this.at) continue;
      const group = this.groups.find((each) => each.name === machine.group);
      const type = this.#typeOf(machine);
      if (group === undefined || type === undefined) continue;
      if (machine.phase === 'Joining') {
        this.#comesAt.delete(name);
        this.changeNode(name, (node) => ({
          ...node,
          ready: { status: 'True', since: this.at },
          taints: node.taints.filter(({ key }) => key !== NOT_READY.key),
        }));
        this.changeMachine(name, { phase: 'Ready', phaseSince: this.at });
        continue;
      }
      this.nodes.push({
        name,
        uid: `uid-${name}`,
        labels: {
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': name,
          'node.kubernetes.io/instance-type': type.id,
          ...type.labels,
          ...group.labels,
        },
        annotations: {},
        taints: [...group.taints, NOT_READY],
        isCordoned: false,
        allocatable: type.allocatable,
        providerId: name,
        createdAt: this.at,
        ready: { status: 'False', since: this.at },
        isDeleting: false,
      });
      this.changeMachine(name, { phase: 'Joining', node: name, phaseSince: this.at });
    }
  }

  #daemonsCome(): void {
    const there = new Set(this.pods.map(({ uid }) => uid));
    for (const node of this.nodes) {
      if (node.ready.status !== 'True') continue;
      for (const set of this.#options.daemonSets) {
        const pod = this.#options.daemonPod(set, node);
        if (pod !== null && !there.has(pod.uid)) this.pods.push(boundTo(node.name, pod));
      }
    }
  }

  #drainsGoOn(): void {
    for (const [name, drain] of this.drains) {
      const step = drainOn(drain, this);
      if (step === 'goes-on') continue;
      this.drains.delete(name);
      if (step === 'empty') this.#delete(drain.removal);
      else {
        this.changeNode(name, unmarked);
        this.#resting.push({ uid: drain.removal.uid, detail: 'its drain failed', until: this.at + RESTS_MS });
      }
    }
  }

  #delete(removal: Removal): void {
    const { node, machine } = removal;
    this.#watcher.deleted(
      removal,
      this.pods.filter((pod) => pod.node === node),
      this.#evicted,
    );
    this.nodes = this.nodes.filter(({ name }) => name !== node);
    this.machines = this.machines.filter(({ name }) => name !== machine);
    this.pods = this.pods.filter((pod) => pod.node !== node);
    this.#utilization.delete(node);
    this.#changeGroup(removal.group, ({ name, desiredNodes, minNodes }) => ({
      lastScaleDown: this.at,
      desiredNodes: loweredDesired(desiredNodes, this.#staying(name), minNodes),
    }));
  }

  #schedule(): void {
    if (this.at < this.schedulerAwayUntil) return;
    const waited = new Set(this.pending.map(({ uid }) => uid));
    this.pods = this.#scheduler.run(this.state());
    for (const pod of this.pods) if (pod.node !== null && waited.has(pod.uid)) this.#watcher.bound(pod);
  }

  #sample(): void {
    const share = ({ name, allocatable }: Node, resource: string): number => {
      const all = allocatable[resource] ?? 1;
      return Math.min(100, Math.max(0, (100 * this.#options.use * askedOf(this.pods, name, resource)) / all));
    };
    for (const node of this.nodes) {
      const samples = this.#utilization.get(node.name) ?? [];
      samples.push({ at: this.at, cpu: share(node, 'cpu'), memory: share(node, 'memory') });
      this.#utilization.set(node.name, samples.slice(-15));
    }
  }

  #carryOut(): void {
    this.#resting = this.#resting.filter(({ until }) => until > this.at);
    const { plan, memory } = planCluster(this.state(), {
      blocked: Object.fromEntries(this.blocked),
      memory: this.#memory,
      requested: [],
      resting: this.#resting,
      namedPods: 10_000,
    });
    this.#memory = memory;
    this.plan = plan;
    this.#watcher.planned(plan, this);
    for (const line of plan.newNodes) {
      for (let index = 0; index < line.count; index += 1) this.#create(line);
      this.#raise(line.group);
    }
    // As the workflow of the group does.
    for (const [name, wanted] of Object.entries(plan.inVain)) {
      this.#changeGroup(name, ({ inVain }) => {
        const change = inVainChange(inVain, wanted);
        return change === null ? {} : { inVain: withChange(inVain, change) };
      });
    }
    for (const removal of plan.removals) {
      if (this.blocked.has(removal.group)) continue;
      const replacement = removal.replacement === null ? null : this.#create(replacementOf(removal), removal.uid);
      if (replacement !== null) this.#raise(removal.group);
      this.drains.set(removal.node, { removal, replacement, began: this.at, progress: null });
      this.changeNode(removal.node, (node) => marked(node, this.at));
    }
  }

  /** @param replaces the UID of the Node in whose place it comes; null for none. */
  #create(line: NewNodes, replaces: string | null = null): string {
    const { group, instanceType, kinds = [] } = line;
    this.#count += 1;
    const name = `${group}-${String(this.#count).padStart(6, '0')}`;
    const over = { instanceType, cameFor: kinds, replaces, createdAt: this.at, phaseSince: this.at };
    const machine = machineOf(name, group, over);
    this.machines.push(machine);
    this.#comesAt.set(name, this.at + (1 + Math.floor(2 * this.#options.random())) * MINUTE);
    this.#watcher.created(line, machine);
    return name;
  }

  #staying(group: string): number {
    return this.machines.filter((machine) => machine.group === group).length;
  }

  #raise(group: string): void {
    this.#changeGroup(group, ({ desiredNodes }) => ({
      lastScaleUp: this.at,
      desiredNodes: raisedDesired(desiredNodes, this.#staying(group)),
    }));
  }

  #typeOf({ group, instanceType }: Machine): InstanceType | undefined {
    const types = new Map(Object.entries(this.#options.instanceTypes)).get(group) ?? [];
    return types.find(({ id }) => id === instanceType);
  }

  #changeGroup(name: string, over: (group: NodeGroup) => Partial<NodeGroup>): void {
    this.groups = this.groups.map((group) => (group.name === name ? { ...group, ...over(group) } : group));
  }
}

function replacementOf({ group, replacement }: Removal): NewNodes {
  const { instanceType = '', kinds = [] } = replacement ?? {};
  return { group, instanceType, count: 1, reason: 'Replacement', pods: [], podCount: 0, kinds };
}
