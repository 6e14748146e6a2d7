import { expect, it } from 'vitest';
import { nextCreationStep } from '../../../../domain/node-group/rules/creation.ts';

const intent = { askedAt: 1000, seenBefore: ['a'] };
const none: ReadonlySet<string> = new Set();

it('asks where nothing was written', () => {
  expect(nextCreationStep(null, ['a', 'b'], none, 500, 2000)).toEqual({ kind: 'ask' });
});

it('adopts what is new, also long after the answer was lost', () => {
  expect(nextCreationStep(intent, ['a', 'b'], none, 500, 1001)).toEqual({ kind: 'adopt', identifier: 'b' });
  expect(nextCreationStep(intent, ['a', 'b'], none, 500, 999_999)).toEqual({ kind: 'adopt', identifier: 'b' });
});

it('never adopts what was there before, nor the machine of another object', () => {
  expect(nextCreationStep(intent, ['a', 'b'], new Set(['b']), 500, 1499)).toEqual({ kind: 'wait', until: 1500 });
});

it('asks again only when nothing came in the settle time', () => {
  expect(nextCreationStep(intent, ['a'], none, 500, 1499)).toEqual({ kind: 'wait', until: 1500 });
  expect(nextCreationStep(intent, ['a'], none, 500, 1500)).toEqual({ kind: 'ask' });
});

it('of two new machines it adopts the same one in whatever order they are listed', () => {
  expect(nextCreationStep(intent, ['c', 'a', 'b'], none, 500, 1001)).toEqual({ kind: 'adopt', identifier: 'b' });
});
