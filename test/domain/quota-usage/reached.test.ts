import { describe, expect, it } from 'vitest';
import { furthest, hasReached } from '../../../domain/quota-usage/reached.ts';

describe('a resourceVersion', () => {
  it('is compared as a number, however long', () => {
    expect(hasReached('1000', '999')).toBe(true);
    expect(hasReached('999', '1000')).toBe(false);
    expect(hasReached('90071992547409931', '90071992547409932')).toBe(false);
    expect(hasReached('7', '7')).toBe(true);
  });

  it('that is no number is not waited for', () => {
    expect(hasReached('a', 'b')).toBe(true);
    expect(hasReached('12', 'b')).toBe(true);
  });
});

describe('how far caches have come', () => {
  it('is the later version of each resource', () => {
    const seen = furthest({ pods: '99', services: '7' }, { pods: '100', secrets: '3', services: '5' });
    expect(seen).toEqual({ pods: '100', services: '7', secrets: '3' });
  });
});
