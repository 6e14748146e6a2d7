import { describe, expect, it } from 'vitest';
import { schemaAllows } from '../../../../../../domain/quota-resize/git/locate/helm/values-schema.ts';

const at = ['quota', 'memory'];

function allowed(schema: unknown, ...values: readonly (string | number)[]): readonly boolean[] {
  return values.map((value) => schemaAllows(JSON.stringify(schema), at, value));
}

/** The schema of the value, inside of what a chart has around it. */
function around(memory: unknown): object {
  return {
    type: 'object',
    required: ['quota'],
    properties: { quota: { type: 'object', properties: { memory, cpu: { type: 'string' } } } },
  };
}

function conditional(condition: unknown, consequence: unknown): object {
  return JSON.parse(`{"if": ${JSON.stringify(condition)}, "then": ${JSON.stringify(consequence)}}`) as object;
}

describe('the schema of the values of a chart', () => {
  it('allows what it says nothing about', () => {
    expect(allowed({}, '1Gi', 1)).toEqual([true, true]);
    expect(allowed(around({ description: 'bytes' }), '1Gi', 1)).toEqual([true, true]);
    expect(allowed({ properties: { other: false } }, '1Gi')).toEqual([true]);
  });

  it.each<[string, unknown, readonly boolean[]]>([
    ['types', { type: 'integer' }, [false, false, true]],
    ['one of several types', { type: ['string', 'integer'] }, [true, false, true]],
    ['numbers', { type: 'number', maximum: 3.7, exclusiveMinimum: 3 }, [false, true, false]],
    ['a pattern', { pattern: '^[0-9]+Gi$' }, [true, true, true]],
    ['another pattern', { type: 'string', pattern: '^[0-9]+Mi$' }, [false, false, false]],
    ['a pattern that is none', { pattern: '(' }, [false, true, true]],
    ['values', { enum: ['1Gi', 4] }, [true, false, true]],
    ['a length', { maxLength: 2 }, [false, true, true]],
    ['alternatives', { anyOf: [{ type: 'integer' }, { type: 'string', pattern: 'Gi$' }] }, [true, false, true]],
    ['exactly one of them', { oneOf: [{ type: 'number' }, { type: 'integer' }] }, [false, true, false]],
    ['what it must not be', { not: { type: 'string' } }, [false, true, true]],
    ['all of several', { allOf: [{ type: 'number' }, { multipleOf: 2 }] }, [false, false, true]],
    ['a condition', conditional({ type: 'string' }, false), [false, false, false]],
    ['nothing', false, [false, false, false]],
  ])('restricts by %s', (_, memory, verdicts) => {
    expect(allowed(around(memory), '1Gi', 3.6, 4)).toEqual(verdicts);
  });

  it('is followed through references, patterns of keys and the rest of the keys', () => {
    const definitions = { bytes: { type: 'integer' } };
    expect(allowed({ ...around({ $ref: '#/definitions/bytes' }), definitions }, '1Gi', 1)).toEqual([false, true]);
    const byPattern = { patternProperties: { '^q': { additionalProperties: { type: 'string' } } } };
    expect(allowed(byPattern, '1Gi', 1)).toEqual([true, false]);
  });

  it('allows nothing where it is not followed, or is none', () => {
    expect(allowed(around({ $ref: 'https://example.com/bytes.json' }), '1Gi', 1)).toEqual([false, false]);
    expect(allowed({ $ref: '#' }, 1)).toEqual([false]);
    expect(schemaAllows('{', at, 1)).toBe(false);
  });

  it('may have alternatives around the value, as long as each of them allows it', () => {
    const whole = around({ type: 'integer' });
    expect(allowed({ anyOf: [{ required: ['quota'] }, whole] }, '1Gi', 1)).toEqual([false, true]);
    expect(allowed(conditional({ required: ['quota'] }, whole), '1Gi', 1)).toEqual([false, true]);
  });
});
