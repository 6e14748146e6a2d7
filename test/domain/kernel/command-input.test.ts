import { describe, expect, it } from 'vitest';
import { readCommandInput } from '../../../domain/kernel/command-input.ts';

describe('what comes with a command', () => {
  it.each([
    [undefined, 'unknown', ''],
    [null, 'unknown', ''],
    [42, 'unknown', ''],
    [['ann'], 'unknown', ''],
    [{}, 'unknown', ''],
    [{ by: 7, reason: {} }, 'unknown', ''],
    ['ann', 'ann', ''],
    ['  ', 'unknown', ''],
    [{ by: ' ann ', reason: ' too\nmuch ' }, 'ann', 'too much'],
  ])('%j is from %s', (raw, by, reason) => {
    expect(readCommandInput(raw)).toEqual({ by, reason });
  });

  it('has the head where one was looked at', () => {
    expect(readCommandInput({ by: 'ann', head: ' 1234567 ' }).head).toBe('1234567');
  });

  it('is cut before it fills the details', () => {
    expect(readCommandInput({ by: 'x'.repeat(10_000) }).by).toHaveLength(500);
  });
});
