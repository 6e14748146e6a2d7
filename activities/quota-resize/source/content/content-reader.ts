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
  /** Milliseconds of CPU time for one lookup, or for one file of a scan. */
  readonly cpuMs: number;
  /** Megabytes of memory of a thread. */
  readonly heapMb: number;
}

const DEFAULTS: ContentReaderOptions = { threads: 2, cpuMs: 5_000, heapMb: 384 };

/** How many blobs are remembered that took too much. */
const REMEMBERED_BLOBS = 10_000;

export class ContentReader {
  readonly options: ContentReaderOptions;
  readonly #idle: ContentThread[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  readonly #costlyBlobs = new Map<string, UnreadFile>();

  constructor(options: Partial<ContentReaderOptions> = {}) {
    this.options = { ...DEFAULTS, ...options };
  }

  /** Answers a question; the tree's texts and paths must be the same objects for each question about it. */
  async ask(tree: TreeSnapshot, question: TreeQuestion, budget: CpuBudget): Promise<ThreadOutcome> {
    while (this.#busy >= this.options.threads) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#busy += 1;
    try {
      const thread = this.#threadFor(tree);
      const outcome = await this.#askThread(thread, tree, { question, budget });
      // Its memory may be that of earlier questions.
      if (outcome.kind !== 'tooMuch' || outcome.of !== 'memory' || !thread.isUsed) return outcome;
      return await this.#askThread(new ContentThread(this.options.heapMb), tree, { question, budget });
    } finally {
      this.#busy -= 1;
      this.#waiting.shift()?.();
    }
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
