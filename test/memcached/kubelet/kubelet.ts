/**
 * A small kubelet: the pods of one namespace are real processes of this machine.
 *
 * ```ts
 * const kubelet = await startKubelet(plane.adminKubeconfig, 'team-a');
 * // … a Deployment makes pods; they become ready by their own probes …
 * const [pod] = kubelet.pods; // pod.address:11211 is its memcached, pod.address:9150 its exporter
 * await kubelet.stop();
 * ```
 *
 * - It binds each pod to a node of its own, as no scheduler runs, and gives it an address of its own, so that ports are those of the pod: 10.a.b.c in the
 *   cluster is 127.a.b.c on this machine (`onThisMachine`).
 * - It starts each container's very arguments: memcached and its exporter, as the users of their images where it runs as root. It rewrites
 *   where Secrets are mounted, and what a network namespace would do (`programs.ts`).
 * - Their TCP probes run, in seconds that are `secondMs` long; readiness and liveness have the effect that they have in a cluster.
 * - Status: phase, podIP, conditions, container statuses with restarts.
 * - A pod that is deleted goes as it is specified, in real seconds: `preStop`, SIGTERM, SIGKILL at the end of its grace period.
 */
import { chmod, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CoreV1Api, makeInformer, PatchStrategy, setHeaderOptions, type V1Pod } from '@kubernetes/client-node';
import { temporaryDirectory } from '../../kernel/servers/supervised-process.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { RunningPod } from './pod.ts';
import { findPrograms, type Programs } from './programs.ts';

const strategicMerge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
/** After 40 seconds without, Kubernetes takes a node for lost, and its pods for not ready. */
const HEARTBEAT_MS = 10_000;
const RECONNECT_MS = 200;
/** A tenth of a second: pods are ready after half a second, not five. */
const SECOND_MS = 100;

export interface KubeletOptions {
  /** How long a second of probes and of restarts is here, in milliseconds. */
  readonly secondMs?: number;
}

/** Starts a kubelet for the pods of a namespace, with the rights of an admin. */
export async function startKubelet(
  adminKubeconfig: string,
  namespace: string,
  { secondMs = SECOND_MS }: KubeletOptions = {},
): Promise<Kubelet> {
  const folder = await temporaryDirectory('kubelet');
  // Other users may pass through, and see nothing else.
  await Promise.all([chmod(folder, 0o711), chmod(dirname(folder), 0o711)]);
  const kubelet = new Kubelet({ adminKubeconfig, namespace, folder, programs: await findPrograms(folder), secondMs });
  await kubelet.start();
  return kubelet;
}

interface KubeletContext {
  readonly adminKubeconfig: string;
  readonly namespace: string;
  readonly folder: string;
  readonly programs: Programs;
  readonly secondMs: number;
}

export class Kubelet {
  readonly #context: KubeletContext;
  readonly #core: CoreV1Api;
  readonly #pods = new Map<string, RunningPod>();
  readonly #nodeName: string;
  #stopWatching: () => Promise<void> = async () => {};
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(context: KubeletContext) {
    this.#context = context;
    this.#core = accessOf(context.adminKubeconfig).makeApiClient(CoreV1Api);
    this.#nodeName = `kubelet-${context.namespace}`;
  }

  /** Those that run, the ones that are ending included, the oldest first. */
  get pods(): readonly RunningPod[] {
    return [...this.#pods.values()];
  }

  async start(): Promise<void> {
    const name = this.#nodeName;
    await this.#core.createNode({ body: { metadata: { name }, status: readyNode() } });
    this.#heartbeat = setInterval(() => {
      // One that is lost is followed by the next.
      void this.#core.patchNodeStatus({ name, body: { status: readyNode() } }, strategicMerge).catch(() => {});
    }, HEARTBEAT_MS);
    const { namespace, adminKubeconfig } = this.#context;
    const list = async () => await this.#core.listNamespacedPod({ namespace });
    const informer = makeInformer(accessOf(adminKubeconfig), `/api/v1/namespaces/${namespace}/pods`, list);
    let reconnect: NodeJS.Timeout | undefined;
    informer.on('add', (pod) => this.#seen(pod));
    informer.on('update', (pod) => this.#seen(pod));
    informer.on('delete', (pod) => void this.#lost(pod));
    informer.on('error', () => {
      reconnect = setTimeout(() => void informer.start(), RECONNECT_MS);
    });
    this.#stopWatching = async () => {
      clearTimeout(reconnect);
      await informer.stop();
    };
    await informer.start();
  }

  /** Ends all processes at once, and leaves the pods in the API server as they are. */
  async stop(): Promise<void> {
    clearInterval(this.#heartbeat);
    await this.#stopWatching();
    await Promise.all(this.pods.map(async (pod) => await pod.kill()));
    await rm(this.#context.folder, { recursive: true, force: true });
  }

  #seen(pod: V1Pod): void {
    const { uid = '', deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata ?? {};
    const running = this.#pods.get(uid);
    if (running === undefined) {
      if (deletionTimestamp === undefined) this.#run(uid, pod);
    } else if (deletionTimestamp !== undefined) {
      void running.end(deletionGracePeriodSeconds * 1000).then(() => this.#pods.delete(uid));
    }
  }

  #run(uid: string, pod: V1Pod): void {
    const { programs, secondMs } = this.#context;
    const folder = join(this.#context.folder, uid);
    this.#pods.set(
      uid,
      new RunningPod(pod, { core: this.#core, programs, nodeName: this.#nodeName, folder, secondMs }),
    );
  }

  /** Somebody deleted it without a grace period, or it is gone as it should be. */
  async #lost({ metadata: { uid = '' } = {} }: V1Pod): Promise<void> {
    await this.#pods.get(uid)?.kill();
    this.#pods.delete(uid);
  }
}

function readyNode() {
  const lastHeartbeatTime = new Date();
  return { conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime }] };
}
