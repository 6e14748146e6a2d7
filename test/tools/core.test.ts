/** The core of the integration tests: what `make test` runs on real servers. */
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { GRAPH_FOLDERS } from '../../tools/test-run/affected-files.ts';
import { CORE_SECONDS, coreFiles, coreFilesFor } from '../../tools/test-run/core.ts';
import { recordedDurations } from '../../tools/test-run/durations.ts';
import { importGraph } from '../../tools/test-run/import-graph.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TESTS = globSync('test/**/*.integration.test.ts', { cwd: ROOT });

it('consists of files that are there', () => {
  expect([...coreFiles].filter((file) => !TESTS.includes(file))).toEqual([]);
});

it.each(controllerNames)('has a file for %s that is in its folder, or imports from there', async (controller) => {
  const graph = await importGraph(ROOT, GRAPH_FOLDERS);
  const files = coreFilesFor(controller).flatMap((file) => [file, ...(graph.get(file) ?? [])]);
  expect(files.filter((file) => file.split('/').includes(controller))).not.toEqual([]);
});

it.each(['activities', 'starter', 'worker', 'platform'] as const)('has files of the layer %s', (layer) => {
  expect(coreFilesFor(layer).filter((file) => !file.startsWith(`test/${layer}/`))).toEqual([]);
});

it('keeps to its budget, by the recorded durations of its files', () => {
  const durations = recordedDurations();
  // Whoever adds a file: npm test -- --record
  expect([...coreFiles].filter((file) => !durations.has(file))).toEqual([]);
  const total = [...coreFiles].reduce((sum, file) => sum + (durations.get(file) ?? 0), 0);
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThanOrEqual(CORE_SECONDS);
});

it('has durations of files that are there', () => {
  expect([...recordedDurations().keys()].filter((file) => !existsSync(`${ROOT}${file}`))).toEqual([]);
});
