import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../../domain/kernel/duration.ts';

describe('durations', () => {
  it.each([
    ['0', 0],
    ['500ms', 500],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    ['7d', 604_800_000],
    ['1d12h', 129_600_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '1', '-1h', '1 h', '1w', 'd', '1h!'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow('expected a duration such as');
  });

  it.each([
    [0, '0'],
    [28_800_000, '8h'],
    [5_400_000, '90m'],
    [1_000, '1s'],
    [1_500, '1500ms'],
  ])('%i ms is written %s, and reads as the same', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
    expect(parseDuration(text)).toBe(ms);
  });
});
