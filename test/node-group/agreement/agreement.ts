/** Asks the real kube-scheduler and the simulation the same question, thousands of times. */
import {
  CoreV1Api,
  PatchStrategy,
  setHeaderOptions,
  StorageV1Api,
  type V1Node,
  type V1Pod,
  Watch,
} from '@kubernetes/client-node';
import { storedPodSpec, type TemplateSpec } from '../../../domain/kernel/stored-pod.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { fits, snapshotOf } from '../../../domain/node-group/scheduling/fits.ts';
import {
  readAttachLimits,
  readClaim,
  readNode,
  readVolume,
} from '../../../domain/node-group/scheduling/read-objects.ts';
import { readPod } from '../../../domain/node-group/scheduling/read-pod.ts';
import { type Random, seededRandom } from '../../chaos/random.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { isUnschedulable, type NodePlane } from '../plane.ts';
import { NAMESPACES, pinned, randomCsiNode, randomNode, randomPod, randomResize } from './random-cluster.ts';

/** A question that was answered differently. */
export interface Difference {
  readonly question: number;
  readonly simulation: string;
  readonly scheduler: string;
  readonly pod: unknown;
}

export interface Agreement {
  readonly questions: number;
  /** How many pods found a node. */
  readonly bound: number;
  /** How many the scheduler gave up on, because its own scores of the nodes overflowed. */
  readonly unanswered: number;
  /** How often each rule of the simulation kept a pod from the only node that it asked for. */
  readonly misfits: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
}

/** Nodes of a round, and questions about them: pods that find a node stay, so that later ones meet them. */
const NODES = 12;
const QUESTIONS_OF_ROUND = 120;
/** So many pods ask for one node, so that a node that does not fit is an answer too. */
const PINNED_SHARE = 0.7;
const DRIVER = 'csi.example.com';
const OTHER_DRIVER = 'disks.example.com';
const DRIVERS = [DRIVER, OTHER_DRIVER];

/** A claim that is bound to a volume. */
interface BoundClaim {
  /** Absent: it can be used anywhere. */
  readonly zone?: string;
  readonly driver?: string;
  readonly accessMode?: string;
  /** It only names its volume. */
  readonly isReserved?: true;
  readonly isLeaving?: true;
}

const ONE_POD = 'ReadWriteOncePod';
const BOUND_CLAIMS: Readonly<Record<string, BoundClaim>> = {
  anywhere: {},
  'zone-a': { zone: 'a' },
  'zone-b': { zone: 'b' },
  'disk-1': { driver: OTHER_DRIVER },
  'disk-2': { driver: OTHER_DRIVER },
  'disk-3': { driver: OTHER_DRIVER },
  'share-1': {},
  'share-2': {},
  'once-1': { accessMode: ONE_POD },
  'once-2': { accessMode: ONE_POD, driver: OTHER_DRIVER },
  reserved: { isReserved: true },
  leaving: { isLeaving: true },
};
/** Most pods can have those that they name. */
const USABLE = Object.keys(BOUND_CLAIMS).filter((name) => name !== 'reserved' && name !== 'leaving');
const CLAIMS = [...USABLE, ...USABLE, ...Object.keys(BOUND_CLAIMS), 'once-1', 'once-1', 'missing', 'unbound'];
/** So many pods are not read as they are stored, but calculated from what was asked for. */
const CALCULATED_SHARE = 0.5;
const AT_ONCE = { name: 'at-once' };

/** So many pods are being resized once they are bound. */
const RESIZED_SHARE = 0.3;

const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const strategicMerge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);

type Fields = Readonly<Record<string, unknown>>;

/** As the API server sends it: the readers read JSON. */
function asJson(object: object): Fields {
  return JSON.parse(JSON.stringify(object)) as Fields;
}

export class AgreementRun {
  readonly #plane: NodePlane;
  readonly #core: CoreV1Api;
  readonly #storage: StorageV1Api;
  readonly #random: Random;
  #nodes: readonly Node[] = [];
  #attachLimits: readonly ReturnType<typeof readAttachLimits>[] = [];
  #volumes: ReturnType<typeof readVolume>[] = [];
  #claims: ReturnType<typeof readClaim>[] = [];
  readonly #bound = new Map<string, Pod>();
  readonly #differences: Difference[] = [];
  readonly #misfits: Record<string, number> = {};
  #boundTotal = 0;
  #unanswered = 0;

