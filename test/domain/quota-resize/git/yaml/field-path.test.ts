import * as fc from '../../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { FieldPathError, formatField, parseField } from '../../../../../domain/quota-resize/git/yaml/field-path.ts';

describe('parseField', () => {
  it.each([
    ['quota', ['quota']],
    ['namespaceQuotas["requests.cpu"]', ['namespaceQuotas', 'requests.cpu']],
    ['quotas.team-a.hard["limits.cpu"]', ['quotas', 'team-a', 'hard', 'limits.cpu']],
    ["a['b.c']", ['a', 'b.c']],
    ['list[0].value', ['list', 0, 'value']],
    ['list[0][12]["x"]', ['list', 0, 12, 'x']],
    ['["a.b"].c', ['a.b', 'c']],
    ['[3]', [3]],
    ['hard.count/jobs', ['hard', 'count/jobs']],
    ['a.0', ['a', '0']],
    ['a[""]', ['a', '']],
    ['a["it\'s \\"x\\" \\\\"]', ['a', 'it\'s "x" \\']],
    ["a['it\\'s']", ['a', "it's"]],
    ['größe.日本', ['größe', '日本']],
  ])('reads %s', (text, pointer) => {
    expect(parseField(text)).toEqual(pointer);
  });

  it.each([
    ['', /has the end at column 1; begin with a key/],
    ['.a', /has "\." at column 1; begin with a key/],
    ['a.', /has the end at column 3; write a key after the dot/],
    ['a..b', /has "\." at column 3; write a key after the dot/],
    ['a.[0]', /has "\[" at column 3; write a key after the dot/],
    ['a[b]', /has "\[" at column 2; write an index or a quoted key/],
    ['a[-1]', /has "\[" at column 2/],
    ['a[01]', /has "\[" at column 2/],
    ['a["b]', /has "\[" at column 2/],
    ['a["b"]c', /has "c" at column 7; write a dot or a bracket/],
    ['a b', /has " " at column 2; write a dot or a bracket/],
    ['a"b"', /has "\\"" at column 2/],
    ['a]', /has "\]" at column 2/],
  ])('rejects %j and says the column and what would be right', (text, message) => {
    expect(() => parseField(text)).toThrow(FieldPathError);
    expect(() => parseField(text)).toThrow(message);
  });

  it('reads back any pointer that was written', () => {
    const step = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.nat(999_999_999),
      fc.constantFrom('requests.cpu', '\n'),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (pointer) => {
        expect(parseField(formatField(pointer))).toEqual(pointer);
      }),
    );
  });

  it('reads any text or says what is wrong with it', () => {
    const piece = fc.constantFrom('a', '.', '[', ']', '"', "'", '\\', '0', ' ', 'x-y', '[0]', '["k"]');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        try {
          expect(parseField(formatField(parseField(text)))).toEqual(parseField(text));
        } catch (error) {
          expect(error).toBeInstanceOf(FieldPathError);
        }
      }),
    );
  });
});

describe('formatField', () => {
  it('writes brackets only where they are needed', () => {
    expect(formatField(['quotas', 'team-a', 'hard', 'limits.cpu', 0, 'value'])).toBe(
      'quotas.team-a.hard["limits.cpu"][0].value',
    );
  });
});
