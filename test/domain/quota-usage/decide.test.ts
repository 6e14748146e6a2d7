import { describe, expect, it } from 'vitest';
import type { StaleValue } from '../../../domain/quota-usage/observation.ts';
import { decide as decideOn, fingerprint, freshMemory, type UsageMemory } from '../../../domain/quota-usage/decide.ts';
import type { CachedQuota, UsageObservation, UsagePolicy } from '../../../domain/quota-usage/observation.ts';

const NOW = Date.UTC(2026, 0, 1);
const own: UsagePolicy = { mode: 'own', auditAfterMs: 60_000 };
const audit: UsagePolicy = { mode: 'audit', auditAfterMs: 60_000 };

function quota(over: Partial<CachedQuota> = {}): CachedQuota {
  return {
    namespace: 'team-a',
    name: 'compute',
    uid: 'uid-1',
    resourceVersion: '10',
    spec: { hard: { pods: '10', 'requests.cpu': '4' } },
    status: { hard: { pods: '10', 'requests.cpu': '4' }, used: { pods: '2', 'requests.cpu': '1' } },
    ...over,
  };
}

function seen(over: Partial<UsageObservation> = {}): UsageObservation {
  const count = { used: { pods: '2', 'requests.cpu': '1' }, unmeasured: [] };
  return { quota: quota(), count, staleValues: [], policy: own, at: NOW, ...over };
}

const decide = (seen: UsageObservation, policy: UsagePolicy, memory: UsageMemory) =>
  decideOn({ ...seen, policy }, memory);

const staleValue = (since: number): StaleValue => ({ resource: 'pods', shown: '5', counted: '2', since });

describe('an episode that owns the status', () => {
  it('ends where the status says what was counted, and where there is no quota', () => {
    expect(decide(seen(), own, freshMemory)).toMatchObject({ kind: 'end', reason: 'UsageTrue' });
    expect(decide(seen({ quota: null }), own, freshMemory)).toMatchObject({ kind: 'end', reason: 'QuotaGone' });
  });

  it('waits for what cannot be counted, and says why', () => {
    const unmeasured = [{ keys: ['requests.cpu'], reason: 'the cache of pods is not filled yet' }];
    const rest = decide(seen({ count: { used: { pods: '2' }, unmeasured } }), own, freshMemory);
    expect(rest).toMatchObject({ kind: 'await', phase: 'Blocked', reason: 'Unmeasured' });
    expect(rest.detail).toContain('requests.cpu (the cache of pods is not filled yet)');
  });

  it('says what the API server said, for as long as the status is not true', () => {
    const memory = { ...freshMemory, refused: '403 not you' };
    const verdict = decide(seen({ staleValues: [staleValue(NOW - 90_000)] }), own, memory);
    expect(verdict).toMatchObject({ kind: 'await', phase: 'Blocked', reason: 'WriteFailed' });
    expect(verdict.detail).toBe('The status is wrong, and cannot be written: 403 not you');
    expect(decide(seen(), own, memory)).toMatchObject({ kind: 'end' });
  });

  it('tells of a status that stays untrue, as an audit does', () => {
    const late = decide(seen({ staleValues: [staleValue(NOW - 20_000)] }), own, freshMemory);
    expect(late).toMatchObject({ kind: 'await', phase: 'Late', until: NOW + 40_000 });
    const wrong = decide(seen({ staleValues: [staleValue(NOW - 60_000)] }), own, freshMemory);
    expect(wrong).toMatchObject({ kind: 'report', phase: 'Wrong', reason: 'UsageWrong' });
  });
});

describe('an episode that audits', () => {
  it('goes by the stale values, and not by a single count', () => {
    const count = { used: { pods: '3', 'requests.cpu': '1' }, unmeasured: [] };
    expect(decide(seen({ count }), audit, freshMemory)).toMatchObject({ kind: 'end' });
  });

  it('waits while the status is merely late, and says until when', () => {
    const late = decide(seen({ staleValues: [staleValue(NOW - 20_000)] }), audit, freshMemory);
    expect(late).toMatchObject({ kind: 'await', phase: 'Late', until: NOW + 40_000 });
    expect(late.detail).toMatch(
      /^pods: the status says 5 pods, but Headroom counted 2 pods\. It has been wrong for 20 s\. Headroom reports this if it is still so at \S+Z\.$/,
    );
  });

  it('reports what has been wrong for as long as it waits, once', () => {
    const wrong = seen({ staleValues: [staleValue(NOW - 60_000)] });
    const first = decide(wrong, audit, freshMemory);
    expect(first).toMatchObject({ kind: 'report', phase: 'Wrong', reason: 'UsageWrong' });
    expect(first.detail).toBe('pods: the status says 5 pods, but Headroom counted 2 pods. It has been wrong for 60 s.');
    const reported = first.kind === 'report' ? first.reported : null;
    expect(decide(wrong, audit, { ...freshMemory, reported })).toMatchObject({ kind: 'await', phase: 'Wrong' });
    const moved = seen({ staleValues: [staleValue(NOW - 61_000)] });
    expect(decide(moved, audit, { ...freshMemory, reported })).toMatchObject({ kind: 'await' });
    const more = seen({
      staleValues: [staleValue(NOW - 60_000), { ...staleValue(NOW - 60_000), resource: 'requests.cpu' }],
    });
    expect(decide(more, audit, { ...freshMemory, reported })).toMatchObject({ kind: 'report' });
  });

  it('tells that it is true again only of what was told as wrong', () => {
    expect(decide(seen(), audit, freshMemory)).not.toHaveProperty('event');
    expect(
      decide(seen(), audit, {
        ...freshMemory,
        reported: { quotaUid: 'uid-1', resources: ['pods'], key: 'uid-1 pods 1' },
      }),
    ).toHaveProperty('event');
  });
});

describe('what was told as wrong', () => {
  const reported = { quotaUid: 'uid-1', resources: ['pods'], key: 'uid-1 pods 1' };

  it('is not true because it cannot be counted now', () => {
    const unmeasured = [{ keys: ['pods'], reason: 'the watch is broken' }];
    const blind = seen({ count: { used: { 'requests.cpu': '1' }, unmeasured } });
    expect(decide(blind, audit, { ...freshMemory, reported })).toMatchObject({ kind: 'await', reason: 'Unmeasured' });
    expect(decide(blind, audit, freshMemory)).toMatchObject({ kind: 'end' });
  });

  it('says nothing about another quota of the same name', () => {
    const memory = { ...freshMemory, reported: { ...reported, quotaUid: 'uid-0' } };
    expect(decide(seen({ staleValues: [staleValue(NOW - 60_000)] }), audit, memory)).toMatchObject({ kind: 'report' });
    expect(decide(seen(), audit, memory)).not.toHaveProperty('event');
  });
});

describe('what is waited for', () => {
  it('is another status, another obstacle or another difference, and not the passing of time', () => {
    const before = seen({ staleValues: [staleValue(NOW - 1)] });
    expect(fingerprint({ ...before, at: NOW + 30_000 })).toBe(fingerprint(before));
    expect(fingerprint({ ...before, staleValues: [] })).not.toBe(fingerprint(before));
    expect(fingerprint({ ...before, quota: quota({ resourceVersion: '11' }) })).not.toBe(fingerprint(before));
    const unmeasured = [{ keys: ['pods'], reason: 'the watch is broken' }];
    expect(fingerprint({ ...before, count: { ...before.count, unmeasured } })).not.toBe(fingerprint(before));
  });
});
