/** The state of a cluster as the planning thread keeps it, and the plans that it makes of it. */
import type { EpochMs } from '../../domain/kernel/time.ts';
import { GROUP_LABEL } from '../../domain/node-group/api/names.ts';
import { restingNodes } from '../../domain/node-group/decide/memory.ts';
import { ownersAmong } from '../../domain/node-group/machine/machine-node.ts';
import { markOf } from '../../domain/node-group/drain/marks.ts';
import type { ClusterState } from '../../domain/node-group/model/cluster-state.ts';
import type { Machine } from '../../domain/node-group/model/node-group.ts';
import type { Node } from '../../domain/node-group/model/node.ts';
import type { ClusterPlan } from '../../domain/node-group/model/plan.ts';
import { claimedRemovals, upcomingMachines } from '../../domain/node-group/plan-claim.ts';
import { withForeseenPods } from '../../domain/node-group/plan/foreseen-pods.ts';
import { planCluster } from '../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory, type PlanMemory } from '../../domain/node-group/scale-down/memory.ts';
import type { MarkedNode, PlanPart, PlanRequest, PlanResult, UsageSample, WatchedParts } from './plan-messages.ts';

/** The longest window of a NodeGroup is an hour. */
const SAMPLES_KEPT_MS = 3_660_000;
/** For how long after its mark others wait for a drain. */
const LINGERING_MS = 900_000;
/** How many pods are named that get no new node. */
const NAMED = 20;

type Objects = ReadonlyMap<string, unknown>;

export class PlanBook {
  readonly #parts = new Map<PlanPart, Map<string, unknown>>();
  #samples: readonly UsageSample[] = [];
  #memory: PlanMemory = freshPlanMemory;

  /** Takes what has changed. */
  update({ isWhole, parts, samples, at }: Pick<PlanRequest, 'isWhole' | 'parts' | 'samples' | 'at'>): void {
    if (isWhole) this.#parts.clear();
    for (const [part, changes] of Object.entries(parts)) {
      const objects = this.#objects(part as PlanPart);
      for (const [key, read] of changes) {
        if (read === null) objects.delete(key);
        else objects.set(key, read);
      }
    }
    this.#samples = [...this.#samples, ...samples].filter((sample) => at - sample.at <= SAMPLES_KEPT_MS);
  }

  plan(request: PlanRequest): PlanResult {
    const { plan, state } = this.#make(request);
    // What fits a node that is there, or on its way, waits for nothing that a person could do.
    const unhelped = plan.unhelped.filter(({ reason }) => reason !== 'FitsExisting' && reason !== 'FitsUpcoming');
    return {
      ...plan,
      unhelped: { total: unhelped.length, first: unhelped.slice(0, NAMED) },
      marked: markedNodes(state),
      claimed: claimedMachines(state),
    };
  }

  /** The plan with every pod that waits: none is left out, and all that go to new nodes are named. */
  planInFull(request: PlanRequest): ClusterPlan {
    return this.#make(request, Number.POSITIVE_INFINITY).plan;
  }

  #make(request: PlanRequest, namedPods?: number): { readonly plan: ClusterPlan; readonly state: ClusterState } {
    const { blocked, groups } = request;
    const existing = new Map(groups.map(({ name, uid }) => [name, uid]));
    const wishes = request.wishes.filter(({ group, uid }) => existing.get(group) === uid);
    const requested = wishes.flatMap((each) => each.requested);
    const resting = wishes.flatMap(restingNodes);
    const state = this.#state(request);
    const options = { blocked, memory: this.#memory, requested, resting };
    const { plan, memory } = planCluster(state, namedPods === undefined ? options : { ...options, namedPods });
    this.#memory = memory;
    return { plan, state };
  }