  constructor(plane: NodePlane, seed: number) {
    this.#plane = plane;
    this.#core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
    this.#storage = accessOf(plane.adminKubeconfig).makeApiClient(StorageV1Api);
    this.#random = seededRandom(seed);
  }

  async ask(questions: number): Promise<Agreement> {
    await this.#prepare();
    const verdicts = await this.#watch();
    try {
      for (let question = 0; question < questions; question += 1) {
        if (question % QUESTIONS_OF_ROUND === 0) await this.#nextRound(question / QUESTIONS_OF_ROUND, verdicts);
        await this.#question(question, verdicts);
      }
    } finally {
      verdicts.stop();
    }
    return {
      questions,
      bound: this.#boundTotal,
      unanswered: this.#unanswered,
      misfits: this.#misfits,
      differences: this.#differences,
    };
  }

  async #prepare(): Promise<void> {
    for (const [name, team] of Object.entries(NAMESPACES)) {
      await this.#core.createNamespace({ body: { metadata: { name, labels: { team } } } });
      for (const [claim, of] of Object.entries(BOUND_CLAIMS)) await this.#createClaim(name, claim, of);
      const unbound = await this.#core.createNamespacedPersistentVolumeClaim({
        namespace: name,
        body: { metadata: { name: 'unbound' }, spec: claimSpec('') },
      });
      this.#claims.push(readClaim(asJson(unbound)));
    }
  }

  /** A claim that is bound to a volume, which is in one zone or anywhere. */
  async #createClaim(
    namespace: string,
    name: string,
    { zone, driver = DRIVER, accessMode = 'ReadWriteMany', isReserved, isLeaving }: BoundClaim,
  ): Promise<void> {
    const volumeName = `${namespace}-${name}`;
    const nodeSelectorTerms = [
      { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [String(zone)] }] },
    ];
    const volume = await this.#core.createPersistentVolume({
      body: {
        metadata: { name: volumeName },
        spec: {
          accessModes: [accessMode],
          capacity: { storage: '1Gi' },
          csi: { driver, volumeHandle: volumeName },
          claimRef: { namespace, name },
          ...(zone === undefined ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } }),
        },
      },
    });
    // As the controller of volumes leaves one that is bound.
    const annotations = isReserved === true ? {} : { 'pv.kubernetes.io/bind-completed': 'yes' };
    // What is being deleted stays for as long as it has this.
    const finalizers = isLeaving === true ? ['example.com/kept'] : [];
    await this.#core.createNamespacedPersistentVolumeClaim({
      namespace,
      body: {
        metadata: { name, annotations, finalizers },
        spec: { ...claimSpec(volumeName), accessModes: [accessMode] },
      },
    });
    if (isLeaving === true) await this.#core.deleteNamespacedPersistentVolumeClaim({ namespace, name });
    const claim = await this.#core.readNamespacedPersistentVolumeClaim({ namespace, name });
    this.#volumes.push(readVolume(asJson(volume)));
    this.#claims.push(readClaim(asJson(claim)));
  }

  async #watch(): Promise<Verdicts> {
    const verdicts = new Verdicts();
    await verdicts.open(this.#plane.adminKubeconfig);
    return verdicts;
  }

  /** Other nodes, and none of the pods before. */
  async #nextRound(round: number, verdicts: Verdicts): Promise<void> {
    const gone = [...this.#bound.values()];
    await Promise.all(
      gone.map(async ({ namespace, name }) => {
        await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
        await verdicts.gone(namespace, name);
      }),
    );
    this.#bound.clear();
    for (const { name } of this.#nodes) {
      await this.#core.deleteNode({ name });
      await this.#storage.deleteCSINode({ name });
    }
    const nodes: Node[] = [];
    for (let index = 0; index < NODES; index += 1) {
      nodes.push(readNode(asJson(await this.#createNode(randomNode(`n${round}-${index}`, this.#random)))));
    }
    this.#nodes = nodes;
    const attachLimits: ReturnType<typeof readAttachLimits>[] = [];
    for (const node of nodes) {
      const body = randomCsiNode(node.name, this.#random, DRIVERS);
      attachLimits.push(readAttachLimits(asJson(await this.#storage.createCSINode({ body }))));
    }
    this.#attachLimits = attachLimits;
    // The scheduler hears of nodes in order: where it knows the last one, it knows all.
    const last = await this.#createNode(randomNode(`last-${round}`, this.#random));
    const name = `knows-${round}`;
    const namespace = Object.keys(NAMESPACES)[0] ?? '';
    const sign = pinned(
      {
        metadata: { name, namespace },
        spec: { containers: [{ name: 'main', image: 'test/none:1' }], tolerations: [{ operator: 'Exists' }] },
      },
      last.metadata?.name ?? '',
    );
    await this.#core.createNamespacedPod({ namespace, body: sign });
    await eventually('the scheduler knows the nodes', async () => {
      const pod = await this.#core.readNamespacedPod({ namespace, name });
      return pod.spec?.nodeName !== undefined;
    });
    await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
    await verdicts.gone(namespace, name);
    await this.#untilLimitsAreKnown(last.metadata?.name ?? '', verdicts);
    await this.#core.deleteNode({ name: last.metadata?.name ?? '' });
  }

  /** It hears of these in an order of their own: where it knows that the last node takes no volume, it knows all. */
  async #untilLimitsAreKnown(node: string, verdicts: Verdicts): Promise<void> {
    const drivers = [{ name: DRIVER, nodeID: node, topologyKeys: [], allocatable: { count: 0 } }];
    await this.#storage.createCSINode({ body: { metadata: { name: node }, spec: { drivers } } });
    const namespace = Object.keys(NAMESPACES)[0] ?? '';
    for (let isKnown = false, n = 0; !isKnown; n += 1) {
      const name = `limits-${node}-${n}`;
      const body = pinned(
        {
          metadata: { name, namespace },
          spec: {
            containers: [{ name: 'main', image: 'test/none:1' }],
            tolerations: [{ operator: 'Exists' }],
            volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'anywhere' } }],
          },
        },
        node,
      );
      await this.#core.createNamespacedPod({ namespace, body });
      isKnown = (await verdicts.of(namespace, name)).spec?.nodeName === undefined;
      await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
      await verdicts.gone(namespace, name);
    }
    await this.#storage.deleteCSINode({ name: node });
  }

  /** Admission gives each new node a taint until it is ready; nobody takes it off here. */
  async #createNode(node: V1Node): Promise<V1Node> {
    const created = await this.#core.createNode({ body: node });
    const taints = node.spec?.taints ?? [];
    return await this.#core.patchNode({ name: created.metadata?.name ?? '', body: { spec: { taints } } }, merge);
  }

  async #question(question: number, verdicts: Verdicts): Promise<void> {
    const free = randomPod(`p${question}`, this.#random, CLAIMS);
    const only = this.#random.next() < PINNED_SHARE ? this.#random.pick(this.#nodes).name : null;
    const body = only === null ? free : pinned(free, only);
    const { namespace = '', name = '' } = body.metadata ?? {};
    const created = await this.#core.createNamespacedPod({ namespace, body });
    const isCalculated = this.#random.next() < CALCULATED_SHARE;
    const stored = asJson(created);
    const pod = readPod(isCalculated ? { ...stored, spec: calculated(asJson(body)) } : stored);
    const snapshot = snapshotOf({
      nodes: this.#nodes,
      pods: [...this.#bound.values(), pod],
      claims: this.#claims,
      volumes: this.#volumes,
      storageClasses: [],
      attachLimits: this.#attachLimits,
      namespaces: Object.fromEntries(
        Object.entries(NAMESPACES).map(([each, team]) => [each, { 'kubernetes.io/metadata.name': each, team }]),
      ),
    });
    const answers = this.#nodes.map((node) => ({ node: node.name, answer: fits(pod, node.name, snapshot) }));
    const fitting = answers.flatMap(({ node, answer }) => (answer.kind === 'fits' ? [node] : []));
    const decided = await verdicts.of(namespace, name);
    if (hasGivenUp(decided)) {
      this.#unanswered += 1;
      await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
      return;
    }
    const node = decided.spec?.nodeName ?? null;
    const agrees = node === null ? fitting.length === 0 : fitting.includes(node);
    if (!agrees) {
      const why = answers.map(
        ({ node: each, answer }) => `${each}: ${answer.kind === 'fits' ? 'fits' : `${answer.by} (${answer.detail})`}`,
      );
      this.#differences.push({
        question,
        simulation: why.join('; '),
        scheduler: node ?? (decided.status?.conditions ?? []).map(({ message }) => message).join(' '),
        pod: body,
      });
    }
    const own = answers.find((each) => each.node === only)?.answer;
    if (own?.kind === 'misfit') this.#misfits[own.by] = (this.#misfits[own.by] ?? 0) + 1;
    if (node === null) {
      await this.#core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
      return;
    }
    this.#boundTotal += 1;
    const resized = this.#random.next() < RESIZED_SHARE ? await this.#resize(decided) : decided;
    this.#bound.set(`${namespace}/${name}`, { ...readPod(asJson(resized)), node });
  }

  /** As the kubelet and a person leave a pod that is being resized; the scheduler hears of it before it hears of the next pod. */
  async #resize(pod: V1Pod): Promise<V1Pod> {
    const { namespace = '', name = '' } = pod.metadata ?? {};
    const { asked, status } = randomResize(this.#random);
    const body = { status };
    const running = await this.#core.patchNamespacedPodStatus({ namespace, name, body }, merge);
    const [main] = pod.spec?.containers ?? [];
    const { requests: before = {}, limits = {} } = main?.resources ?? {};
    // What is limited to what it requests stays so.
    if ('cpu' in limits || 'memory' in limits) return running;
    const resources = { requests: Object.fromEntries(Object.entries(asked).filter(([key]) => key in before)) };
    if (Object.keys(resources.requests).length === 0) return running;
    const spec = { containers: [{ name: main?.name, resources }] };
    return await this.#core.patchNamespacedPodResize({ namespace, name, body: { spec } }, strategicMerge);
  }
}

