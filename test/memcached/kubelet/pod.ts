import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiException, type CoreV1Api, PatchStrategy, setHeaderOptions, type V1Pod } from '@kubernetes/client-node';
import { startProcess } from '../../kernel/servers/supervised-process.ts';
import { newPodIP, onThisMachine } from './addresses.ts';
import { RunningContainer } from './container.ts';
import type { Program, Programs } from './programs.ts';
import { mountSecrets, withMounts } from './volumes.ts';

const strategicMerge = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);
/** How often what failed is tried again, in milliseconds. */
const RETRY_MS = 200;

export interface PodContext {
  readonly core: CoreV1Api;
  readonly programs: Programs;
  readonly nodeName: string;
  /** Of this pod alone; other users may pass through. */
  readonly folder: string;
  readonly secondMs: number;
}

/** A pod on this machine, from its binding to a node until it is gone from the API server. */
export class RunningPod {
  readonly name: string;
  readonly #pod: V1Pod;
  readonly #context: PodContext;
  readonly #gone = new AbortController();
  readonly #startTime = new Date();
  readonly #started: Promise<void>;
  #podIP = '';
  #containers: readonly RunningContainer[] = [];
  #isReady = false;
  #readySince = new Date();
  #ended: Promise<void> | undefined;
  /** Statuses are written one after the other. */
  #writes: Promise<void> = Promise.resolve();

  constructor(pod: V1Pod, context: PodContext) {
    this.name = pod.metadata?.name ?? '';
    this.#pod = pod;
    this.#context = context;
    this.#started = this.#start();
  }

  /** Where its processes are on this machine; empty until it has one. */
  get address(): string {
    return onThisMachine(this.#podIP);
  }

  get containers(): readonly RunningContainer[] {
    return this.#containers;
  }

  /** Where a container's output is. */
  logFile(container: string): string {
    return join(this.#context.folder, `${container}.log`);
  }

  /** Ends it as it is specified, and takes it out of the API server. A second call waits for the first. */
  async end(graceMs: number): Promise<void> {
    this.#ended ??= this.#end(graceMs);
    await this.#ended;
  }

  /** Ends its processes at once and writes nothing. */
  async kill(): Promise<void> {
    this.#gone.abort();
    await this.#started;
    await Promise.all(this.#containers.map(async (container) => await container.end(0)));
    await this.#writes;
  }

  async #start(): Promise<void> {
    const { core, folder, nodeName } = this.#context;
    const containers = this.#pod.spec?.containers ?? [];
    this.#podIP = await newPodIP(containers.flatMap(({ ports = [] }) => ports.map((port) => port.containerPort)));
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    // No scheduler runs.
    await this.#insist(async () => {
      if (this.#pod.spec?.nodeName !== undefined) return;
      const body = { metadata: { name: this.name }, target };
      await core.createNamespacedPodBinding({ name: this.name, namespace: this.#namespace, body });
    });
    await this.#insist(async () => await mountSecrets(core, this.#pod, folder));
    if (this.#gone.signal.aborted) return;
    this.#containers = containers.map((spec) => this.#container(spec));
    this.#publish();
  }

  #container(spec: RunningContainer['spec']): RunningContainer {
    const { programs, folder, secondMs } = this.#context;
    const { address } = this;
    const program = programs.of(spec.image ?? '');
    const run = { name: `${this.name}/${spec.name}`, uid: this.#userOf(spec, program) };
    return new RunningContainer(spec, {
      address,
      secondMs,
      startProgram: async () =>
        await startProcess({
          ...run,
          command: program.executable,
          args: program.inNetworkOf(withMounts(spec, folder), address),
          logFile: this.logFile(spec.name),
        }),
      execute: async ([command = '', ...args]) =>
        await startProcess({ ...run, command, args, logFile: this.logFile(`${spec.name}-hook`) }),
      onChange: () => this.#publish(),
    });
  }

  /** Only root may start a process as somebody else. */
  #userOf({ securityContext }: RunningContainer['spec'], { user }: Program): number | undefined {
    if (process.getuid?.() !== 0) return undefined;
    return securityContext?.runAsUser ?? this.#pod.spec?.securityContext?.runAsUser ?? user;
  }

  get #namespace(): string {
    return this.#pod.metadata?.namespace ?? '';
  }

  /** Tries again until it works, or the pod is gone. */
  async #insist(work: () => Promise<void>): Promise<void> {
    const { signal } = this.#gone;
    while (!signal.aborted) {
      try {
        await work();
        return;
      } catch (error) {
        // The pod, or its Secret; the kubelet hears of a pod that is gone.
        const isOver = error instanceof ApiException && error.code === 404 && this.#ended !== undefined;
        if (isOver) return;
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  #publish(): void {
    const isReady = this.#containers.length > 0 && this.#containers.every(({ status }) => status.ready);
    if (isReady !== this.#isReady) {
      this.#isReady = isReady;
      this.#readySince = new Date();
    }
    const status = this.#status();
    this.#writes = this.#writes.then(async () => {
      const request = { namespace: this.#namespace, name: this.name, body: { metadata: this.#identity, status } };
      await this.#insist(async () => {
        await this.#context.core.patchNamespacedPodStatus(request, strategicMerge);
      });
    });
  }

  /** So that no other pod of the name is written. */
  get #identity(): { readonly uid: string } {
    return { uid: this.#pod.metadata?.uid ?? '' };
  }

  #status(): object {
    const podIP = this.#podIP;
    const is = (type: string, isTrue: boolean, lastTransitionTime: Date): object => ({
      type,
      status: isTrue ? 'True' : 'False',
      lastTransitionTime,
    });
    return {
      phase: this.#containers.some(({ process: running }) => running !== undefined) ? 'Running' : 'Pending',
      hostIP: '127.0.0.1',
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: this.#startTime,
      conditions: [
        is('Initialized', true, this.#startTime),
        is('ContainersReady', this.#isReady, this.#readySince),
        is('Ready', this.#isReady, this.#readySince),
      ],
      containerStatuses: this.#containers.map(({ status }) => status),
    };
  }

  async #end(graceMs: number): Promise<void> {
    // One that still waits for its Secret waits no longer.
    if (this.#containers.length === 0) this.#gone.abort();
    await this.#started;
    await Promise.all(this.#containers.map(async (container) => await container.end(graceMs)));
    this.#gone.abort();
    await this.#writes;
    const { core } = this.#context;
    const body = { gracePeriodSeconds: 0, preconditions: this.#identity };
    for (;;) {
      try {
        await core.deleteNamespacedPod({ namespace: this.#namespace, name: this.name, body });
        return;
      } catch (error) {
        // Gone already, or another pod has its name.
        if (error instanceof ApiException && (error.code === 404 || error.code === 409)) return;
        await delay(RETRY_MS);
      }
    }
  }
}
