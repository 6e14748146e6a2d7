/** Nodes that come and go, told as it happens: pods wait, machines are made for them, the pods go, and so do the machines. */
import type { V1Deployment } from '@kubernetes/client-node';
import { sentence } from '../../domain/kernel/sentence.ts';
import { nodeGroupId } from '../../domain/node-group/target.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from '../node-group/headroom/cluster.ts';
import { pause } from './interrupt.ts';
import { NodeBill } from './node-bill.ts';
import { planeStory } from './plane-story.ts';
import { KUBERNETES_AND_TEMPORAL, type Teller } from './story.ts';

const GROUP = 'shop';
const NAMESPACE = 'web';
const PODS = 40;
/** Sixteen pods of a core each fit one node, so that 40 need three. */
const LARGE = { id: 'large', capacity: { cpu: '16', memory: '64Gi', pods: '110' }, pricePerHour: 0.4 };
const NODES = 3;
/** Three times what a chapter takes on a slow machine. */
const CHAPTER_MS = 90_000;
const EVERY_MS = 250;

const labels = { app: NAMESPACE };
const resources = { requests: { cpu: '1', memory: '1Gi' } };
const deployment: V1Deployment = {
  metadata: { name: NAMESPACE },
  spec: {
    replicas: PODS,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'test/none:1', resources }] },
    },
  },
};

/** It succeeds when three nodes came for 40 pods, in one request, and all of them went after the pods. */
export const nodeGroupsStory = planeStory({
  opening: 'Starting Kubernetes with its scheduler and kwok, Temporal, and Headroom',
  servers: [...KUBERNETES_AND_TEMPORAL, 'kube-scheduler', 'kwok'],
  startPlane: async () => await startNodeGroupPlane({ ownServers: true }),
  serversAreUp: 'Kubernetes, without a single node, and Temporal are up',
  workflowId: nodeGroupId({ cluster: CLUSTER, group: GROUP }),
  tell: async (plane, teller) => await new Tale(plane, teller).tell(),
});

/** What there is at one moment. */
interface Counts {
  readonly pods: number;
  readonly running: number;
  readonly nodes: number;
  readonly readyNodes: number;
  readonly machines: number;
}

class Tale {
  readonly #cluster: NodeGroupCluster;
  readonly #log: Teller['log'];
  readonly #interrupt: AbortSignal;
  readonly #bill = new NodeBill({ [LARGE.id]: LARGE.pricePerHour });
  #shownCounts = '';
  #shownStatus = '';

  constructor(plane: HeadroomPlane, { log, interrupt }: Teller) {
    this.#cluster = new NodeGroupCluster(plane);
    this.#log = log;
    this.#interrupt = interrupt;
  }

  async tell(): Promise<boolean> {
    const { apps, core } = this.#cluster;
    await this.#cluster.defineTypes([LARGE]);
    this.#log(`a NodeGroup comes: 0 to 10 nodes of 16 CPUs, at ${LARGE.pricePerHour.toFixed(2)} an hour each`);
    await this.#cluster.createGroup(GROUP, { offeringIDs: [LARGE.id] });
    await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
    this.#log(`and a Deployment of ${PODS} pods of 1 CPU, for which there is no node`);
    await apps.createNamespacedDeployment({ namespace: NAMESPACE, body: deployment });
    const asked = Date.now();
    if (!(await this.#until(({ running }) => running === PODS))) return false;
    console.log();
    this.#log(`${PODS} pods run ${seconds(Date.now() - asked)} after they were asked for`);

    this.#log('the Deployment is scaled to nothing');
    const body = [{ op: 'replace', path: '/spec/replicas', value: 0 }];
    await apps.patchNamespacedDeployment({ namespace: NAMESPACE, name: NAMESPACE, body });
    const gone = Date.now();
    if (!(await this.#until(({ pods, nodes, machines }) => pods + nodes + machines === 0))) return false;
    console.log();
    this.#log(`the last node and its machine are gone ${seconds(Date.now() - gone)} later`);
    const { perHour, total, lifetimes } = this.#bill;
    this.#log(`${lifetimes.length} nodes lived ${lifetimes.map(seconds).join(', ')}`);
    this.#log(`they cost ${perHour.toFixed(2)} an hour together, and ${total.toFixed(4)} for the demo`);
    return lifetimes.length === NODES;
  }

  /** Tells what changes, until it is as it should be. False: it was not so in time. */
  async #until(isThere: (counts: Counts) => boolean): Promise<boolean> {
    const deadline = Date.now() + CHAPTER_MS;
    while (Date.now() < deadline && !this.#interrupt.aborted) {
      const counts = await this.#count();
      await this.#tellStatus();
      this.#tellCounts(counts);
      if (isThere(counts)) return true;
      await pause(EVERY_MS, this.#interrupt);
    }
    return false;
  }

  async #count(): Promise<Counts> {
    const [pods, nodes, machines] = await Promise.all([
      this.#cluster.pods(NAMESPACE),
      this.#cluster.core.listNode(),
      this.#cluster.machines(GROUP),
    ]);
    this.#bill.see(nodes.items, Date.now());
    const isReady = ({ status }: (typeof nodes.items)[number]): boolean =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    return {
      pods: pods.length,
      running: pods.filter(({ status }) => status?.phase === 'Running').length,
      nodes: nodes.items.length,
      readyNodes: nodes.items.filter(isReady).length,
      machines: machines.length,
    };
  }

  #tellCounts({ pods, running, nodes, readyNodes }: Counts): void {
    const shown = `${running} of ${pods} pods run, ${readyNodes} of ${nodes} nodes are ready`;
    if (shown === this.#shownCounts) return;
    this.#shownCounts = shown;
    this.#log(shown);
  }

  /** What the workflow of the group says; nothing before there is one. */
  async #tellStatus(): Promise<void> {
    const status = await this.#cluster.status(GROUP).catch(() => null);
    const shown = status === null ? '' : `${status.phase} (${status.reason}): ${sentence(status.detail)}`;
    if (shown === '' || shown === this.#shownStatus) return;
    this.#shownStatus = shown;
    this.#log(shown);
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
