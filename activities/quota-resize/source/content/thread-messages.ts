/** What is sent between a process and its content threads. */
import type { MissingFiles } from '../../../../domain/quota-resize/git/locate/location/location.ts';
import type { TreeAnswer, TreeQuestion } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import type { UnreadFile } from '../../../../domain/quota-resize/git/locate/tree/unread.ts';

export interface ThreadRequest {
  /** The number of the tree, of which the thread keeps those used last. */
  readonly tree: number;
  /** The number of the tree's list of paths, which other trees may have as well. */
  readonly pathsNumber: number;
  /** Absent where the thread has them. */
  readonly paths?: readonly string[];
  /** What the thread does not have yet of the texts, and of what is not read. */
  readonly texts: readonly (readonly [path: string, text: string | null])[];
  readonly unread: readonly (readonly [path: string, why: UnreadFile])[];
  readonly question: TreeQuestion;
  /** The memory of a `FileMeter`. */
  readonly meter: SharedArrayBuffer;
}

export type ThreadResponse =
  | {
      readonly kind: 'answer';
      readonly answer: TreeAnswer | MissingFiles;
      readonly cpuMs: number;
      readonly heapBytes: number;
    }
  /** It nests deeper than the call stack, or makes something longer than can be. */
  | { readonly kind: 'tooDeep' }
  | { readonly kind: 'failed'; readonly message: string };

/** How many trees and lists of paths a thread keeps. */
export const KEPT_TREES = 4;
export const KEPT_PATHS = 4;

/** The entries used last. Both sides of a thread keep the same ones, because they use them in the same order. */
export class RecentlyUsed<V> {
  readonly #entries = new Map<number, V>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  use(key: number, create: () => V): V {
    const value = this.#entries.get(key) ?? create();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) break;
      this.#entries.delete(oldest);
    }
    return value;
  }

  has(key: number): boolean {
    return this.#entries.has(key);
  }
}
