import { expect, it } from 'vitest';
import { type BenchRow, exceeded, rowsText } from '../../bench/resize-load/rows.ts';

const rows: readonly BenchRow[] = [
  { name: 'memory at rest', unit: 'MiB', values: [255, 270, 250], limit: 260 },
  { name: 'latency', unit: 's', values: [0.8, 0.5, 0.6, 0.7], limit: 0.8 },
  { name: 'a floor', unit: 'ms', values: [900], limit: null },
];

it('a benchmark fails where a single one of its values is above the limit, and nothing without a limit does', () => {
  expect(exceeded(rows).map(({ name }) => name)).toEqual(['memory at rest']);
});

it('a row of the table has the smallest, the middle and the largest value, and the limit', () => {
  const [, memory = '', latency = '', floor = ''] = rowsText(rows).split('\n');
  expect(memory.replaceAll(/ +/g, ' ')).toBe('memory at rest 250.00 255.00 270.00 MiB at most 260');
  expect(latency).toMatch(/ 0\.50 +0\.60 +0\.80 s +at most 0\.8$/);
  expect(floor.trimEnd()).toMatch(/900\.00 ms$/);
});
