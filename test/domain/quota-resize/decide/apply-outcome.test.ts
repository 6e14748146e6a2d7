import { describe, expect, it } from 'vitest';
import * as absorb from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { emptyMemory, type ResizeMemory, upgradeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import { change, decision, HEAD, HOUR, memory, NOW, openDecision, ref, settledNeed } from '../model/observations.ts';

const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: HEAD };
const rejection = { by: 'ann', at: NOW, reason: '' };
const tried = { key: 'open', count: 2, at: NOW };
const blocked = { reason: 'FileBusy', message: 'busy', at: NOW, key: 'propose' } as const;

/** A memory in which everything that belongs to one decision is set. */
const full: ResizeMemory = memory({
  decision: openDecision(),
  approval,
  rejection,
  need: settledNeed,
  needGoneSince: NOW,
  updates: 2,
  closing: { reason: 'NeedGone', detail: 'gone' },
  tried,
  blocked,
  syncWarnedAt: NOW,
  syncCheckedAt: NOW,
});

describe('what an act leaves in the memory', () => {
  it('a recommendation: its values and when', () => {
    const after = absorb.recommended(memory({ tried }), { changes: [change()] }, NOW);
    expect(after).toEqual(memory({ lastRecommendation: { limits: { 'requests.cpu': '12' }, at: NOW } }));
  });

  it('the lock: the decision, and nothing of the one before', () => {
    const fresh = decision({ id: 'ffff0000' });
    expect(absorb.acquired({ ...full, finished: 'old' }, fresh)).toEqual(
      memory({ decision: fresh, need: settledNeed, finished: 'old' }),
    );
  });

  it('a block: why and for what, and that the attempt had an outcome', () => {
    expect(absorb.blocked(memory({ tried }), { reason: 'FileBusy', message: 'busy', key: 'propose' }, NOW)).toEqual(
      memory({ blocked }),
    );
  });

  it('a pull request: where it stands', () => {
    const after = absorb.opened(memory({ decision: decision(), tried, blocked }), decision(), ref());
    expect(after).toEqual(memory({ decision: openDecision() }));
  });

  it('a merge: what Git says now; approval and rejection are spent', () => {
    const merge = { sha: 'f00', at: NOW, by: 'ann', limits: { 'requests.cpu': '12' } };
    const after = absorb.merged(full, openDecision(), merge);
    expect(after.decision).toEqual(openDecision({ merge }));
    expect(after).toMatchObject({
      approval: null,
      rejection: null,
      blocked: null,
      tried: null,
      closing: null,
      need: null,
      syncWarnedAt: null,
      syncCheckedAt: null,
    });
  });

  it('the sync: the cooldown begins, and the decision is finished', () => {
    expect(absorb.synced(full, NOW + HOUR)).toEqual(memory({ lastChange: NOW + HOUR, finished: '0a1b2c3d' }));
  });

  it('the end of a pull request: the refusal if there is one, and nothing of the decision', () => {
    const refusal = { limits: { 'requests.cpu': '12' }, at: NOW, by: 'ann', reason: '' };
    const older = { ...refusal, at: NOW - HOUR };
    expect(absorb.closed({ ...full, refusals: [older] }, refusal)).toEqual(
      memory({ refusals: [older, refusal], finished: '0a1b2c3d' }),
    );
    expect(absorb.closed(full, null)).toEqual(memory({ finished: '0a1b2c3d' }));
  });

  it('a look at Git when the sync is overdue: what Git says now, and that people were told once', () => {
    const merged = openDecision({ merge: { sha: 'f00', at: NOW, by: 'ann', limits: { 'requests.cpu': '12' } } });
    const after = absorb.syncChecked(memory({ decision: merged, tried }), { 'requests.cpu': '10' }, NOW);
    expect(after.decision?.merge?.limits).toEqual({ 'requests.cpu': '10' });
    expect(after).toMatchObject({ syncWarnedAt: NOW, syncCheckedAt: NOW, tried: null });
    const again = absorb.syncChecked(after, null, NOW + HOUR);
    expect(again.decision).toEqual(after.decision);
    expect(again).toMatchObject({ syncWarnedAt: NOW, syncCheckedAt: NOW + HOUR });
  });
});

describe('an approval', () => {
  const before = memory({ decision: openDecision(), approval });

  it('holds while the head and the limits stay', () => {
    expect(absorb.opened(before, openDecision(), ref()).approval).toEqual(approval);
  });

  it('is void when the head changes, and when the limits do', () => {
    expect(absorb.opened(before, openDecision(), ref({ headSha: 'ffff' })).approval).toBeNull();
    const grown = openDecision({ changes: [change({ to: '15' })] });
    expect(absorb.opened(before, grown, ref()).approval).toBeNull();
  });
});

describe('an update', () => {
  const grown = openDecision({ changes: [change({ to: '15' })] });

  it('counts when new values are pushed, and a rebuild for the same values does not', () => {
    const before = memory({ decision: openDecision(), updates: 1 });
    expect(absorb.opened(before, grown, ref({ headSha: 'ffff' })).updates).toBe(2);
    expect(absorb.opened(before, openDecision(), ref({ headSha: 'ffff' })).updates).toBe(1);
    expect(absorb.opened(memory({ decision: decision() }), grown, ref()).updates).toBe(0);
  });

  it('that found the old head in its way leaves the decision at the values of that head', () => {
    const after = absorb.opened(memory({ decision: openDecision() }), grown, ref());
    expect(after.decision?.changes).toEqual([change()]);
    expect(after.updates).toBe(0);
  });

  it('that changed nothing stays on record as tried, so that it is not repeated at once', () => {
    const before = memory({ decision: openDecision(), tried });
    expect(absorb.opened(before, openDecision(), ref()).tried).toEqual(tried);
    expect(absorb.opened(before, openDecision(), ref({ headSha: 'ffff' })).tried).toBeNull();
  });
});

describe('the carried memory', () => {
  it('is empty at first and survives JSON', () => {
    expect(upgradeMemory(undefined)).toEqual(emptyMemory());
    expect(upgradeMemory(JSON.parse(JSON.stringify(full)) as ResizeMemory)).toEqual(full);
  });

  it('of a run before a field was added gets that field', () => {
    const { tried: _tried, ...older } = full;
    expect(upgradeMemory(older)).toEqual({ ...full, tried: null });
  });

  it('of a newer release is not guessed at', () => {
    expect(() => upgradeMemory({ version: 2 })).toThrow(
      'the carried memory has version 2, this worker knows up to 1: run a worker of the newer release',
    );
  });
});
