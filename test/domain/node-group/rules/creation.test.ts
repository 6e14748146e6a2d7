import { expect, it } from 'vitest';
import {
  type CreationEvidence,
  growthOf,
  nextCreationStep,
  UNKNOWN_GROUP,
} from '../../../../domain/node-group/rules/creation.ts';

const SETTLE_MS = 500;

/** At a moment after a request of the moment 1000. */
function step(evidence: CreationEvidence, now = 1001) {
  return nextCreationStep({ askedAt: 1000 }, evidence, SETTLE_MS, now);
}

it('adopts what is new in the group of the request, also long after the answer was lost', () => {
  const evidence = { fresh: ['b'], own: 1, others: 0 };
  expect(step(evidence)).toEqual({ kind: 'adopt', identifier: 'b' });
  expect(step(evidence, 999_999)).toEqual({ kind: 'adopt', identifier: 'b' });
});

it('of two new machines of the group it adopts the same one in whatever order they are listed', () => {
  expect(step({ fresh: ['c', 'b'], own: 2, others: 0 })).toEqual({ kind: 'adopt', identifier: 'b' });
});

it('waits for what is on its way, and takes it for none when nothing came in the settle time', () => {
  const none = { fresh: [], own: 0, others: 0 };
  expect(step(none, 1499)).toEqual({ kind: 'wait', until: 1500 });
  expect(step(none, 1500)).toEqual({ kind: 'nothing' });
});

it('leaves a machine alone that came in a group of somebody else', () => {
  expect(step({ fresh: ['x'], own: 0, others: 1 })).toEqual({ kind: 'disown' });
});

it.each([
  { name: 'one is of somebody else, and which is not told', fresh: ['b', 'x'], own: 1, others: 1 },
  { name: 'no group has grown', fresh: ['x'], own: 0, others: 0 },
  { name: 'fewer came in the group than are new', fresh: ['b', 'x'], own: 1, others: 0 },
  { name: 'somebody else has one that is not listed yet', fresh: ['b'], own: 1, others: 1 },
  { name: 'the group has one that is not listed', fresh: [], own: 1, others: 0 },
])('adopts nothing where $name', ({ fresh, own, others }) => {
  expect(step({ fresh, own, others }, 1499)).toEqual({ kind: 'wait', until: 1500 });
  expect(step({ fresh, own, others }, 1500)).toEqual({ kind: 'unclear' });
});

it('counts growth by group: what went meanwhile is counted back in, what has an object already is not counted', () => {
  const intent = { nodesBefore: { 1: 3, 2: 5 }, members: { a: 1, b: 1 } };
  const counted = [
    { id: 1, nodes: 3 },
    { id: 2, nodes: 4 },
    { id: 3, nodes: 2 },
  ];
  expect(growthOf(intent, 1, counted, new Set(['a', 'c']), 0)).toEqual({ own: 1, others: 2 });
  expect(growthOf(intent, 1, counted, new Set(['a', 'c']), 1)).toEqual({ own: 0, others: 2 });
});

it('counts back in what went in any group, so that it hides no machine that came there', () => {
  const intent = { nodesBefore: { 1: 3, 2: 5 }, members: { a: 1, x: 2, y: UNKNOWN_GROUP } };
  const counted = [
    { id: 1, nodes: 4 },
    { id: 2, nodes: 5 },
  ];
  expect(growthOf(intent, 1, counted, new Set(['a', 'x', 'y']), 0)).toEqual({ own: 1, others: 0 });
  expect(growthOf(intent, 1, counted, new Set(['a', 'y']), 0)).toEqual({ own: 1, others: 1 });
  expect(growthOf(intent, 1, counted, new Set(['a', 'x']), 0)).toEqual({ own: 1, others: 1 });
});
