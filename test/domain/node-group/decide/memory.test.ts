import { describe, expect, it } from 'vitest';
import { freshMemory, removalKey, restingNodes, withoutDrains } from '../../../../domain/node-group/decide/memory.ts';

const [ALICE, BOB] = [
  { node: 'a', by: 'alice' },
  { node: 'b', by: 'bob' },
];

describe('drains that were decided and did not begin', () => {
  const drains = [
    { node: 'a', uid: 'uid-a', since: 1 },
    { node: 'c', uid: 'uid-c', since: 1 },
  ];

  it('are forgotten, and those that a person has asked for are still asked for', () => {
    const before = { requested: [ALICE, BOB] };
    const after = withoutDrains({ ...freshMemory, drains, requested: [BOB] }, [{ node: 'a', uid: 'uid-a' }], before);
    expect(after).toEqual({ ...freshMemory, drains: drains.slice(1), requested: [ALICE, BOB] });
  });

  it('are asked for once where somebody has asked again meanwhile', () => {
    const again = { node: 'a', by: 'carol' };
    const memory = { ...freshMemory, drains, requested: [again] };
    const after = withoutDrains(memory, [{ node: 'a', uid: 'uid-a' }], { requested: [ALICE] });
    expect(after.requested).toEqual([again]);
  });
});

it('a failed drain lets its node rest for every reason, a rejection for the one that was rejected', () => {
  const until = Date.UTC(2026, 0, 1, 8);
  const failed = [{ node: 'a', uid: 'uid-a', detail: 'the budget web refused', until }];
  const rejected = [{ key: removalKey({ uid: 'uid-b', reason: 'Consolidation' }), by: 'alice', until }];
  expect(restingNodes({ ...freshMemory, failed, rejected })).toEqual([
    { uid: 'uid-a', detail: 'the budget web refused', until },
    {
      uid: 'uid-b',
      reason: 'Consolidation',
      detail: 'alice has rejected that it goes as Consolidation, until 2026-01-01T08:00:00Z',
      until,
    },
  ]);
});