  #state({ at, groups, claims, blocked }: PlanRequest): ClusterState {
    const begun = new Set(claimedRemovals(claims));
    const nodes = this.#all('nodes');
    const machines = this.#all('machines');
    const leaving = nodes.filter((node) => begun.has(node.uid) || markOf(node) !== null);
    const paused = new Set(Object.keys(blocked).filter((group) => blocked[group]?.reason === 'Paused'));
    const inPause = new Set(machines.filter(({ group }) => paused.has(group)).map(({ node }) => node));
    const existing = new Set(machines.map(({ name }) => name));
    const upcoming = upcomingMachines({ plan: '', claims }, existing, at).map(
      (machine): Machine => ({
        ...machine,
        uid: '',
        resourceVersion: '',
        phase: 'Pending',
        creationReason: 'metrics',
        cameFor: [],
        fillLater: 0,
        replaces: null,
        providerId: null,
        node: null,
        hostname: '',
        createdAt: machine.at,
        phaseSince: machine.at,
        isDeleting: false,
        isDrainRequested: false,
        isLabelled: true,
        heldBy: null,
      }),
    );
    const state: ClusterState = {
      at,
      nodes,
      pods: this.#all('pods'),
      daemonSets: this.#all('daemonSets'),
      limitRanges: this.#all('limitRanges'),
      runtimeClasses: this.#all('runtimeClasses'),
      budgets: this.#all('budgets'),
      claims: this.#all('claims'),
      volumes: this.#all('volumes'),
      storageClasses: this.#all('storageClasses'),
      attachLimits: this.#all('attachLimits'),
      namespaces: namespacesOf(this.#objects('namespaces')),
      groups,
      machines: [...machines, ...upcoming],
      leaving: leaving.map(({ name }) => name),
      lingering: leaving.filter((node) => inPause.has(node.name) || isLingering(node, at)).map(({ name }) => name),
      instanceTypes: Object.fromEntries(groups.map(({ name, instanceTypes }) => [name, instanceTypes])),
      utilization: utilizationOf(this.#samples),
    };
    return withForeseenPods(state, this.#all('outlooks'));
  }

  #objects(part: PlanPart): Map<string, unknown> {
    const objects = this.#parts.get(part) ?? new Map<string, unknown>();
    this.#parts.set(part, objects);
    return objects;
  }

  /** What the starter has sent is what the part's reader gave. */
  #all<Part extends PlanPart>(part: Part): readonly WatchedParts[Part][] {
    return [...this.#objects(part).values()] as readonly WatchedParts[Part][];
  }
}

/** A drain without a mark has just begun. A mark that somebody else wrote may have any time. */
function isLingering(node: Node, at: EpochMs): boolean {
  const mark = markOf(node);
  return mark !== null && Math.abs(at - mark.startedAt) >= LINGERING_MS;
}

function namespacesOf(objects: Objects): ClusterState['namespaces'] {
  const entries = [...objects].map(([key, labels]) => [key.slice(key.indexOf('/') + 1), labels] as const);
  return Object.fromEntries(entries) as ClusterState['namespaces'];
}

function utilizationOf(samples: readonly UsageSample[]): ClusterState['utilization'] {
  const byNode = new Map<string, { at: EpochMs; cpu: number; memory: number }[]>();
  for (const { at, nodes } of samples) {
    for (const [node, [cpu, memory]] of Object.entries(nodes)) {
      byNode.set(node, [...(byNode.get(node) ?? []), { at, cpu, memory }]);
    }
  }
  return Object.fromEntries(byNode);
}

/** Only an object that exists has a UID. */
function claimedMachines({ machines }: ClusterState): PlanResult['claimed'] {
  const counts = new Map<string, number>();
  for (const { group, uid } of machines) if (uid === '') counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

/** Those whose machine is not being deleted already: of the others nothing is taken back. */
function markedNodes({ nodes, machines }: ClusterState): readonly MarkedNode[] {
  const ownersOf = ownersAmong(machines);
  return nodes.flatMap((node) => {
    const mark = markOf(node);
    if (mark === null) return [];
    const owners = ownersOf(node);
    const group = owners[0]?.group ?? node.labels[GROUP_LABEL];
    if (group === undefined || (owners.length > 0 && owners.every(({ isDeleting }) => isDeleting))) return [];
    return [{ node: node.name, uid: node.uid, drain: mark.drain, group }];
  });
}
