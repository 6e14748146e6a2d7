import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a command of git prints, without the last line break. */
export async function git(...args: readonly string[]): Promise<string> {
  // A large change names thousands of files.
  return (await promisify(execFile)('git', args, { maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
}
