/** A cache that scales, told as it happens: load rises, the autoscaler adds servers, load falls, and they go one at a time. */
import { isDeepStrictEqual } from 'node:util';
import { sentence } from '../../domain/kernel/sentence.ts';
import { memcachedId } from '../../domain/memcached/target.ts';
import { type MetricsApi, startMetricsApi } from '../kernel/servers/metrics-api.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoscaler } from '../memcached/autoscaler.ts';
import { MemcachedCluster, startMemcachedPlane } from '../memcached/cluster.ts';
import { onThisMachine } from '../memcached/kubelet/addresses.ts';
import { type Kubelet, startKubelet } from '../memcached/kubelet/kubelet.ts';
import { TextClient } from '../memcached/text-client.ts';
import { pause, unlessInterrupted } from './interrupt.ts';
import { addressesOf, startPrograms, stoppedOnFailure } from './plane-story.ts';
import { KUBERNETES_AND_TEMPORAL, type Story, type Teller } from './story.ts';

/** The Memcached and its namespace. */
const NAME = 'sessions';
const WORKFLOW_ID = memcachedId({ cluster: CLUSTER, namespace: NAME, name: NAME });
const KEYS = 60;
/** Thousandths of a core that all clients together use up: for two pods of 100m each little, for five enough. */
const CALM = 100;
const BUSY = 400;
/** Three times what a chapter takes on a slow machine. */
const CHAPTER_MS = 60_000;
const EVERY_MS = 200;

const spec = {
  resources: { requests: { cpu: '100m' } },
  monitoring: { enabled: true },
  autoscaling: {
    enabled: true,
    minReplicas: 2,
    maxReplicas: 5,
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
    scaleDownOnePodEvery: '4s',
  },
};

interface Parts {
  readonly plane: HeadroomPlane;
  readonly metrics: MetricsApi;
  readonly kubelet: Kubelet;
}

/** It succeeds when there were two servers, then five, then two again, one less at a time. */
export const memcachedStory: Story = {
  opening: 'Starting Kubernetes with its autoscaler, Temporal, and Headroom',
  servers: [...KUBERNETES_AND_TEMPORAL, 'memcached_exporter', 'memcached'],
  start: async (teller) => {
    const parts = await unlessInterrupted(teller, async () => await startParts(teller));
    return {
      tell: async () => {
        const succeeded = await new Tale(parts, teller).tell();
        return { succeeded, addresses: addressesOf(parts.plane, WORKFLOW_ID) };
      },
      stop: async () => {
        await parts.kubelet.stop();
        await parts.metrics.stop();
        await parts.plane.stop();
      },
    };
  },
};

async function startParts(teller: Teller): Promise<Parts> {
  const plane = await startMemcachedPlane({ ownServers: true, controllerManagerFlags: quickAutoscaler });
  return await stoppedOnFailure(plane, async () => {
    teller.log('Kubernetes and Temporal are up');
    const { adminKubeconfig } = plane.plane;
    const metrics = await startMetricsApi(adminKubeconfig);
    metrics.setLoad(NAME, CALM);
    teller.log('metrics are served');
    await startPrograms(plane, teller);
    return { plane, metrics, kubelet: await startKubelet(adminKubeconfig, NAME) };
  });
}

interface Server {
  readonly slot: number;
  readonly address: string;
}

class Tale {
  readonly #parts: Parts;
  readonly #log: Teller['log'];
  readonly #interrupt: AbortSignal;
  readonly #cluster: MemcachedCluster;
  /** What was told last, by the type of the condition. */
  readonly #shown = new Map<string, string>();

  constructor(parts: Parts, { log, interrupt }: Teller) {
    this.#parts = parts;
    this.#log = log;
    this.#interrupt = interrupt;
    this.#cluster = new MemcachedCluster(parts.plane);
  }

