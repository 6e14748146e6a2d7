import { describe, expect, it } from 'vitest';
import { addMinutes, boundedMinute, emptyRollUp, noteWrite, rollUpText } from '../../../domain/quota-usage/roll-up.ts';

const AT = Date.UTC(2026, 0, 1, 10);

/** A minute with these writes, as `<namespace> <lag in ms>`. */
function minuteOf(writes: readonly string[], at = AT) {
  const [minute] = writes.reduce<ReturnType<typeof noteWrite>[]>((before, write) => {
    const [namespace = '', lagMs] = write.split(' ');
    return [noteWrite(before[0] ?? null, { namespace, quota: 'compute', lagMs: Number(lagMs), at })];
  }, []);
  if (minute === undefined) throw new Error('no writes');
  return minute;
}

describe('the roll-up', () => {
  it('tells how much was written where, and how late', () => {
    const first = minuteOf(['team-a 12', 'team-b 7', 'team-a 3']);
    const second = minuteOf(['team-a 90'], AT + 60_000);
    const rollUp = addMinutes(emptyRollUp, [first, second]);
    expect(rollUp).toMatchObject({ writes: 4, minutes: [{ writes: 3, namespaces: { 'team-a': 2, 'team-b': 1 } }, {}] });
    expect(rollUpText(rollUp)).toEqual({
      detail:
        'The owner has written 4 statuses. In the last 2 minutes with writes the latest was 90 ms behind (team-a/compute).',
      facts: [
        'most in these minutes: team-a 3 and team-b 1',
        '2026-01-01T10:01:00Z: 1 status, the latest was 90 ms behind (team-a/compute)',
        '2026-01-01T10:00:00Z: 3 statuses, the latest was 12 ms behind (team-a/compute)',
      ],
    });
  });

  it('stays small, however many namespaces and minutes there are', () => {
    const many = boundedMinute(minuteOf(Array.from({ length: 500 }, (_, index) => `team-${index % 50} 1`)));
    expect([many.writes, Object.keys(many.namespaces).length]).toEqual([500, 20]);
    let rollUp = emptyRollUp;
    for (let minute = 0; minute < 200; minute += 1) rollUp = addMinutes(rollUp, [many]);
    expect([rollUp.writes, rollUp.minutes.length]).toEqual([100_000, 60]);
    expect(rollUpText(rollUp).facts).toHaveLength(11);
  });
});
