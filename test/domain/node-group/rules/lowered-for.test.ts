import { expect, it } from 'vitest';
import { loweredFor, raisedBack, withoutGone } from '../../../../domain/node-group/rules/lowered-for.ts';

const machine = (name: string, over: object = {}) => ({
  name,
  uid: `uid-${name}`,
  isDeleting: false,
  drainsFirst: false,
  phase: 'Ready' as const,
  ...over,
});
const GOING = machine('a', { phase: 'Deleting' });
const MACHINES = [GOING, machine('b'), machine('c')];
const ENTRY = { machine: 'a', uid: 'uid-a' };
const size = (desiredNodes: number) => ({ desiredNodes, minNodes: 0 });
const isThere = (): boolean => true;

it('lowers the size once for each machine, also where a person wants more nodes than there are', () => {
  const once = loweredFor({}, size(10), [GOING], MACHINES);
  expect(once).toEqual({ desiredNodes: 9, loweredFor: [ENTRY] });
  expect(loweredFor(once as object as Readonly<Record<string, unknown>>, size(9), [GOING], MACHINES)).toEqual(once);
});

it('lowers it for none that it does not count', () => {
  expect(loweredFor({}, size(2), [GOING], MACHINES)).toEqual({ desiredNodes: 2, loweredFor: null });
  expect(loweredFor({}, { desiredNodes: 3, minNodes: 3 }, [GOING], MACHINES)).toEqual({
    desiredNodes: 3,
    loweredFor: null,
  });
});

it('does not take a machine for another one that had its name', () => {
  const again = { ...GOING, uid: 'uid-again' };
  expect(loweredFor({ loweredFor: [ENTRY] }, size(10), [again], [again])).toEqual({
    desiredNodes: 9,
    loweredFor: [{ machine: 'a', uid: 'uid-again' }],
  });
});

it('raises it by one with a machine that stays, but not above what is there', () => {
  const status = { loweredFor: [ENTRY] };
  expect(raisedBack(status, 2, MACHINES, isThere)).toEqual({ desiredNodes: 3, loweredFor: null });
  expect(raisedBack(status, 1, MACHINES, isThere)).toEqual({ desiredNodes: 2, loweredFor: null });
  expect(raisedBack(status, 3, MACHINES, isThere)).toEqual({ desiredNodes: 3, loweredFor: null });
  // Its object was deleted meanwhile: it is drained again, and nobody counts it.
  const deleted = [{ ...GOING, drainsFirst: true }, machine('b')];
  expect(raisedBack(status, 1, deleted, isThere)).toEqual({ desiredNodes: 1, loweredFor: null });
});

it('leaves it while none stays', () => {
  expect(raisedBack({ loweredFor: [ENTRY] }, 2, MACHINES, ({ uid }) => uid !== 'uid-a')).toBeNull();
  expect(raisedBack({}, 2, MACHINES, isThere)).toBeNull();
});

it('forgets machines that are gone', () => {
  const status = { loweredFor: [ENTRY, { machine: 'gone', uid: 'uid-gone' }, 'nonsense'] };
  expect(withoutGone(status, MACHINES)).toEqual({ loweredFor: [ENTRY] });
  expect(withoutGone({ loweredFor: [ENTRY] }, MACHINES)).toBeNull();
});
