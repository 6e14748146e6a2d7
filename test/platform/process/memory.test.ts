import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const RESTING = fileURLToPath(new URL('./resting-process.ts', import.meta.url));

interface Seen {
  readonly collections: number;
  readonly heapMiB: number;
}

it('a process that rests after a burst gives back the memory of its garbage, and does not look for it while it works', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', RESTING]);
  const { working, resting } = JSON.parse(stdout) as { readonly working: Seen; readonly resting: Seen };
  expect(working.collections).toBe(1);
  expect(working.heapMiB).toBeGreaterThan(40);
  expect(resting.collections).toBe(2);
  expect(resting.heapMiB).toBeLessThan(20);
});
