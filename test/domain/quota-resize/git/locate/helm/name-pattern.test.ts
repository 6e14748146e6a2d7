import { describe, expect, it } from 'vitest';
import { namePatternOf } from '../../../../../../domain/quota-resize/git/locate/helm/name-pattern.ts';

describe('the name of a quota that a chart computes', () => {
  it.each([
    ['{{ .Release.Name }}-compute', 'team-a-compute', true],
    ['{{ .Release.Name }}-compute', 'team-a-compute-2', false],
    ['quota-{{ .Values.a }}', 'quota-', true],
    ['quota-{{ .Values.a }}', 'my-quota-1', false],
    ['a-{{ .x }}-a', 'a-a', false],
    ['a-{{ .x }}-a', 'a--a', true],
    ['{{ .x }}', 'anything', true],
    ['{{ .x }}b{{ .y }}b{{ .z }}c', 'abbbc', true],
    ['{{ .x }}b{{ .y }}b{{ .z }}c', 'abcc', false],
    ['a.c', 'abc', false],
    ['a.c', 'a.c', true],
    ['{{ .x', '{{ .x', true],
  ])('%s may be %s: %s', (text, name, result) => {
    expect(namePatternOf(text).matches(name)).toBe(result);
  });

  it('is matched in linear time, also with many expressions', () => {
    const text = `${'{{ .x }}a'.repeat(60)}b`;
    expect(namePatternOf(text).matches('a'.repeat(253))).toBe(false);
  });

  it('is read in linear time, also with many braces that nothing closes', () => {
    const text = '{{'.repeat(500_000);
    expect(namePatternOf(text).matches(text)).toBe(true);
  });
});
