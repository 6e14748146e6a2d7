/** One thread that reads content, as seen from outside: it is asked, watched, and stopped when it takes too much. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { MissingFiles, TreeSnapshot } from '../../../../domain/quota-resize/git/locate/location/location.ts';
import type { TreeAnswer, TreeQuestion } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import { CpuClock, orSilent } from './cpu-clock.ts';
import { FileMeter } from './file-meter.ts';
import { KEPT_PATHS, KEPT_TREES, RecentlyUsed, type ThreadRequest, type ThreadResponse } from './thread-messages.ts';

/** The CPU time that a question may take. */
export interface CpuBudget {
  readonly cpuMs: number;
  /** Whether each file may take so much, instead of all together. */
  readonly isForEachFile: boolean;
}

export type ThreadOutcome =
  | { readonly kind: 'answer'; readonly answer: TreeAnswer | MissingFiles; readonly cpuMs: number }
  | TookTooMuch;

export interface TookTooMuch {
  readonly kind: 'tooMuch';
  readonly of: 'cpu' | 'memory' | 'depth';
  /** The file that took longest; null when no file was used. */
  readonly path: string | null;
  /** The file's part of the time, from 0 to 1. */
  readonly share: number;
}

/** How often a busy thread is looked at. */
const WATCH_MS = 100;
/**
 * What a thread may grow beyond its memory before it is looked at again. It must never reach the limit of V8: a thread that
 * does may end the whole process, as an array that is made larger cannot be interrupted.
 */
const SPARE_MB = 384;

interface SentTree {
  readonly texts: Map<string, string | null>;
  readonly unread: Set<string>;
}

interface Watch {
  readonly exceeded: Promise<'cpu' | 'memory'>;
  /** The thread's CPU time when it was read last. */
  readonly lastRead: () => number;
  readonly end: () => void;
}

export class ContentThread {
  readonly #heapMb: number;
  readonly #worker: Worker;
  readonly #trees = new RecentlyUsed<SentTree>(KEPT_TREES);
  readonly #paths = new RecentlyUsed<true>(KEPT_PATHS);
  #questions = 0;
  #isWorn = false;

