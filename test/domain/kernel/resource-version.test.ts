import { describe, expect, it } from 'vitest';
import { isAtLeast } from '../../../domain/kernel/resource-version.ts';

describe('a resourceVersion', () => {
  it('is compared as a number, however long', () => {
    expect(isAtLeast('1000', '999')).toBe(true);
    expect(isAtLeast('999', '1000')).toBe(false);
    expect(isAtLeast('90071992547409931', '90071992547409932')).toBe(false);
    expect(isAtLeast('7', '7')).toBe(true);
  });

  it('that is no number is not waited for', () => {
    expect(isAtLeast('a', 'b')).toBe(true);
    expect(isAtLeast('12', 'b')).toBe(true);
  });
});
