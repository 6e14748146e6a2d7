/**
 * Reads what others have written, in threads that are stopped when a file takes too much: neither a worker nor the lookup
 * of another tenant waits for it. See ADR 30.
 */
import type { MissingFiles, TreeSnapshot } from '../../../../domain/quota-resize/git/locate/location/location.ts';
import type { TreeQuestion } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import { tooCostly, type UnreadFile } from '../../../../domain/quota-resize/git/locate/tree/unread.ts';
import { ContentThread, type CpuBudget, type ThreadOutcome, type TookTooMuch } from './content-thread.ts';

export interface ContentReaderOptions {
  /** How many threads there are at most. */
  readonly threads: number;
  /** Milliseconds that a question waits for a thread that is there, before another one is started for it. */
  readonly patienceMs: number;
  /** Milliseconds without a question after which the threads end: each takes some 30 MB. */
  readonly restMs: number;
  /** Milliseconds of CPU time for one lookup, or for one file of a scan. */
  readonly cpuMs: number;
  /** Megabytes of memory of a thread. */
  readonly heapMb: number;
}

const DEFAULTS: ContentReaderOptions = {
  threads: 2,
  // Nearly all questions take some milliseconds: another thread is for those that come behind one of seconds.
  patienceMs: 1_000,
  // What is asked of one decision comes within seconds.
  restMs: 20_000,
  cpuMs: 5_000,
  heapMb: 384,
};

/** How many blobs are remembered that took too much. */
const REMEMBERED_BLOBS = 10_000;

export class ContentReader {
  readonly options: ContentReaderOptions;
  readonly #idle: ContentThread[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #rest: NodeJS.Timeout | undefined;
  readonly #costlyBlobs = new Map<string, UnreadFile>();

  constructor(options: Partial<ContentReaderOptions> = {}) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** Answers a question; the tree's texts and paths must be the same objects for each question about it. */
  async ask(tree: TreeSnapshot, question: TreeQuestion, budget: CpuBudget): Promise<ThreadOutcome> {
    const thread = await this.#taken(tree);
    try {
      const outcome = await this.#askThread(thread, tree, { question, budget });
      // Its memory may be that of earlier questions.
      if (outcome.kind !== 'tooMuch' || outcome.of !== 'memory' || !thread.isUsed) return outcome;
      return await this.#askThread(new ContentThread(this.options.heapMb), tree, { question, budget });
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
      if (this.#busy === 0) this.#rest = setTimeout(() => this.#end(), this.options.restMs).unref();
    }
  }

  /** How many threads there are. */
  get threads(): number {
    return this.#busy + this.#idle.length;
  }

  /** A thread for the question, as soon as one is idle or another one may be started. */
  async #taken(tree: TreeSnapshot): Promise<ContentThread> {
    const { threads, patienceMs } = this.options;
    const patience = performance.now() + patienceMs;
    for (;;) {
      const wait = patience - performance.now();
      const mayStart = this.#busy < threads && (this.#busy === 0 || wait <= 0);
      if (mayStart || this.#idle.length > 0) {
        const thread = this.#threadFor(tree);
        this.#busy += 1;
        clearTimeout(this.#rest);
        return thread;
      }
      await this.#turnEnds(wait > 0 ? wait : null);
    }
  }

  /** Until a question of another is answered, or for so many milliseconds. */
  async #turnEnds(ms: number | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const timer = ms === null ? undefined : setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
    const index = this.#waiting.indexOf(resolve);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  #end(): void {
    for (const thread of this.#idle.splice(0)) thread.stop();
  }

  /** Why a file is not read; it follows the file's name. */
  reasonOf({ of }: TookTooMuch): UnreadFile {
    const { cpuMs, heapMb } = this.options;
    switch (of) {
      case 'cpu':
        return tooCostly(`${cpuMs / 1000} s of CPU time`);
      case 'memory':
        return tooCostly(`${heapMb} MB of memory`);
      case 'depth':
        return { why: 'TooCostly', message: 'nests too deeply to be read' };
    }
  }

  /** Why the content of a blob is not read again; undefined for one that may be read. */
  costOf(blobSha: string): UnreadFile | undefined {
    return this.#costlyBlobs.get(blobSha);
  }

  /** Keeps other lookups from reading the same content, whatever its path. */
  remember(blobSha: string, why: UnreadFile): void {
    this.#costlyBlobs.set(blobSha, why);
    for (const oldest of this.#costlyBlobs.keys()) {
      if (this.#costlyBlobs.size <= REMEMBERED_BLOBS) break;
      this.#costlyBlobs.delete(oldest);
    }
  }

  #threadFor(tree: TreeSnapshot): ContentThread {
    const index = this.#idle.findIndex((thread) => thread.has(tree));
    const [thread] = this.#idle.splice(Math.max(index, 0), 1);
    return thread === undefined || thread.isWorn ? new ContentThread(this.options.heapMb) : thread;
  }

  async #askThread(
    thread: ContentThread,
    tree: TreeSnapshot,
    { question, budget }: { readonly question: TreeQuestion; readonly budget: CpuBudget },
  ): Promise<ThreadOutcome> {
    try {
      return await thread.ask(tree, question, budget);
    } catch (error) {
      thread.stop();
      throw error;
    } finally {
      if (!thread.isWorn) this.#idle.push(thread);
    }
  }
}

/** Whether the answer only names files that have to be read first. */
export function isMissingFiles(answer: { readonly kind: string }): answer is MissingFiles {
  return answer.kind === 'missingFiles';
}

/** The reader of this process; its threads start with the first question. */
export const contentReader = new ContentReader();
