import type { Readable } from 'node:stream';
import { createInterface } from 'node:readline';

/**
 * The first line that a program prints.
 *
 * @throws Error when it ends without one: what would have come is not waited for.
 */
export async function firstLine(program: { readonly stdout: Readable }): Promise<string> {
  for await (const line of createInterface({ input: program.stdout })) {
    return line;
  }
  throw new Error('the program ended before it had printed a line; its standard error says why');
}
