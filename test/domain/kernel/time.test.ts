import { describe, expect, it } from 'vitest';
import { formatSpan, fromNow, withRelativeTimes } from '../../../domain/kernel/time.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 15);
const MINUTE = 60_000;

describe('a span', () => {
  it('has the units that a reader needs', () => {
    expect([0, 119_000, 120_000, 119 * MINUTE, 120 * MINUTE, 200 * MINUTE, 48 * 60 * MINUTE].map(formatSpan)).toEqual([
      '0 s',
      '119 s',
      '2 min',
      '119 min',
      '2 h',
      '3 h 20 min',
      '2 d',
    ]);
  });

  it('is before or after now', () => {
    expect(fromNow(NOW + 58 * MINUTE, NOW)).toBe('in 58 min');
    expect(fromNow(NOW, NOW)).toBe('in 0 s');
    expect(fromNow(NOW - 3 * MINUTE, NOW)).toBe('3 min ago');
  });
});

describe('the exact moments of a text', () => {
  it('each say how far away they are', () => {
    expect(
      withRelativeTimes('denied at 2026-11-20T09:15:00Z, cooling down until 2026-11-20T11:13:00Z: a freeze', NOW),
    ).toBe(
      'denied at 2026-11-20T09:15:00Z (60 min ago), cooling down until 2026-11-20T11:13:00Z (in 58 min): a freeze',
    );
  });

  it('say it once', () => {
    const text = 'asleep until 2026-11-20T11:13:00Z (in 58 min), since 2026-11-20T10:12:00Z (3 min ago)';
    expect(withRelativeTimes(text, NOW)).toBe(text);
    expect(withRelativeTimes('merged 2026-11-20T10:12:00Z (#7)', NOW)).toBe(
      'merged 2026-11-20T10:12:00Z (3 min ago) (#7)',
    );
  });

  it('are those in UTC with whole seconds, as Headroom writes them', () => {
    const text = 'at 2026-11-20T11:13:00+01:00, in v2026-11-20T11:13:00Zx and on 2026-11-20';
    expect(withRelativeTimes(text, NOW)).toBe(text);
  });
});
