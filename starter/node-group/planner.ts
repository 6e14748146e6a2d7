import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Fence } from '../../domain/node-group/plan-claim.ts';
import type { PlanPart, PlanParts, PlanRequest, PlanResponse, PlanResult, UsageSample } from './plan-messages.ts';

/** What a plan needs besides the watched parts, as it is when the plan begins. */
export type PlanContext = Pick<PlanRequest, 'groups' | 'blocked' | 'claims' | 'wishes'> & Pick<Fence, 'lease'>;

/** A plan, and by what it can be recognised. */
export interface Planned extends PlanResult {
  readonly fence: Fence;
}

export interface PlannerOptions {
  /** Reads what is not watched. Called before the parts are taken, so that the plan is never older than it. */
  readonly context: () => Promise<PlanContext>;
  /** All watched parts. */
  readonly all: () => PlanParts;
  readonly now?: () => EpochMs;
}

/** A thread that takes more is stopped: it would take the memory of the whole process. */
const HEAP_MB = 1_024;
/** A plan of a large cluster takes seconds; one that takes so many milliseconds never ends. */
const LONGEST_MS = 120_000;

/** Makes plans in a thread of its own, one at a time, each of everything that was known when it began. */
export class Planner {
  readonly #options: PlannerOptions;
  #worker: Worker | null = null;
  /** What changed since the last request, by part and key. */
  #changes = new Map<PlanPart, Map<string, unknown>>();
  #samples: UsageSample[] = [];
  #ids = 0;
  #running: Promise<Planned> | null = null;
  #next: Promise<Planned> | null = null;

  constructor(options: PlannerOptions) {
    this.#options = options;
  }

  change(part: PlanPart, key: string, read: unknown): void {
    // A thread that begins gets everything.
    if (this.#worker === null) return;
    const changes = this.#changes.get(part) ?? new Map<string, unknown>();
    changes.set(key, read);
    this.#changes.set(part, changes);
  }

  sample(sample: UsageSample): void {
    this.#samples.push(sample);
  }

  /**
   * A plan that begins after this call. Calls that wait for the same one share it.
   *
   * @throws Error where there is no plan, with the reason.
   */
  async plan(): Promise<Planned> {
    this.#next ??= this.#afterRunning();
    return await this.#next;
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
    this.#worker = null;
  }

  async #afterRunning(): Promise<Planned> {
    await this.#running?.catch(() => {});
    const running = this.#make();
    this.#running = running;
    this.#next = null;
    return await running;
  }

  async #make(): Promise<Planned> {
    const { context, all, now = Date.now } = this.#options;
    const { lease, ...inputs } = await context();
    const isWhole = this.#worker === null;
    this.#worker ??= startThread();
    const parts = isWhole ? all() : changesOf(this.#changes);
    const samples = this.#samples;
    this.#changes = new Map();
    this.#samples = [];
    this.#ids += 1;
    const request: PlanRequest = { id: this.#ids, isWhole, parts, samples, at: now(), ...inputs };
    try {
      const plan = await answerOf(this.#worker, request);
      return { ...plan, fence: { lease, plan: randomUUID() } };
    } catch (error) {
      // The next one begins anew, with everything.
      await this.stop();
      this.#samples = [...samples, ...this.#samples];
      throw error;
    }
  }
}

function startThread(): Worker {
  const worker = new Worker(threadFile(), {
    // Nothing of the process's environment, which has credentials.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  // An idle thread keeps no process alive.
  worker.unref();
  return worker;
}

/** Beside this file: in a program the bundle of the thread, otherwise its source. */
function threadFile(): string {
  const filename = import.meta.filename;
  return join(dirname(filename), basename(filename).endsWith('.ts') ? 'plan-thread-main.ts' : 'plan-thread.js');
}

/** @throws Error when the thread ends, fails, or takes too long. */
async function answerOf(worker: Worker, request: PlanRequest): Promise<PlanResult> {
  const { promise, resolve, reject } = Promise.withResolvers<PlanResult>();
  const onMessage = (response: PlanResponse): void => {
    if ('error' in response) reject(new Error(`the plan failed: ${response.error}`));
    else resolve(response.plan);
  };
  const onError = (error: Error): void => reject(new Error('the thread that plans failed', { cause: error }));
  const onExit = (): void => reject(new Error('the thread that plans has ended'));
  const timer = setTimeout(() => reject(new Error(`no plan within ${LONGEST_MS / 1_000} s`)), LONGEST_MS);
  worker.on('message', onMessage);
  worker.on('error', onError);
  worker.on('exit', onExit);
  worker.ref();
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread, no window, has no origin.
    worker.postMessage(request);
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.unref();
    worker.off('message', onMessage);
    worker.off('error', onError);
    worker.off('exit', onExit);
  }
}

function changesOf(changes: ReadonlyMap<PlanPart, ReadonlyMap<string, unknown>>): PlanParts {
  return Object.fromEntries([...changes].map(([part, objects]) => [part, [...objects]]));
}
