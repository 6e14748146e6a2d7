/** The core of the integration tests: what `make test` runs on real servers. */
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CORE_SECONDS, coreFiles } from '../../tools/test-run/core.ts';
import { recordedDurations } from '../../tools/test-run/durations.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TESTS = globSync('test/**/*.integration.test.ts', { cwd: ROOT });

it('consists of files that are there', () => {
  expect([...coreFiles].filter((file) => !TESTS.includes(file))).toEqual([]);
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
