/** The list of a Memcached's servers, and the pods behind it. */
import { DiscoveryV1Api, type V1ConfigMap, type V1Pod, Watch } from '@kubernetes/client-node';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type MemcachedCluster, merge } from './cluster.ts';

/** As clients read it. */
export interface Listed {
  readonly name: string;
  readonly slot: number;
  readonly address: string;
  readonly pod: string;
}

const NODE = 'node-1';

/** Flags for a control plane on which a node without a kubelet stays ready. */
export const withoutKubelets = { controllerManagerFlags: ['--controllers=*,-node-lifecycle-controller'] };

export class SlotsCluster {
  readonly #cluster: MemcachedCluster;
  #addresses = 0;

  constructor(cluster: MemcachedCluster) {
    this.#cluster = cluster;
  }

  /** Only pods on a node are in EndpointSlices. */
  async createNode(): Promise<void> {
    const { core } = this.#cluster;
    await core.createNode({ body: { metadata: { name: NODE } } });
    const body = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await core.patchNodeStatus({ name: NODE, body }, merge);
  }

  /**
   * Does what the scheduler and a kubelet do, until so many pods are ready: each gets a node and an address of its own, and those
   * that were asked to stop end.
   *
   * @param serving the pods that take longer to stop.
   */
  async ready(name: string, replicas: number, serving: readonly string[] = []): Promise<void> {
    await this.#cluster.ready(name, replicas, async (pod) => await this.#asKubelet(pod, serving));
  }

  async #asKubelet(pod: V1Pod, serving: readonly string[]): Promise<void> {
    const { core } = this.#cluster;
    const { name = '', namespace = '', deletionTimestamp } = pod.metadata ?? {};
    if (deletionTimestamp !== undefined) {
      if (!serving.includes(name)) await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
      return;
    }
    if (pod.spec?.nodeName === undefined) {
      const body = { metadata: { name }, target: { kind: 'Node', name: NODE } };
      await core.createNamespacedPodBinding({ namespace, name, body });
    }
    await this.#cluster.makeReady(pod, { podIP: pod.status?.podIP ?? this.#nextAddress() });
  }

  /** No address is given twice. */
  #nextAddress(): string {
    this.#addresses += 1;
    return `10.244.${Math.floor(this.#addresses / 250)}.${(this.#addresses % 250) + 1}`;
  }

  async read(name: string): Promise<V1ConfigMap> {
    return await this.#cluster.core.readNamespacedConfigMap({ namespace: name, name: `${name}-servers` });
  }

  async listed(name: string): Promise<readonly Listed[]> {
    return serversIn(await this.read(name));
  }

  async lines(name: string): Promise<readonly string[]> {
    return ((await this.read(name)).data?.['servers.txt'] ?? '').split('\n').filter((line) => line !== '');
  }

  async edit(name: string, text: string): Promise<void> {
    const body = { data: { 'servers.json': text } };
    await this.#cluster.core.patchNamespacedConfigMap({ namespace: name, name: `${name}-servers`, body }, merge);
  }

  /**
   * Until so many are listed, all of them pods that are there to stay, with their addresses. Pods that are still to come are made ready:
   * the counts of a Deployment say nothing of one that its controller has not missed yet.
   */
  async untilFilled(name: string, count: number, serving: readonly string[] = []): Promise<readonly Listed[]> {
    let listed: readonly Listed[] = [];
    return await eventually(
      () => `${count} servers of ${name} are listed: there are ${JSON.stringify(listed)}`,
      async () => {
        listed = await this.listed(name);
        const { items } = await this.#cluster.core.listNamespacedPod({ namespace: name });
        for (const pod of items) await this.#asKubelet(pod, serving);
        const staying = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
        const there = new Set(staying.map(({ metadata, status }) => `${metadata?.name} ${status?.podIP}:11211`));
        const isThere = ({ pod, address }: Listed) => there.has(`${pod} ${address}`);
        return listed.length === count && listed.every(isThere) ? listed : undefined;
      },
    );
  }

  /** Until so many pods stand behind the Service with this UID. */
  async untilEndpoints(name: string, service: string, count: number): Promise<void> {
    const discovery = accessOf(this.#cluster.plane.plane.adminKubeconfig).makeApiClient(DiscoveryV1Api);
    await eventually(`${count} pods stand behind the Service ${name}`, async () => {
      const { items } = await discovery.listNamespacedEndpointSlice({ namespace: name });
      const own = items.filter(({ metadata }) => metadata?.ownerReferences?.some(({ uid }) => uid === service));
      return own.flatMap(({ endpoints }) => endpoints ?? []).length === count;
    });
  }

  /** Every list of servers from now on. */
  async watch(name: string): Promise<{ readonly seen: readonly (readonly Listed[])[]; readonly stop: () => void }> {
    const seen: (readonly Listed[])[] = [];
    const watch = new Watch(accessOf(this.#cluster.plane.plane.adminKubeconfig));
    const onEvent = (_: string, object: V1ConfigMap): void => void seen.push(serversIn(object));
    const fieldSelector = `metadata.name=${name}-servers`;
    const path = `/api/v1/namespaces/${name}/configmaps`;
    const watched = await watch.watch(path, { fieldSelector }, onEvent, () => {});
    await eventually('the list is watched', () => seen.length > 0);
    return { seen, stop: () => watched.abort() };
  }

  async setReady(name: string, pod: string, status: 'True' | 'False'): Promise<void> {
    const body = { status: { conditions: [{ type: 'Ready', status }] } };
    await this.#cluster.core.patchNamespacedPodStatus({ namespace: name, name: pod, body }, merge);
  }
}

function serversIn({ data }: V1ConfigMap): readonly Listed[] {
  const { servers } = JSON.parse(data?.['servers.json'] ?? '') as { readonly servers: readonly Listed[] };
  return servers;
}