/** The spec as it would be stored: neither namespace has LimitRanges. */
function calculated(body: Fields): object {
  return storedPodSpec(body['spec'] as TemplateSpec, { limitRanges: [], runtimeClass: null });
}

function claimSpec(volumeName: string) {
  return {
    accessModes: ['ReadWriteMany'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: volumeName === '' ? AT_ONCE.name : '',
    ...(volumeName === '' ? {} : { volumeName }),
  };
}

/** Several nodes fit, and which is the best was not to be said: amounts near the end of an int64 make scores that no plugin may give. */
function hasGivenUp({ status }: V1Pod): boolean {
  return (
    status?.conditions?.some(
      ({ reason, message = '' }) => reason === 'SchedulerError' && /invalid score/.test(message),
    ) === true
  );
}

function keyOf({ metadata }: V1Pod): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}

/** What the scheduler said of each pod, as the API server tells it. */
class Verdicts {
  readonly #decided = new Map<string, V1Pod>();
  readonly #waiting = new Map<string, (pod: V1Pod) => void>();
  readonly #gone = new Set<string>();
  readonly #goneWaiting = new Map<string, () => void>();
  #watch: { abort: () => void } | null = null;
  #isStopped = false;

  /** The API server ends a watch after half an hour or more, and a connection may end sooner: then there is another one. */
  async open(kubeconfig: string): Promise<void> {
    const access = accessOf(kubeconfig);
    const { items, metadata } = await access.makeApiClient(CoreV1Api).listPodForAllNamespaces();
    for (const pod of items) this.#onEvent('ADDED', pod);
    const there = new Set(items.map(keyOf));
    for (const [key, resolve] of this.#goneWaiting) if (!there.has(key)) resolve();
    if (this.#isStopped) return;
    this.#watch = await new Watch(access).watch(
      '/api/v1/pods',
      { resourceVersion: metadata?.resourceVersion },
      (phase, pod: V1Pod) => this.#onEvent(phase, pod),
      () => {
        if (!this.#isStopped) void this.open(kubeconfig);
      },
    );
  }

  stop(): void {
    this.#isStopped = true;
    this.#watch?.abort();
  }

  /** Once it is bound, no node fits it, or the scheduler has given up on it. */
  async of(namespace: string, name: string): Promise<V1Pod> {
    const key = `${namespace}/${name}`;
    const decided = this.#decided.get(key);
    if (decided !== undefined) return decided;
    return await new Promise((resolve) => this.#waiting.set(key, resolve));
  }

  async gone(namespace: string, name: string): Promise<void> {
    const key = `${namespace}/${name}`;
    if (this.#gone.has(key)) return;
    await new Promise<void>((resolve) => this.#goneWaiting.set(key, resolve));
  }

  #onEvent(phase: string, pod: V1Pod): void {
    if (phase === 'ERROR') return;
    const key = keyOf(pod);
    if (phase === 'DELETED') {
      this.#gone.add(key);
      this.#goneWaiting.get(key)?.();
      return;
    }
    if (pod.spec?.nodeName === undefined && !isUnschedulable(pod) && !hasGivenUp(pod)) return;
    this.#decided.set(key, pod);
    this.#waiting.get(key)?.(pod);
  }
}
