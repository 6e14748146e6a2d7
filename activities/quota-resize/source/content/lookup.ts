/** What one lookup may take: bytes, CPU time, and files that turn out to be too costly. */
import type { TreeSnapshot } from '../../../../domain/quota-resize/git/locate/location/location.ts';
import type { TreeQuestion } from '../../../../domain/quota-resize/git/locate/question/question.ts';
import type { UnreadFile } from '../../../../domain/quota-resize/git/locate/tree/unread.ts';
import type { ContentReader } from './content-reader.ts';
import type { ThreadOutcome, TookTooMuch } from './content-thread.ts';

/**
 * How often a lookup begins again without the file that was too costly. Further files are found by later lookups; those
 * found before are remembered.
 */
const MAX_LEFT_OUT = 3;

/** The part of the time that makes a file the reason. With less, it is only the largest of many. */
const CULPRIT_SHARE = 0.2;

/** Too much was taken for an answer. The message names the file. */
export class ContentTooCostlyError extends Error {
  override readonly name = 'ContentTooCostlyError';

  constructor(what: string, { message }: UnreadFile, circumstance?: string) {
    super(circumstance === undefined ? `${what} ${message}` : `${what} ${message}, ${circumstance}`);
  }
}

/** The result of a lookup, or what is said instead when it took too much. */
export async function unlessTooCostly<T, Otherwise>(
  lookup: () => Promise<T>,
  otherwise: (error: ContentTooCostlyError) => Otherwise,
): Promise<T | Otherwise> {
  try {
    return await lookup();
  } catch (error) {
    if (!(error instanceof ContentTooCostlyError)) throw error;
    return otherwise(error);
  }
}

export class Lookup {
  readonly reader: ContentReader;
  /** How many bytes were read, of all repositories. */
  bytes = 0;
  #cpuMs = 0;
  #leftOut = 0;

  constructor(reader: ContentReader) {
    this.reader = reader;
  }

  /** Whether another file may be left out. */
  get mayGoOn(): boolean {
    return this.#leftOut <= MAX_LEFT_OUT;
  }

  /** All questions of a lookup together may take the limit; without a file that took it, they begin anew. */
  async ask(tree: TreeSnapshot, question: TreeQuestion): Promise<ThreadOutcome> {
    const cpuMs = Math.max(0, this.reader.options.cpuMs - this.#cpuMs);
    const outcome = await this.reader.ask(tree, question, { cpuMs, isForEachFile: false });
    if (outcome.kind === 'answer') {
      this.#cpuMs += outcome.cpuMs;
    } else {
      this.#cpuMs = 0;
      this.#leftOut += 1;
    }
    return outcome;
  }

  /** Whether the file of the outcome is the reason for it, so that others need not read it either. */
  hasCulprit({ path, share }: TookTooMuch): boolean {
    return path !== null && share >= CULPRIT_SHARE;
  }
}