  constructor(heapMb: number) {
    this.#heapMb = heapMb;
    this.#worker = new Worker(threadFile(), {
      // Nothing of the process's environment, which has credentials.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb + SPARE_MB },
    });
    // An idle thread keeps no process alive.
    this.#worker.unref();
    this.#worker.on('error', () => {
      this.#isWorn = true;
    });
  }

  /** Whether it was asked before, so that its memory may be that of other questions. */
  get isUsed(): boolean {
    return this.#questions > 1;
  }

  /** Whether another thread has to take its place. */
  get isWorn(): boolean {
    return this.#isWorn;
  }

  has({ texts }: TreeSnapshot): boolean {
    return this.#trees.has(numberOf(texts));
  }

  /** Answers one question at a time. A thread that took too much is stopped, and is worn. */
  async ask(tree: TreeSnapshot, question: TreeQuestion, budget: CpuBudget): Promise<ThreadOutcome> {
    this.#questions += 1;
    const memory = FileMeter.memoryFor(tree.texts.size);
    const meter = new FileMeter(memory);
    this.#worker.ref();
    const watch = this.#watch(meter, budget);
    try {
      const outcome = await Promise.race([this.#response(this.#requestFor(tree, question, memory)), watch.exceeded]);
      if (outcome === 'cpu' || outcome === 'memory') {
        this.stop();
        const cost = meter.costliest(watch.lastRead());
        return { kind: 'tooMuch', of: outcome, path: pathAt(tree, cost?.index), share: cost?.share ?? 0 };
      }
      if (outcome.kind === 'tooDeep') return { kind: 'tooMuch', of: 'depth', path: pathAt(tree, meter.last), share: 1 };
      if (outcome.kind === 'failed') throw new Error(`reading files failed: ${outcome.message}`);
      const { answer, cpuMs, heapBytes } = outcome;
      // A new thread is cheaper than to keep so much memory.
      if (heapBytes > (this.#heapMb * 1_000_000) / 3) this.stop();
      return { kind: 'answer', answer, cpuMs };
    } finally {
      watch.end();
      this.#worker.unref();
    }
  }

  stop(): void {
    this.#isWorn = true;
    void this.#worker.terminate();
  }

  #requestFor(tree: TreeSnapshot, question: TreeQuestion, meter: SharedArrayBuffer): ThreadRequest {
    const number = numberOf(tree.texts);
    const pathsNumber = numberOf(tree.paths);
    const hasPaths = this.#paths.has(pathsNumber);
    this.#paths.use(pathsNumber, () => true);
    const sent = this.#trees.use(number, () => ({ texts: new Map(), unread: new Set() }));
    const texts = [...tree.texts].filter(([path, text]) => sent.texts.get(path) !== text);
    const unread = [...(tree.unread ?? [])].filter(([path]) => !sent.unread.has(path));
    for (const [path, text] of texts) sent.texts.set(path, text);
    for (const [path] of unread) sent.unread.add(path);
    return { tree: number, pathsNumber, ...(hasPaths ? {} : { paths: tree.paths }), texts, unread, question, meter };
  }

  async #response(request: ThreadRequest): Promise<ThreadResponse | 'memory'> {
    const { promise, resolve, reject } = Promise.withResolvers<ThreadResponse | 'memory'>();
    const onError = (error: Error & { readonly code?: string }): void => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve('memory');
      else reject(error);
    };
    const onExit = (): void => reject(new Error('a thread that reads files has ended'));
    this.#worker.on('message', resolve).on('error', onError).on('exit', onExit);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A thread, no window, has no origin.
    this.#worker.postMessage(request);
    try {
      return await promise;
    } finally {
      this.#worker.off('message', resolve).off('error', onError).off('exit', onExit);
    }
  }

  /** The memory that the thread uses. A thread that has ended uses none, and one of an older Node does not say it. */
  async #heapBytes(): Promise<number> {
    const { getHeapStatistics } = this.#worker as { readonly getHeapStatistics?: Worker['getHeapStatistics'] };
    if (getHeapStatistics === undefined) return 0;
    const statistics = await orSilent(getHeapStatistics.call(this.#worker)).catch(() => null);
    return statistics?.used_heap_size ?? 0;
  }

  /** `exceeded` is settled when the question has taken more than it may, and never when `end` was called before. */
  #watch(meter: FileMeter, budget: CpuBudget): Watch {
    const clock = new CpuClock(this.#worker, meter);
    const { promise: exceeded, resolve } = Promise.withResolvers<'cpu' | 'memory'>();
    let hasEnded = false;
    let lastRead = 0;
    let timer: NodeJS.Timeout | undefined;
    const schedule = (): void => {
      timer = setTimeout(() => void check(), WATCH_MS);
    };
    const check = async (): Promise<void> => {
      // A thread that has ended tells no time; its end is an answer of its own.
      const read = await clock.read().catch(() => null);
      const heapBytes = await this.#heapBytes();
      if (hasEnded) return;
      if (read !== null) lastRead = read.now;
      const used = budget.isForEachFile ? meter.costliest(lastRead)?.ms : read?.usedMs;
      if (heapBytes > this.#heapMb * 1_000_000) resolve('memory');
      else if ((used ?? 0) > budget.cpuMs) resolve('cpu');
      else schedule();
    };
    schedule();
    return {
      exceeded,
      lastRead: () => lastRead,
      end: () => {
        hasEnded = true;
        clearTimeout(timer);
      },
    };
  }
}

function pathAt({ texts }: TreeSnapshot, index: number | null | undefined): string | null {
  return index === null || index === undefined ? null : ([...texts.keys()][index] ?? null);
}

/** Beside this file: in a program the bundle of the thread, otherwise its source. */
function threadFile(): string {
  const filename = import.meta.filename;
  if (basename(filename).endsWith('.ts')) return join(dirname(filename), 'content-thread-main.ts');
  const beside = join(dirname(filename), 'content-thread.js');
  // The command line that stands alone is its own thread as well.
  return existsSync(beside) ? beside : filename;
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** Numbers trees by their texts, and lists of paths: the objects stay the same while a tree is read. */
function numberOf(object: object): number {
  const number = numbers.get(object) ?? lastNumber + 1;
  lastNumber = Math.max(lastNumber, number);
  numbers.set(object, number);
  return number;
}
