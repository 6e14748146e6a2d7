import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../activities/lights-out/scaling-memory.ts';

type Part = Parameters<typeof changesOf>[0][number];

const part = (name: string, data: Record<string, string>): Part => ({ name, resourceVersion: '1', data });
const text = 'x'.repeat(20);

describe('entries of the memory', () => {
  it('fill what has room, and then new ConfigMaps, none of which is larger than allowed', () => {
    const full = part('full', { a: text, b: text });
    const half = part('half', { c: text });
    const entries = new Map(['d', 'e', 'f', 'g', 'h'].map((uid) => [uid, text]));
    const limit = 2 * (text.length + 9);
    const changes = changesOf([full, half], entries, limit);
    expect(changes.map((change) => [change.part?.name ?? null, Object.keys(change.data)])).toEqual([
      ['half', ['d']],
      [null, ['e', 'f']],
      [null, ['g', 'h']],
    ]);
  });

  it('stay where they are, and cost no write when they are written already', () => {
    const one = part('one', { a: text });
    const two = part('two', { b: text });
    expect(changesOf([one, two], new Map([['a', text]]))).toEqual([]);
    expect(changesOf([one, two], new Map([['b', 'other']]))).toEqual([{ part: two, data: { b: 'other' } }]);
  });

  it('are taken away wherever they are, and one that is nowhere needs no write', () => {
    const one = part('one', { a: text, b: text });
    const two = part('two', { a: text });
    const gone = new Map([
      ['a', null],
      ['z', null],
    ]);
    expect(changesOf([one, two], gone)).toEqual([
      { part: two, data: { a: null } },
      { part: one, data: { a: null } },
    ]);
  });

  it('of a thousand workloads with the longest names are in ConfigMaps below 512 KiB', () => {
    const long = JSON.stringify({ namespace: 'n'.repeat(63), name: 'n'.repeat(253), since: '2026-11-20T18:00:05Z' });
    const uid = (index: number) => `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;
    const changes = changesOf([], new Map(Array.from({ length: 1_000 }, (_, index) => [uid(index), long])));
    const sizes = changes.map(({ data }) => Buffer.byteLength(JSON.stringify(data)));
    expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
    expect(changes.flatMap(({ data }) => Object.keys(data))).toHaveLength(1_000);
  });
});
