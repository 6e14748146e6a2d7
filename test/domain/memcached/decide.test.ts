import { describe, expect, it } from 'vitest';
import { decide, freshMemory } from '../../../domain/memcached/decide/decide.ts';
import type { MemcachedObservation } from '../../../domain/memcached/decide/observation.ts';

const settled: MemcachedObservation = {
  memcached: { uid: 'u', generation: 1 },
  pending: [],
  problems: [],
  conflicts: [],
  missingSecrets: [],
  awaited: [],
  notes: [],
  isSettled: true,
  progress: 'All 3 replicas are ready',
  at: 1_000_000,
};
const pending = { ...settled, pending: [{ act: 'update', child: 'Service' }] } as const;

const verdictOf = (seen: MemcachedObservation, isAfterWrite = false) => decide(seen, freshMemory, isAfterWrite)[1];

describe('the decision about a Memcached', () => {
  it.each<[string, MemcachedObservation, object]>([
    ['ends when all is as specified', settled, { kind: 'end', reason: 'AsSpecified' }],
    ['ends when it is gone', { ...settled, memcached: null }, { kind: 'end', reason: 'MemcachedGone' }],
    ['writes what is pending', pending, { kind: 'ensure', detail: 'not as specified: update the Service' }],
    ['waits for pods', { ...settled, isSettled: false }, { kind: 'wait', until: null, reason: 'RolloutInProgress' }],
    [
      'waits for the next pod that goes',
      { ...settled, nextStep: 1_300_000 },
      { kind: 'wait', until: 1_300_000, phase: 'RollingOut', reason: 'SteppingDown' },
    ],
    [
      'waits for it whatever else is in the way',
      { ...settled, nextStep: 1_300_000, conflicts: ['c'] },
      { kind: 'wait', until: 1_300_000, reason: 'Conflict' },
    ],
    ['waits for whoever wrote it', { ...settled, problems: ['p'] }, { kind: 'wait', reason: 'Invalid', detail: 'p' }],
    ['waits for whoever is in the way', { ...settled, conflicts: ['c'] }, { kind: 'wait', reason: 'Conflict' }],
    [
      'looks again for an operator that is in the way',
      { ...settled, conflicts: ['c'], isOtherOperatorAlive: true },
      { kind: 'wait', reason: 'Conflict', until: settled.at + 30_000 },
    ],
    ['waits for Secrets', { ...settled, missingSecrets: ['s'] }, { kind: 'wait', reason: 'SecretNotFound' }],
    [
      'waits for what Secrets lack',
      { ...settled, lackingKeys: ['ca.crt of tls'] },
      { kind: 'wait', reason: 'SecretIncomplete', detail: 'Referenced Secrets lack keys: ca.crt of tls' },
    ],
    ['waits for a deletion', { ...settled, awaited: ['d'] }, { kind: 'wait', reason: 'AwaitingDeletion' }],
  ])('%s', (_, seen, expected) => {
    expect(verdictOf(seen)).toMatchObject(expected);
  });

  it('backs off ever longer from what is set back, and forgets it when it holds', () => {
    const [once, first] = decide(pending, freshMemory, true);
    expect(first).toMatchObject({ kind: 'wait', reason: 'SetBack', until: pending.at + 30_000 });
    const [twice, second] = decide(pending, once, true);
    expect(second).toMatchObject({ kind: 'wait', until: pending.at + 60_000 });
    expect(decide(settled, twice, true)[0]).toEqual(freshMemory);
    expect(decide(pending, { setBacks: 40 }, true)[1]).toMatchObject({ until: pending.at + 1_800_000 });
  });
});
