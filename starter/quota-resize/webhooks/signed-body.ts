/** The body of a webhook and whether it is signed, both as its bytes come in. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BodyMemory } from '../../kernel/body-memory.ts';

export interface SignedBodyOptions {
  /** The header `Content-Length`. */
  readonly length: number;
  /** The header `X-Hub-Signature-256`. */
  readonly signature: string;
  /** Each of them may have signed. */
  readonly secrets: readonly string[];
  readonly memory: BodyMemory;
}

const SIGNATURE = /^sha256=([0-9a-f]{64})$/;

/**
 * The text of a body that one of the secrets has signed; null for any other, and for one that is not as long as it said.
 *
 * Each chunk is hashed when it is there and copied once, to its place, so that a body takes what has come of it: it is made a
 * text only when it is known to be signed.
 *
 * @throws {BodyRefused} when there is no memory for it; whatever the stream does.
 */
export async function readSignedBody(
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
  { length, signature, secrets, memory }: SignedBodyOptions,
): Promise<string | null> {
  const [, expected] = SIGNATURE.exec(signature) ?? [];
  if (expected === undefined || length === 0) return null;
  const hashes = secrets.map((secret) => createHmac('sha256', secret));
  const body = memory.open();
  try {
    let received = 0;
    for await (const chunk of chunks) {
      received += chunk.length;
      if (received > length) return null;
      for (const hash of hashes) hash.update(chunk);
      body.append(chunk);
    }
    const digest = Buffer.from(expected, 'hex');
    const isSigned = hashes.map((hash) => timingSafeEqual(hash.digest(), digest)).includes(true);
    return isSigned && received === length ? body.text() : null;
  } finally {
    body.release();
  }
}
