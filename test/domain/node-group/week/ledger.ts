/** What became of a cluster's nodes and pods, and what must never be: each violation is a sentence. */
import { REMEMBERED_MS } from '../../../../domain/node-group/model/in-vain.ts';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { ClusterPlan, NewNodes, Removal } from '../../../../domain/node-group/model/plan.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { podKind } from '../../../../domain/node-group/plan/pod-kind.ts';
import { MINUTE, STEP_MS, type WeekCluster, type Watcher } from './week-cluster.ts';

/** A pod of a team that a node could be had for waits no longer: machines take six minutes, and a trial fifteen. */
const SERVED_WITHIN_MS = 24 * MINUTE;
/** A node that is itself no good says nothing of its type, so a second one may come. */
const MOST_IN_VAIN = 2;
/** In place of one node, each time that it is not ready: the drain after the first one may have failed. */
const MOST_REPLACEMENTS = 2;

/** Nodes that were made, and pods that got a place. */
interface Served {
  nodes: number;
  pods: number;
}

interface Asked {
  readonly kind: string;
  /** One of the pods. */
  readonly pod: string;
  /** The moments of the plans. */
  readonly plans: Set<number>;
}

export class Ledger implements Watcher {
  readonly violations: string[] = [];
  /** Of teams: nodes for which at least one of their pods waited. */
  readonly honest: Served = { nodes: 0, pods: 0 };
  readonly hostile: Served = { nodes: 0, pods: 0 };
  /** Nodes for a minimum or a wanted size, and in place of others. */
  others = 0;
  deletions = 0;
  longestWaitMs = 0;
  #cluster: WeekCluster | null = null;
  #waiting = new Map<string, Pod>();
  readonly #served = new Set<string>();
  /** By kind and type. */
  readonly #asked = new Map<string, Asked>();
  /** By the UID of the Node, and since when it has been as it is. */
  readonly #replacements = new Map<string, number>();
  readonly #waits = new Map<string, number>();

  planned(plan: ClusterPlan, cluster: WeekCluster): void {
    this.#cluster = cluster;
    this.#waiting = new Map(cluster.pending.map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    for (const { uid, node, replacement, group } of plan.removals) {
      if (replacement === null || cluster.blocked.has(group)) continue;
      const since = cluster.nodes.find(({ name }) => name === node)?.ready.since ?? 0;
      const key = `${uid} ${since}`;
      const count = (this.#replacements.get(key) ?? 0) + 1;
      this.#replacements.set(key, count);
      if (count === MOST_REPLACEMENTS + 1) this.#violated(`${node} is to be replaced ${count} times`);
    }
  }

  created({ reason, pods }: NewNodes, { group, instanceType }: Machine): void {
    if (reason !== 'PendingPods') {
      this.others += 1;
      return;
    }
    const waiting = pods.flatMap((name) => this.#waiting.get(name) ?? []);
    (waiting.some((pod) => this.#isHonest(pod)) ? this.honest : this.hostile).nodes += 1;
    for (const pod of waiting) {
      const kind = podKind(pod);
      const key = `${kind} ${group} ${instanceType}`;
      const at = this.#cluster?.at ?? 0;
      const known = this.#asked.get(key);
      // What is learnt is forgotten when no such pod has waited for two days.
      const isForgotten = known !== undefined && at - Math.max(...known.plans) >= REMEMBERED_MS;
      if (isForgotten) this.#asked.set(`${key} before ${at}`, known);
      const asked = known === undefined || isForgotten ? { kind, pod: pod.name, plans: new Set<number>() } : known;
      asked.plans.add(at);
      this.#asked.set(key, asked);
    }
  }

  bound(pod: Pod): void {
    const kind = podKind(pod);
    this.#served.add(kind);
    const records = this.#cluster?.groups.flatMap(({ inVain }) => inVain) ?? [];
    // A machine and its node have one name here.
    const isDenied = records.some((each) => each.kind === kind && each.machine === pod.node && each.isFirm);
    if (isDenied) this.#violated(`${pod.node ?? ''} is said to have come in vain for ${pod.name}, and has it now`);
    (this.#isHonest(pod) ? this.honest : this.hostile).pods += 1;
  }

  deleted({ node, reason }: Removal, pods: readonly Pod[], evicted: ReadonlySet<string>): void {
    this.deletions += 1;
    for (const pod of pods) {
      const isUsed = pod.owner?.kind !== 'DaemonSet' && !evicted.has(pod.uid);
      if (isUsed) this.#violated(`${node} is deleted (${reason}) with ${pod.name} on it, which was not evicted`);
    }
  }

  /**
   * After each step.
   *
   * @param isTroubled pods need not be served meanwhile.
   */
  look(cluster: WeekCluster, isTroubled: boolean): void {
    for (const { name, maxNodes } of cluster.groups) {
      const size = cluster.machines.filter(({ group }) => group === name).length;
      if (size > maxNodes) this.#violated(`${name} has ${size} machines, and may have ${maxNodes}`);
    }
    const whys = new Map(cluster.plan?.unhelped.map((why) => [`${why.namespace}/${why.name}`, why]));
    for (const pod of cluster.pending.filter((each) => this.#isHonest(each))) {
      const why = whys.get(`${pod.namespace}/${pod.name}`);
      const isCounted = !isTroubled && why?.reason !== 'AtMaximum';
      const waited = (this.#waits.get(pod.uid) ?? 0) + (isCounted ? STEP_MS : 0);
      this.#waits.set(pod.uid, waited);
      this.longestWaitMs = Math.max(this.longestWaitMs, waited);
      if (isCounted && waited === SERVED_WITHIN_MS) {
        this.#violated(`${pod.name} waits: ${why === undefined ? 'no word' : `${why.reason}, ${why.detail}`}`);
      }
    }
  }

  /** In how many plans nodes of a type were asked for pods of a kind that never got one: the most. */
  mostInVain(): number {
    const inVain = [...this.#asked].filter(([, { kind }]) => !this.#served.has(kind));
    for (const [key, { plans, pod }] of inVain) {
      if (plans.size > MOST_IN_VAIN) this.#violated(`${plans.size} plans asked for ${key}, for ${pod}, which got none`);
    }
    return Math.max(0, ...inVain.map(([, { plans }]) => plans.size));
  }

  #isHonest(pod: Pod): boolean {
    return this.#cluster?.workloadOf(pod)?.isHonest === true;
  }

  #violated(what: string): void {
    this.violations.push(`${new Date(this.#cluster?.at ?? 0).toISOString()}: ${what}`);
  }
}
