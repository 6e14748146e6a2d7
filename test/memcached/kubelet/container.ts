import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { V1Container, V1ContainerStatus, V1Probe } from '@kubernetes/client-node';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';

/** How long a container that ended waits at first, in seconds of probes; twice as long each time. */
const FIRST_BACK_OFF = 5;
const LONGEST_BACK_OFF = 40;
/** Kubernetes' own defaults, in seconds and in results in a row. */
const PERIOD = 10;
const FAILURES = 3;
/** What a process gets to end in, in milliseconds, whatever its hook has used of the grace period: as a kubelet does it. */
const LEAST_GRACE_MS = 2000;

export interface ContainerContext {
  readonly address: string;
  /** How long a second of probes and of waiting is, in milliseconds. */
  readonly secondMs: number;
  readonly startProgram: () => Promise<SupervisedProcess>;
  /** Starts a command of a hook in the container. */
  readonly execute: (command: readonly string[]) => Promise<SupervisedProcess>;
  readonly onChange: () => void;
}

/** One container of a pod: its process, started again whenever it ends, and its probes. */
export class RunningContainer {
  readonly spec: V1Container;
  readonly #context: ContainerContext;
  readonly #ending = new AbortController();
  readonly #life: Promise<void>;
  #process: SupervisedProcess | undefined;
  #startedAt = new Date();
  #lastExit: { readonly exitCode: number; readonly reason: string } | undefined;
  #isReady = false;
  #restarts = 0;

  constructor(spec: V1Container, context: ContainerContext) {
    this.spec = spec;
    this.#context = context;
    this.#life = this.#live();
  }

  /** While it runs. */
  get process(): SupervisedProcess | undefined {
    return this.#process;
  }

  /** As the pod's status has it. */
  get status(): V1ContainerStatus {
    const { name, image = '' } = this.spec;
    const isRunning = this.#process !== undefined;
    const waiting = { reason: this.#restarts === 0 ? 'ContainerCreating' : 'CrashLoopBackOff' };
    return {
      name,
      image,
      imageID: image,
      ready: this.#isReady,
      started: isRunning,
      restartCount: this.#restarts,
      state: isRunning ? { running: { startedAt: this.#startedAt } } : { waiting },
      ...(this.#lastExit === undefined ? {} : { lastState: { terminated: this.#lastExit } }),
    };
  }

  /** Its hook, SIGTERM, and SIGKILL at the end of the grace period; resolves when it has ended. Probes end at once. */
  async end(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    this.#ending.abort();
    const running = this.#process;
    if (running !== undefined && graceMs > 0) {
      const { exec } = this.spec.lifecycle?.preStop ?? {};
      if (exec?.command !== undefined) {
        const hook = await this.#context.execute(exec.command);
        const isOver = await within(deadline - performance.now(), hook.exited);
        if (!isOver) await hook.kill();
      }
      await running.stop(Math.max(deadline - performance.now(), LEAST_GRACE_MS));
    }
    await running?.kill();
    await this.#life;
  }

  async #live(): Promise<void> {
    const { signal } = this.#ending;
    for (let backOff = FIRST_BACK_OFF; !signal.aborted; backOff = Math.min(backOff * 2, LONGEST_BACK_OFF)) {
      const process = await this.#context.startProgram();
      if (signal.aborted) {
        await process.kill();
        return;
      }
      this.#process = process;
      this.#startedAt = new Date();
      this.#context.onChange();
      const probing = new AbortController();
      const probes = this.#probeUntil(AbortSignal.any([signal, probing.signal]), process);
      const { code } = await process.exited;
      probing.abort();
      await probes;
      this.#process = undefined;
      this.#isReady = false;
      if (signal.aborted) return;
      this.#restarts += 1;
      this.#lastExit = { exitCode: code ?? 137, reason: code === 0 ? 'Completed' : 'Error' };
      this.#context.onChange();
      await this.#seconds(backOff, signal);
    }
  }

  async #probeUntil(signal: AbortSignal, process: SupervisedProcess): Promise<void> {
    const { readinessProbe, livenessProbe } = this.spec;
    const onReady = (isReady: boolean): void => {
      if (signal.aborted || isReady === this.#isReady) return;
      this.#isReady = isReady;
      this.#context.onChange();
    };
    const onLive = (isLive: boolean): void => {
      if (!signal.aborted && !isLive) void process.stop();
    };
    await Promise.all([this.#probe(readinessProbe, signal, onReady), this.#probe(livenessProbe, signal, onLive)]);
  }

  /** Without a probe a container that runs is ready and alive. */
  async #probe(probe: V1Probe | undefined, signal: AbortSignal, onResult: (is: boolean) => void): Promise<void> {
    if (probe === undefined) {
      onResult(true);
      return;
    }
    await this.#seconds(probe.initialDelaySeconds ?? 0, signal);
    for (let failures = 0; !signal.aborted; ) {
      const isFine = await this.#connects(probe);
      failures = isFine ? 0 : failures + 1;
      if (isFine || failures >= (probe.failureThreshold ?? FAILURES)) onResult(isFine);
      await this.#seconds(probe.periodSeconds ?? PERIOD, signal);
    }
  }

  async #connects({ tcpSocket, timeoutSeconds = 1 }: V1Probe): Promise<boolean> {
    if (tcpSocket === undefined) throw new Error('the kubelet of the tests knows probes by TCP only');
    const named = this.spec.ports?.find(({ name }) => name === tcpSocket.port)?.containerPort;
    const socket = connect({ host: this.#context.address, port: named ?? Number(tcpSocket.port) });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  }

  async #seconds(seconds: number, signal: AbortSignal): Promise<void> {
    await delay(seconds * this.#context.secondMs, undefined, { signal }).catch(() => {});
  }
}

async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  const patience = new AbortController();
  const late = delay(Math.max(ms, 0), false, { signal: patience.signal }).catch(() => false);
  const isDone = await Promise.race([done.then(() => true), late]);
  patience.abort();
  return isDone;
}
