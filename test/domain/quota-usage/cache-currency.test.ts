import { describe, expect, it } from 'vitest';
import { noteList, noteProgress, unknownCurrency } from '../../../domain/quota-usage/cache-currency.ts';

const listed = (...lists: readonly (readonly [asOf: number, version: string])[]) =>
  lists.reduce((currency, [asOf, version]) => noteList(currency, { asOf, version }), unknownCurrency);
const asOf = (currency: typeof unknownCurrency, version: string) => noteProgress(currency, version).asOf;

describe('a cache', () => {
  it('is current as of a list that it has come to, and of none that is ahead of it', () => {
    const currency = listed([1_000, '99']);
    expect(asOf(currency, '98')).toBe(Number.NEGATIVE_INFINITY);
    expect(asOf(currency, '99')).toBe(1_000);
    expect(asOf(currency, '100')).toBe(1_000);
  });

  it('comes to the first list that it was behind, however many there have been since', () => {
    const currency = listed([1_000, '100'], [2_000, '200'], [3_000, '300'], [4_000, '400']);
    const first = noteProgress(currency, '150');
    expect(first.asOf).toBe(1_000);
    expect(asOf(first, '399')).toBe(1_000);
    expect(asOf(first, '400')).toBe(4_000);
  });

  it('stays current as of what it was', () => {
    const reached = noteProgress(listed([1_000, '100']), '100');
    expect(asOf(noteList(reached, { asOf: 2_000, version: '200' }), '150')).toBe(1_000);
  });

  it('is not known to be current where versions cannot be compared', () => {
    expect(asOf(listed([1_000, 'abc']), 'abd')).toBe(Number.NEGATIVE_INFINITY);
    expect(asOf(listed([1_000, '']), '5')).toBe(Number.NEGATIVE_INFINITY);
    expect(asOf(listed([1_000, '5']), '')).toBe(Number.NEGATIVE_INFINITY);
  });
});
