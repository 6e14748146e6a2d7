// oxlint-disable-next-line no-restricted-imports -- A hash is computed from its argument alone.
import { createHash } from 'node:crypto';

/** The first hexadecimal digits of the SHA-256 hash of a text, always the same for the same text. */
export function digestOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}
