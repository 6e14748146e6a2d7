import { describe, expect, it } from 'vitest';
import { fits, type Found, type FoundAtNight, judge, TABLE } from '../../../../domain/lights-out/workload/act-table.ts';

const marks = ['marked', 'unmarked'] as const;
const levels = ['above', 'at', 'below'] as const;
const whos = ['ours', 'person', 'gitops', 'machine'] as const;
const whens = ['before', 'since', 'new'] as const;

const atNight: readonly FoundAtNight[] = marks.flatMap((mark) =>
  levels.flatMap((level) =>
    whos.flatMap((who) => whens.map((when) => ({ wanted: 'Down' as const, mark, level, who, when }))),
  ),
);
const everything: readonly Found[] = [{ wanted: 'AsItIs' }, { wanted: 'Up' }, ...atNight];

/** What becomes of each that this holds for. */
function actsWhere(holds: (found: FoundAtNight) => boolean): readonly string[] {
  return [...new Set(atNight.filter(holds).map(judge))].toSorted();
}

describe('the table of what is done about a workload', () => {
  it('has exactly one row for whatever is found, and no row for nothing', () => {
    for (const found of everything) expect([found, TABLE.filter((row) => fits(row, found)).length]).toEqual([found, 1]);
    for (const row of TABLE) expect([row, everything.some((found) => fits(row, found))]).toEqual([row, true]);
  });

  it('leaves what a person did in the night, and puts to sleep what a person did before', () => {
    expect(actsWhere(({ level, who, when }) => level === 'above' && who === 'person' && when === 'since')).toEqual([
      'leaveToPerson',
    ]);
    expect(actsWhere(({ level, who, when }) => level === 'above' && who === 'person' && when === 'before')).toEqual([
      'putToSleep',
    ]);
  });

  it('never takes the number of a woken workload for its own where no person set it', () => {
    const found = actsWhere(({ mark, level, who }) => mark === 'marked' && level === 'above' && who !== 'person');
    expect(found).toEqual(['putToLevel', 'putToLevelAgain']);
  });

  it('changes the replicas of nothing that is at rest or asleep, unless Headroom itself set another number', () => {
    const still = actsWhere(({ mark, level, who }) => level !== 'above' && !(mark === 'marked' && who === 'ours'));
    expect(still).toEqual(['complete', 'holdAutoscalers', 'leave']);
  });
});