  async tell(): Promise<boolean> {
    const { metrics } = this.#parts;
    this.#log('a Memcached comes: 2 to 5 servers, by 80 % of the CPU that they request');
    await this.#cluster.create(NAME, spec);
    if (!(await this.#untilReady(2))) return false;
    const writes = await this.#scalingWrites();
    const watched = await this.#cluster.watchReplicas(NAME);

    const before = await this.#untilListed(2);
    await this.#fill(before);
    this.#log('the load rises to four times what it was');
    metrics.setLoad(NAME, BUSY);
    if (!(await this.#untilReady(5))) return false;
    const during = await this.#untilListed(5);
    this.#log(`${during.map(shown).join(', ')}: where they were, with ${await this.#kept(before)} of ${KEYS} keys`);
    const isKept = isDeepStrictEqual(during.slice(0, 2), before);

    const [first] = during;
    this.#log('the server of slot 0 is lost');
    await this.#lose(first);
    const after = await this.#untilListed(5, first);
    const isReplaced = isDeepStrictEqual(after.slice(1), during.slice(1));
    this.#log(`another one has its slot, and the others keep theirs: ${after.map(shown).join(', ')}`);

    this.#log('the load falls: one server goes every 4 s, and clients move its keys meanwhile');
    metrics.setLoad(NAME, CALM / 4);
    if (!(await this.#untilReady(2))) return false;
    this.#log(`${(await this.#untilListed(2)).map(shown).join(' and ')} are left`);
    watched.stop();
    const { counts } = watched;
    const written = (await this.#scalingWrites()) - writes;
    console.log();
    if (written > 0) this.#log(`Headroom wrote the Deployment or its autoscaler ${written} times`);
    this.#log(`${counts.join(' → ')} servers, a number that is the autoscaler's alone`);
    const isGentle = counts.every((count, at) => (counts[at - 1] ?? 0) - count <= 1);
    const isAsTold = isKept && isReplaced && isGentle && written === 0;
    return isAsTold && counts.at(0) === 2 && Math.max(...counts) === 5 && counts.at(-1) === 2;
  }

  async #scalingWrites(): Promise<number> {
    const writes = await this.#cluster.writes(NAME);
    return writes.filter((write) => /deployments|horizontalpodautoscalers/.test(write)).length;
  }

  /** Tells what changes, until so many servers are wanted and ready. */
  async #untilReady(servers: number): Promise<boolean> {
    const deadline = Date.now() + CHAPTER_MS;
    const managed = `Available=True Available: ${servers}/${servers} replicas are ready (HPA-managed)`;
    while (Date.now() < deadline && !this.#interrupt.aborted) {
      const conditions = await this.#cluster.conditions(NAME);
      this.#tellConditions(conditions);
      if (conditions.includes(managed)) return true;
      await pause(EVERY_MS, this.#interrupt);
    }
    return false;
  }

  #tellConditions(conditions: readonly string[]): void {
    for (const condition of conditions) {
      const [, type = '', is, message = ''] = /^(Available|Autoscaling)=(\w+) \w+: (.*)$/.exec(condition) ?? [];
      if (message === '' || message === this.#shown.get(type)) continue;
      this.#shown.set(type, message);
      this.#log(is === 'True' ? sentence(message) : `Not ${type}: ${sentence(message)}`);
    }
  }

  /** The servers by their slots, as the status has them, when there are so many. */
  async #untilListed(count: number, lost?: Server): Promise<readonly Server[]> {
    return await eventually(`${count} servers are listed`, async () => {
      const { servers = [] } = (await this.#cluster.read(NAME)).status ?? {};
      const isThere = servers.length === count && !servers.some(({ address }) => address === lost?.address);
      return isThere || this.#interrupt.aborted ? servers : undefined;
    });
  }

  /** As a node does that is shut down. */
  async #lose(server: Server | undefined): Promise<void> {
    const { items } = await this.#cluster.core.listNamespacedPod({ namespace: NAME });
    const pod = items.find(({ status }) => server?.address.startsWith(`${status?.podIP}:`));
    await this.#cluster.core.deleteNamespacedPod({ namespace: NAME, name: pod?.metadata?.name ?? '' });
  }

  async #fill(servers: readonly Server[]): Promise<void> {
    const clients = await connected(servers);
    for (let key = 0; key < KEYS; key += 1) await clients[key % clients.length]?.set(`key-${key}`, String(key));
    this.#log(`clients put ${KEYS} keys into ${servers.map(shown).join(' and ')}`);
  }

  /** How many keys are still where clients put them. */
  async #kept(servers: readonly Server[]): Promise<number> {
    const clients = await connected(servers);
    let kept = 0;
    for (let key = 0; key < KEYS; key += 1) {
      if ((await clients[key % clients.length]?.get(`key-${key}`)) === String(key)) kept += 1;
    }
    return kept;
  }
}

function shown({ slot, address }: Server): string {
  return `slot ${slot} (${address})`;
}

async function connected(servers: readonly Server[]): Promise<readonly TextClient[]> {
  const hosts = servers.map(({ address }) => onThisMachine(address.replace(/:\d+$/, '')));
  return await Promise.all(hosts.map(async (host) => await TextClient.connect(host)));
}
