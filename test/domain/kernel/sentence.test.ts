import { describe, expect, it } from 'vitest';
import {
  atMost,
  listText,
  oneLine,
  sentence,
  truncate,
  visibleJson,
  visibleText,
} from '../../../domain/kernel/sentence.ts';

it.each([
  ['cooling down until 2026-11-20T11:15:00Z', 'Cooling down until 2026-11-20T11:15:00Z.'],
  ['pull request [#7](https://example.com/7) waits', 'Pull request [#7](https://example.com/7) waits.'],
  ['two facts. It ends here.', 'Two facts. It ends here.'],
  ['requests.cpu 2 → 3: Usage is 2 of 2 CPU.', 'requests.cpu 2 → 3: Usage is 2 of 2 CPU.'],
  ['pods 10 → 12 is recommended already', 'pods 10 → 12 is recommended already.'],
  ['web-1 is new', 'web-1 is new.'],
  ['Already one.', 'Already one.'],
  ['is one running?', 'Is one running?'],
  ['', ''],
])('%s', (text, expected) => {
  expect(sentence(text)).toBe(expected);
});

describe('a list', () => {
  it.each([
    [[], undefined, ''],
    [['a'], undefined, 'a'],
    [['a', 'b'], undefined, 'a and b'],
    [['a', 'b', 'c'], undefined, 'a, b and c'],
    [['a', 'b', 'c'], 3, 'a, b and c'],
    [['a', 'b', 'c'], 2, 'a, b and 1 more'],
    [['a', 'b', 'c'], 1, 'a and 2 more'],
  ])('of %j, of which %s are named', (parts, most, expected) => {
    expect(listText(parts, most)).toBe(expected);
  });

  it('of sentences ends with how many are left out', () => {
    const more = (rest: number): string => `and ${rest} more`;
    expect(atMost(['a', 'b'], 2, more)).toEqual(['a', 'b']);
    expect(atMost(['a', 'b', 'c'], 2, more)).toEqual(['a', 'b', 'and 1 more']);
    expect(atMost(['a', 'b'], 2, more, 9)).toEqual(['a', 'b', 'and 7 more']);
  });
});

describe('a text of others', () => {
  it('is one line, without control characters', () => {
    expect(oneLine('  a\n\tb\u0000c  ')).toBe('a b c');
  });

  it.each([
    ['a format character', '\u202e', '[U+202E]'],
    ['a filler', '\u3164', '[U+3164]'],
    ['a filler of Hangul syllables', '\u115f', '[U+115F]'],
    ['a half-width filler', '\uffa0', '[U+FFA0]'],
    ['a blank of braille', '\u2800', '[U+2800]'],
    ['a joiner of graphemes', '\u034f', '[U+034F]'],
    ['a selector of Mongolian', '\u180b', '[U+180B]'],
    ['a vowel of Khmer that is not drawn', '\u17b4', '[U+17B4]'],
    ['a selector of variants', '\u{e0101}', '[U+E0101]'],
    ['a line separator', '\u2028', '[U+2028]'],
    ['a paragraph separator', '\u2029', '[U+2029]'],
  ])('shows %s by its number', (_name, character, shown) => {
    expect(visibleText(`a${character}b`)).toBe(`a${shown}b`);
    const json = JSON.stringify(`a${character}b`);
    expect(visibleJson(json)).toMatch(/^"a(?:\\u[0-9a-f]{4})+b"$/);
    expect(JSON.parse(visibleJson(json))).toBe(`a${character}b`);
  });

  it('keeps what can be seen, and an emoji with its colors', () => {
    const seen = 'é ß 字 한 ក \u2764\ufe0f 1\ufe0f\u20e3\n\t\r\n';
    expect(visibleText(seen)).toBe(seen);
  });

  it('is no longer than asked for, with the ellipsis', () => {
    expect([truncate('abcd', 4), truncate('abcde', 4)]).toEqual(['abcd', 'abc…']);
  });
});
