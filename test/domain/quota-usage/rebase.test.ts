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

  it('is the count where nothing was charged, and for a key that had no number', () => {
    expect(rebase({ pods: '7' }, { pods: '10' }, { pods: '10' })).toEqual({ pods: '7' });
    expect(rebase({ pods: '7', services: '1' }, { pods: '10' }, { pods: '10' })).toEqual({ pods: '7', services: '1' });
    expect(rebase({ pods: '7' }, { pods: '10' }, {})).toEqual({ pods: '7' });
  });

  it('is what was counted plus what was charged, whatever the status said', () => {
    const amount = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(amount, amount, amount, (counted, before, charged) => {
        const now = { pods: String(before + charged) };
        const written = rebase({ pods: String(counted) }, { pods: String(before) }, now);
        expect(equalLists(written, { pods: String(counted + charged) })).toBe(true);
      }),
    );
  });
});
