/** What goes wrong in a cluster: nodes that are not ready, people who delete VPSieNodes, pauses, a scheduler that is away, and starters that begin anew. */
import { MINUTE, type WeekCluster } from './week-cluster.ts';

export class Trouble {
  readonly #cluster: WeekCluster;
  readonly #random: () => number;
  readonly #readyAgain = new Map<string, number>();
  #resumesAt = 0;

  constructor(cluster: WeekCluster, random: () => number) {
    this.#cluster = cluster;
    this.#random = random;
  }

  /** Whether something is wrong that people have to wait for: nodes have failed, a group is paused, or nobody places pods. */
  get isBlind(): boolean {
    const { at, nodes, blocked, schedulerAwayUntil } = this.#cluster;
    return blocked.size > 0 || at < schedulerAwayUntil || nodes.some(({ name }) => this.#readyAgain.has(name));
  }

  /** Before each step. */
  strike(): void {
    const random = this.#random;
    const { at, nodes, machines, groups, blocked } = this.#cluster;
    for (const [name, until] of this.#readyAgain) if (until <= at) this.#recover(name);
    if (blocked.size > 0 && at >= this.#resumesAt) blocked.clear();
    if (random() < 1 / 400) this.#cluster.restart();
    // Mostly when a node has just registered, of which it has written that it is not ready.
    const isJoined = machines.some(({ phase }) => phase === 'Joining');
    if (random() < (isJoined ? 1 / 8 : 1 / 400)) {
      this.#cluster.schedulerAwayUntil = at + (2 + 8 * random()) * MINUTE;
    }
    const any = nodes[Math.floor(random() * nodes.length)];
    if (any !== undefined && random() < 1 / 300) this.#fail(any.name, 5 + random() * 80);
    // The control plane sees none of them, or about half.
    if (random() < 1 / 2_500) {
      const share = random() < 0.5 ? 1 : 0.5;
      for (const { name } of nodes) if (random() < share) this.#fail(name, 40 + random() * 10);
    }
    const machine = machines[Math.floor(random() * machines.length)];
    if (machine?.phase === 'Ready' && random() < 1 / 700) {
      this.#cluster.changeMachine(machine.name, { isDrainRequested: true });
    }
    const group = groups[Math.floor(random() * groups.length)];
    if (group !== undefined && blocked.size === 0 && random() < 1 / 2_000) {
      blocked.set(group.name, { reason: 'Paused', detail: `${group.name} is paused`, until: null });
      this.#resumesAt = at + 60 * MINUTE;
    }
  }

  #fail(name: string, minutes: number): void {
    const { at } = this.#cluster;
    const taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' } as const;
    this.#cluster.changeNode(name, (node) => ({
      ...node,
      ready: { status: 'Unknown', since: at },
      taints: [...node.taints.filter(({ key }) => key !== taint.key), taint],
    }));
    this.#readyAgain.set(name, at + Math.floor(minutes) * MINUTE);
  }

  #recover(name: string): void {
    const { at } = this.#cluster;
    this.#readyAgain.delete(name);
    this.#cluster.changeNode(name, (node) => ({
      ...node,
      ready: { status: 'True', since: at },
      taints: node.taints.filter(({ key }) => key !== 'node.kubernetes.io/unreachable'),
    }));
  }
}
