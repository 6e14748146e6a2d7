import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder in which the logs of a test file are kept for whoever has to find out why it failed; unset, they are not. */
export const LOG_FOLDER = 'HEADROOM_TEST_LOG_FOLDER';

/**
 * Where the worker and the starter of a stack write their logs: into the folder of the running test file, else into `dir`,
 * which goes with the stack.
 */
export function logFolder(dir: string): string {
  const kept = process.env[LOG_FOLDER];
  if (kept === undefined) return dir;
  const folder = join(kept, basename(dir));
  mkdirSync(folder, { recursive: true });
  return folder;
}
