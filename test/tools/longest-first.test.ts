import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LONGEST } from '../../tools/test-run/longest-first.ts';

it('a file that is to begin first has not been renamed meanwhile', () => {
  const root = new URL('../../', import.meta.url);
  expect(LONGEST.filter((file) => !existsSync(fileURLToPath(new URL(file, root))))).toEqual([]);
});
