import { describe, expect, it } from 'vitest';
import { hasReached } from '../../../domain/kernel/resource-version.ts';

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
