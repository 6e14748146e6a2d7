/**
 * Vitest's global set-up of the integration tests: the workflows are compiled once, as they are in an image, and not again
 * by each of the hundred workers that the tests start. A worker that compiles them itself is what the demo and a test of
 * its own run. What V8 compiles is kept as well, for as long as the tests run: it is a fourth of a process's start.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The variable by which the tests' processes know where the bundle is. */
export const TEST_BUNDLE = 'HEADROOM_TEST_BUNDLE';

/** Node's own variable: where it keeps what it has compiled. */
const COMPILE_CACHE = 'NODE_COMPILE_CACHE';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'headroom-bundle-'));
  const bundle = join(folder, 'workflow-bundle.js');
  await promisify(execFile)(process.execPath, [join(ROOT, 'worker/bundle-main.ts'), bundle]);
  process.env[TEST_BUNDLE] = bundle;
  process.env[COMPILE_CACHE] = join(folder, 'compiled');
  // Again for as long as a process that is ending still writes to its cache.
  return async () => await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
