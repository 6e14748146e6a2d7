import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ProcessName, watchSource } from './source-watch.ts';

/** On a machine under load, files that are written at once are heard of one after the other. */
const DEBOUNCE_MS = 1_000;

let root: string;
let unwatch: () => void;
let notify: (change: { files: readonly string[]; processes: readonly ProcessName[] }) => void;
let change: Promise<{ files: readonly string[]; processes: readonly ProcessName[] }>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'source-watch-'));
  for (const folder of ['domain', 'platform', 'activities/room', 'workflows', 'worker', 'starter/cli']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  ({ promise: change, resolve: notify } = Promise.withResolvers<Awaited<typeof change>>());
  unwatch = watchSource(root, (files, processes) => notify({ files, processes: [...processes] }), DEBOUNCE_MS);
});
afterEach(async () => {
  unwatch();
  await rm(root, { recursive: true, force: true });
});

it('a change of the activities restarts the worker, which alone runs them', async () => {
  await write('activities/room/observe.ts');
  await expect(change).resolves.toEqual({ files: ['activities/room/observe.ts'], processes: ['worker'] });
});

it('a change of the starter restarts the starter alone', async () => {
  await write('starter/cli/line.ts');
  await expect(change).resolves.toEqual({ files: ['starter/cli/line.ts'], processes: ['starter'] });
});

it('several files that change at once, as with a switch of branches, are one restart of whatever runs them', async () => {
  await Promise.all([write('domain/decide.ts'), write('activities/room/ensure.ts')]);
  await expect(change).resolves.toEqual({
    files: ['activities/room/ensure.ts', 'domain/decide.ts'],
    processes: ['worker', 'starter'],
  });
});

it('a file that an editor writes aside and moves into place is seen, and what is no source is not', async () => {
  await write('worker/main.ts.swp');
  await write('starter/notes.md');
  await rename(join(root, 'worker/main.ts.swp'), join(root, 'worker/main.ts'));
  await expect(change).resolves.toEqual({ files: ['worker/main.ts'], processes: ['worker'] });
});

async function write(file: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), 'export {};\n');
}
