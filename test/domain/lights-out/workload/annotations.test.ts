import { describe, expect, it } from 'vitest';
import {
  annotationProblems,
  overridesOf,
  readMoment,
  readPriority,
} from '../../../../domain/lights-out/workload/annotations.ts';
import { DELETES_VOLUMES, PRIORITY, SLEEP_UNTIL, WAKE_UNTIL } from '../../../../domain/lights-out/schedule/names.ts';

const NOW = Date.parse('2026-11-20T20:00:00Z');

describe('a moment in an annotation', () => {
  it.each([
    ['2026-11-20T22:00:00Z', '2026-11-20T22:00:00.000Z'],
    ['2026-11-20T22:00:00+01:00', '2026-11-20T21:00:00.000Z'],
    ['2026-11-20t22:00:00.5z', '2026-11-20T22:00:00.500Z'],
    [' 2026-02-28T23:59:59-08:00 ', '2026-03-01T07:59:59.000Z'],
    ['2028-02-29T12:00:00Z', '2028-02-29T12:00:00.000Z'],
  ])('%j is %s', (text, expected) => {
    expect(new Date(readMoment(text) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'tomorrow',
    '3h',
    '2026-11-20',
    '2026-11-20T22:00:00',
    '2026-11-20 22:00:00Z',
    '2026-11-20T22:00Z',
    '2026-02-30T22:00:00Z',
    '2026-13-01T22:00:00Z',
    '2026-11-20T25:00:00Z',
  ])('%j is none', (text) => {
    expect(readMoment(text)).toBeNull();
  });
});

describe('the annotations of an object', () => {
  it('hold until their moment, and are as absent from then on', () => {
    const annotations = { [WAKE_UNTIL]: '2026-11-20T20:00:01Z', [SLEEP_UNTIL]: '2026-11-20T20:00:00Z' };
    expect(overridesOf(annotations, NOW)).toEqual({
      wakeUntil: NOW + 1000,
      sleepUntil: null,
      wokeUntil: null,
      problems: [],
    });
    expect(overridesOf(annotations, NOW + 1000)).toMatchObject({ wakeUntil: null, wokeUntil: NOW + 1000 });
    expect(overridesOf({}, NOW)).toEqual({ wakeUntil: null, sleepUntil: null, wokeUntil: null, problems: [] });
  });

  it('are said and ignored when they cannot be read', () => {
    const { wakeUntil, problems } = overridesOf({ [WAKE_UNTIL]: 'for 3 hours' }, NOW);
    expect(wakeUntil).toBeNull();
    expect(problems).toEqual([
      `the annotation ${WAKE_UNTIL} is "for 3 hours", and is ignored: expected a moment with its zone, such as 2026-11-20T22:00:00Z`,
    ]);
    expect(annotationProblems({ [PRIORITY]: 'high', [SLEEP_UNTIL]: 'x'.repeat(500) }, NOW)).toEqual([
      expect.stringContaining(SLEEP_UNTIL),
      expect.stringContaining(`${PRIORITY} is "high"`),
    ]);
    expect(annotationProblems({ [SLEEP_UNTIL]: 'x'.repeat(500) }, NOW)[0]?.length).toBeLessThan(250);
    expect(annotationProblems({ [PRIORITY]: '-10' }, NOW)).toEqual([]);
  });

  it('let volumes go only with the very word', () => {
    const problemsOf = (text: string) => annotationProblems({ [DELETES_VOLUMES]: text }, NOW);
    expect([problemsOf('true'), problemsOf('false')]).toEqual([[], []]);
    expect(problemsOf('yes')).toEqual([
      `the annotation ${DELETES_VOLUMES} is "yes", and is ignored: expected true or false`,
    ]);
  });

  it('give a priority as an integer within a million', () => {
    expect(['100', '-5', '+7', '0', ' 1000000'].map(readPriority)).toEqual([100, -5, 7, 0, 1_000_000]);
    expect(['', 'high', '1.5', '1000001', '1e3'].map(readPriority)).toEqual([null, null, null, null, null]);
  });
});
