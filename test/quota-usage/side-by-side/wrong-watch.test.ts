import { describe, expect, it } from 'vitest';
import { differences, type Statuses } from './compare.ts';
import { WrongTimes } from './wrong-watch.ts';

const statuses = (pods: string | null): Statuses =>
  pods === null ? new Map() : new Map([['a/compute', { spec: { pods: '9' }, hard: { pods: '9' }, used: { pods } }]]);

/** Looks a second after each other, by what each of the two says. */
function longest(...looks: readonly (readonly [first: string | null, second: string | null])[]) {
  const wrong = new WrongTimes();
  looks.forEach(([first, second], index) => {
    const both = [statuses(first), statuses(second)] as const;
    wrong.add({ differences: differences(['one', both[0]], ['two', both[1]]), statuses: both }, index * 1_000);
  });
  return wrong.longest((looks.length - 1) * 1_000);
}

describe('the longest time for which two clusters said different things', () => {
  const nothing = { ms: 0, what: 'nothing' };
  const what = 'a/compute: used pods';

  it('is that of the one that said something else in the end', () => {
    expect(longest(['1', '1'], ['2', '1'], ['2', '1'], ['2', '2'])).toEqual({
      first: nothing,
      second: { ms: 2_000, what },
    });
    expect(longest(['1', '2'], ['1', '2'], ['2', '2'])).toEqual({ first: { ms: 2_000, what }, second: nothing });
  });

  it('goes on while the numbers change and differ', () => {
    expect(longest(['1', '2'], ['2', '3'], ['3', '4'], ['4', '4']).first).toEqual({ ms: 3_000, what });
  });

  it('is that of the second where both changed, or where it is not over', () => {
    expect(longest(['1', '2'], ['3', '3']).second).toEqual({ ms: 1_000, what });
    expect(longest(['1', '2'], ['1', '2']).second).toEqual({ ms: 1_000, what });
  });

  it('is of whole quotas too', () => {
    expect(longest(['1', null], ['1', null], ['1', '1'])).toEqual({
      first: nothing,
      second: { ms: 2_000, what: 'a/compute' },
    });
    expect(longest(['1', null], [null, null]).first).toEqual({ ms: 1_000, what: 'a/compute' });
  });
});
