import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { mergeHold, nextClosing } from '../../../../domain/quota-resize/policy/merge-window.ts';
import type { MergeHold } from '../../../../domain/quota-resize/model/observation.ts';
import { resolve } from './policies.ts';

const at = (text: string): number => Date.parse(text);

/** What holds a merge back at a moment, with these annotations of the namespace. */
function holdAt(moment: string, annotations: Readonly<Record<string, string>>): MergeHold | null {
  const { policy, warnings } = resolve(annotations);
  expect(warnings).toEqual([]);
  return mergeHold(policy, at(moment));
}

describe('a freeze', () => {
  it('holds until its end and not a moment longer, and names its layer', () => {
    const freeze = { 'freeze-until': '2026-12-27' };
    expect(holdAt('2026-12-26T23:59:59.999Z', freeze)).toEqual({
      reason: 'Frozen',
      until: at('2026-12-27T00:00:00Z'),
      detail: 'merging is frozen until 2026-12-27T00:00:00Z (resizer.io/freeze-until on the namespace)',
    });
    expect(holdAt('2026-12-27T00:00:00Z', freeze)).toBeNull();
  });

  it('of the process is told as such', () => {
    const { policy } = resolve({}, {}, { freezeUntil: at('2026-12-27T00:00:00Z') });
    expect(mergeHold(policy, at('2026-12-01T00:00:00Z'))?.detail).toContain("FREEZE_UNTIL in Headroom's configuration");
  });

  it('wins over a window that is open', () => {
    const both = { 'freeze-until': '2026-12-27', 'merge-windows': '0 0 * * * for 24h' };
    expect(holdAt('2026-12-01T00:00:00Z', both)?.reason).toBe('Frozen');
  });
});

describe('windows', () => {
  const office = { 'merge-windows': '0 9 * * 1-5 for 8h in Europe/Berlin' };

  it('without any, merging is always allowed', () => {
    expect(holdAt('2026-12-01T03:00:00Z', {})).toBeNull();
  });

  it.each([
    // A Monday in winter: 9:00 in Berlin is 8:00 UTC.
    ['2026-11-23T07:59:59Z', '2026-11-23T08:00:00Z'],
    ['2026-11-23T16:00:00Z', '2026-11-24T08:00:00Z'],
    ['2026-11-27T16:00:00Z', '2026-11-30T08:00:00Z'],
    // The Monday after the clocks went forward: 9:00 in Berlin is 7:00 UTC.
    ['2026-03-27T16:00:00Z', '2026-03-30T07:00:00Z'],
  ])('at %s the next opens at %s', (moment, next) => {
    expect(holdAt(moment, office)).toEqual({
      reason: 'OutsideMergeWindow',
      until: at(next),
      detail: `it is outside of the merge windows (resizer.io/merge-windows on the namespace: 0 9 * * 1-5 for 8h in Europe/Berlin); the next opens at ${next}`,
    });
  });

  it.each(['2026-11-23T08:00:00Z', '2026-11-23T12:34:56.789Z', '2026-11-23T15:59:59.999Z', '2026-07-01T07:00:00Z'])(
    'at %s one is open',
    (moment) => {
      expect(holdAt(moment, office)).toBeNull();
    },
  );

  it.each([
    ['2026-11-23T07:59:59Z', null],
    ['2026-11-23T08:00:00Z', '2026-11-23T16:00:00Z'],
    ['2026-11-23T15:59:59.999Z', '2026-11-23T16:00:00Z'],
    ['2026-11-23T16:00:00Z', null],
  ])('at %s the next that closes does so at %s', (moment, closes) => {
    expect(nextClosing(resolve(office).policy, at(moment))).toBe(closes === null ? null : at(closes));
  });

  it('one that opened days ago is open for its whole duration', () => {
    const long = { 'merge-windows': '0 0 1 * * for 10d' };
    expect(holdAt('2026-11-10T23:59:00Z', long)).toBeNull();
    expect(holdAt('2026-11-11T00:00:00Z', long)?.until).toBe(at('2026-12-01T00:00:00Z'));
  });

  it('of several, the one that opens first is waited for', () => {
    const two = { 'merge-windows': '0 9 * * 1 for 1h; 0 20 * * 2 for 1h in America/New_York' };
    expect(holdAt('2026-11-23T10:00:00Z', two)?.until).toBe(at('2026-11-25T01:00:00Z'));
    expect(holdAt('2026-11-25T01:30:00Z', two)).toBeNull();
  });

  it('an opening in the hour that spring skips comes right after it, and the window is not lost', () => {
    const night = { 'merge-windows': '30 2 * * * for 1h in Europe/Berlin' };
    // 2:30 does not exist on the 29th; the clocks go from 2:00 to 3:00 at 1:00 UTC.
    expect(holdAt('2026-03-29T00:59:00Z', night)?.until).toBe(at('2026-03-29T01:00:00Z'));
    expect(holdAt('2026-03-29T01:59:00Z', night)).toBeNull();
    expect(holdAt('2026-03-29T02:00:00Z', night)?.until).toBe(at('2026-03-30T00:30:00Z'));
  });

  it('an opening in the hour that autumn repeats is the first of the two, and lasts its real time', () => {
    const night = { 'merge-windows': '30 2 * * * for 1h in Europe/Berlin' };
    // 2:30 comes at 0:30 and at 1:30 UTC.
    expect(holdAt('2026-10-25T00:30:00Z', night)).toBeNull();
    expect(holdAt('2026-10-25T01:29:59Z', night)).toBeNull();
    expect(holdAt('2026-10-25T01:30:00Z', night)?.until).toBe(at('2026-10-26T01:30:00Z'));
  });

  it('one over the change of the clocks lasts its real time', () => {
    const evening = { 'merge-windows': '0 22 * * * for 8h in Europe/Berlin' };
    // 22:00 on the 28th is 21:00 UTC; eight hours later it is 7:00 in Berlin.
    expect(holdAt('2026-03-29T04:59:00Z', evening)).toBeNull();
    expect(holdAt('2026-03-29T05:00:00Z', evening)?.until).toBe(at('2026-03-29T20:00:00Z'));
  });

  it('of the process are told as such', () => {
    const mergeWindows = [{ cron: '0 9 * * *', duration: 90 * 60_000, zone: 'UTC' }];
    const hold = mergeHold(resolve({}, {}, { mergeWindows }).policy, at('2026-12-01T12:00:00Z'));
    expect(hold?.detail).toContain("(MERGE_WINDOWS in Headroom's configuration: 0 9 * * * for 90m in UTC)");
  });
});

describe('the modules that workflows import', () => {
  it('do not read time zones: the cron library is none of them', () => {
    const root = fileURLToPath(new URL('../../../../', import.meta.url));
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const source = readFileSync(file, 'utf8');
      for (const [, types, module = ''] of source.matchAll(
        /^(?:import|export) (type )?(?:[^'";]*? from )?'([^']+)';/gm,
      )) {
        if (types !== undefined) continue;
        if (module.startsWith('.')) visit(join(dirname(file), module));
        else packages.add(module);
      }
    };
    visit(join(root, 'workflows/index.ts'));
    expect(seen.size).toBeGreaterThan(30);
    expect([...packages].toSorted()).not.toContain('croner');
  });
});
