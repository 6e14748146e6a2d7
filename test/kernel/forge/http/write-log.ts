import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { isoSeconds } from '../git/objects.ts';

/** One request that was meant to change something, and its answer. */
export interface WriteExchange {
  /** ISO 8601 with milliseconds: when the answer was ready. */
  readonly at: string;
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly status: number;
  /** Whether the repository was changed: true also for an answer that was lost afterwards. */
  readonly effect: boolean;
  readonly requestBody: unknown;
  readonly responseBody: unknown;
  readonly user: string;
  /** Method and route, with the fields of a GraphQL request: `POST /graphql createCommitOnBranch`. */
  readonly endpoint?: string;
  /** The branch that it was about, where there is one. */
  readonly branch?: string;
  /** The decision that the branch's name carries. */
  readonly decision?: string;
  /** The fault that was injected. */
  readonly fault?: string;
}

/** All write exchanges, in memory and as lines of JSON. */
export class WriteLog {
  readonly entries: WriteExchange[] = [];
  readonly #out: Writable | undefined;
  readonly #own: boolean;

  constructor(target: Writable | string | undefined) {
    this.#own = typeof target === 'string';
    this.#out = typeof target === 'string' ? createWriteStream(target, { flags: 'a' }) : target;
  }

  add(entry: WriteExchange): void {
    this.entries.push(entry);
    // Bodies stay in memory: a line is for reading along.
    const { requestBody: _request, responseBody: _response, ...line } = entry;
    this.#out?.write(`${JSON.stringify({ ...line, at: isoSeconds(new Date(entry.at)) })}\n`);
  }

  async close(): Promise<void> {
    const out = this.#out;
    if (this.#own && out) await new Promise<void>((resolve) => out.end(() => resolve()));
  }
}
