import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const RESTING = fileURLToPath(new URL('./resting-process.ts', import.meta.url));

interface Seen {
  readonly collections: number;
  readonly heapMiB: number;
}

it('a process that rests after a burst gives back the memory of its garbage, and once: neither while it works nor while it idles', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', RESTING]);
  const { working, resting, idling } = JSON.parse(stdout) as Readonly<Record<'working' | 'resting' | 'idling', Seen>>;
  expect(working.collections).toBe(1);
  expect(working.heapMiB).toBeGreaterThan(40);
  expect(resting.collections).toBe(2);
  expect(resting.heapMiB).toBeLessThan(20);
  expect(idling.collections).toBe(2);
});
