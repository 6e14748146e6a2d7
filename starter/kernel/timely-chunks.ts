import type { Readable } from 'node:stream';
import { BodyRefused } from './body-memory.ts';

export interface BodyTimes {
  /** The longest pause, in milliseconds. */
  readonly idleMs: number;
  /** The longest time for the whole body, in milliseconds. */
  readonly longestMs: number;
}

/**
 * The chunks of a body, for as long as they come. The stream itself stays as it is, so that the request can be answered.
 *
 * @throws {BodyRefused} when the body is slow; whatever the stream does.
 */
export async function* timelyChunks(body: Readable, { idleMs, longestMs }: BodyTimes): AsyncGenerator<Buffer> {
  const end = performance.now() + longestMs;
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer, undefined>;
  for (;;) {
    const left = end - performance.now();
    // Where some is always there, no timer ever comes first.
    if (left <= 0) throw new BodyRefused('slow');
    const { done, value } = await within(chunks.next(), Math.min(idleMs, left));
    if (done === true) return;
    yield value;
  }
}

async function within<T>(next: Promise<T>, ms: number): Promise<T> {
  return await new Promise((resolve, reject) => {
    const refuse = (): void => reject(new BodyRefused('slow'));
    // What has come while the process was busy is read before an immediate runs.
    const timer = setTimeout(() => setImmediate(refuse), ms);
    next.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
