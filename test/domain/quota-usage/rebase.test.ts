import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { equalLists } from '../../../domain/kernel/resource-list.ts';
import { rebase } from '../../../domain/quota-usage/rebase.ts';

describe('a count that is put upon a newer status', () => {
  it('frees what was freed and keeps what was charged meanwhile', () => {
    const before = { pods: '10', 'requests.cpu': '5' };
    const counted = { pods: '7', 'requests.cpu': '3500m' };
    const now = { pods: '12', 'requests.cpu': '6' };
    expect(rebase(counted, before, now)).toEqual({ pods: '9', 'requests.cpu': '4500m' });
  });

  it('is the count for a resource that had no number and has none', () => {
    const counted = { pods: '7', services: '1' };
    expect(rebase(counted, { pods: '10' }, { pods: '10' })).toEqual(counted);
    expect(rebase({ pods: '7' }, { pods: '10', services: '1' }, { pods: '11', services: '1' })).toEqual({ pods: '8' });
  });

  it.each([
    ['a number that fell', { pods: '10' }, { pods: '9' }],
    ['a number that was not there, which only who counts writes', {}, { pods: '1' }],
    ['a number that is not there any more', { pods: '10', services: '0' }, { pods: '10' }],
    ['the very count', { pods: '1' }, { pods: '7' }],
  ])('has to be counted anew where the status has %s', (_, before, now) => {
    expect(rebase({ pods: '7' }, before, now)).toBeNull();
  });

  it('is what was counted plus what was charged, whatever the status said', () => {
    const amount = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(amount, amount, amount, (counted, before, charged) => {
        const now = { pods: String(before + charged) };
        const written = rebase({ pods: String(counted) }, { pods: String(before) }, now);
        expect(written === null || equalLists(written, { pods: String(counted + charged) })).toBe(true);
        // Where it is what was to be written, it may be the write itself.
        expect(written === null).toBe(counted === before + charged);
      }),
    );
  });
});
