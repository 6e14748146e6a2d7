import { describe, expect, it } from 'vitest';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { requireState } from '../../../../domain/quota-resize/model/memory.ts';
import {
  change,
  decision,
  HEAD,
  HOUR,
  memory,
  mergedDecision,
  NOW,
  openDecision,
  ref,
  settledNeed,
} from '../model/observations.ts';

const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: HEAD };
const rejection = { by: 'ann', at: NOW, reason: '' };
const tried = { kind: 'tried', key: 'open', count: 2, at: NOW } as const;
const blocked = { kind: 'blocked', reason: 'FileBusy', message: 'busy', at: NOW, key: 'propose' } as const;

/** What is remembered of an open pull request, with everything set. */
const open = requireState(
  memory({
    decision: openDecision(),
    approval,
    rejection,
    awaiting: { key: 'x', since: NOW, remindedAt: NOW },
    demandGoneSince: NOW,
    closing: { reason: 'DemandGone', detail: 'gone' },
    attempt: tried,
    emitted: ['approval'],
  }),
  'Open',
);
/** The same of a merge that the cluster does not follow. */
const overdue = requireState(
  memory({ decision: mergedDecision(), overdue: { warnedAt: NOW, checkedAt: NOW }, attempt: tried, emitted: ['sync'] }),
  'Merged',
);
const locked = requireState(memory({ decision: decision() }), 'Locked');
const idle = requireState(memory({ demand: settledNeed }), 'Idle');

describe('what an act leaves in the memory', () => {
  it('a recommendation: its values and when', () => {
    const after = applyOutcome.recommended(memory({ attempt: tried }), { changes: [change()] }, NOW);
    expect(after).toEqual(memory({ lastRecommendation: { limits: { 'requests.cpu': '12' }, at: NOW } }));
  });

  it('the lock: the decision, and nothing of what was before it', () => {
    const before = { ...idle, attempt: tried, emitted: ['uncounted'], finished: 'old' };
    expect(applyOutcome.acquired(before, decision())).toEqual(memory({ decision: decision(), finished: 'old' }));
  });

  it('a block: why and for what, in place of the attempt', () => {
    const block = { reason: 'FileBusy', message: 'busy', key: 'propose' } as const;
    expect(applyOutcome.blocked(memory({ attempt: tried }), block, NOW)).toEqual(memory({ attempt: blocked }));
  });

  it('an Event that a worker had no room for: that it is to be told again, and that nothing was told', () => {
    const told = [NOW - HOUR / 2, NOW - 1];
    const after = applyOutcome.putOff(memory({ attempt: tried, notified: [...told, NOW] }));
    const why = 'there are enough Warnings of this reason in this hour';
    expect(after).toEqual(memory({ attempt: { ...tried, why }, notified: told }));
  });

  it('an Event: what it was about, once', () => {
    const before = memory({ emitted: ['a', 'b'], attempt: tried });
    expect(applyOutcome.emitted(before, 'a')).toEqual(memory({ emitted: ['b', 'a'] }));
  });

  it('a pull request: where it stands', () => {
    for (const attempt of [tried, blocked]) {
      expect(applyOutcome.opened({ ...locked, attempt }, decision(), ref())).toEqual(
        memory({ decision: openDecision() }),
      );
    }
  });

  it('a merge: what Git says now, and nothing of the review', () => {
    const merge = { sha: 'f00', at: NOW, by: 'ann', limits: { 'requests.cpu': '12' } };
    const after = { state: { kind: 'Merged', decision: { ...openDecision(), merge }, overdue: null } };
    expect(applyOutcome.merged(open, openDecision(), merge)).toEqual(
      memory({ emitted: ['approval'], ...(after as object) }),
    );
    expect(applyOutcome.merged(idle, decision(), merge).state).toEqual({
      ...after.state,
      decision: { ...decision(), merge },
    });
  });

  it('the sync: the cooldown begins, and the decision is finished', () => {
    expect(applyOutcome.synced(overdue, NOW + HOUR)).toEqual(memory({ lastChange: NOW + HOUR, finished: '0a1b2c3d' }));
  });

  it('the end of a pull request: the rejection if there is one, and nothing of the decision', () => {
    const no = { limits: { 'requests.cpu': '12' }, at: NOW, by: 'ann', reason: '' };
    const older = { ...no, at: NOW - HOUR };
    expect(applyOutcome.closed({ ...open, rejections: [older] }, no)).toEqual(
      memory({ rejections: [older, no], finished: '0a1b2c3d' }),
    );
    expect(applyOutcome.closed(open, null)).toEqual(memory({ finished: '0a1b2c3d' }));
    expect(applyOutcome.closed(locked, null)).toEqual(memory({ finished: '0a1b2c3d' }));
  });

  it('a check of Git when the sync is overdue: what Git says now, and that people were told once', () => {
    const merged = requireState(memory({ decision: mergedDecision(), attempt: tried }), 'Merged');
    const after = applyOutcome.syncChecked(merged, { 'requests.cpu': '10' }, NOW);
    expect(after.state.decision.merge.limits).toEqual({ 'requests.cpu': '10' });
    expect(after.state.overdue).toEqual({ warnedAt: NOW, checkedAt: NOW });
    expect(after.attempt).toEqual({ kind: 'none' });
    const again = applyOutcome.syncChecked(after, null, NOW + HOUR);
    expect(again.state.decision).toEqual(after.state.decision);
    expect(again.state.overdue).toEqual({ warnedAt: NOW, checkedAt: NOW + HOUR });
    const unsaid = applyOutcome.syncChecked(merged, null, NOW, { isWarned: false });
    expect(unsaid.state.overdue).toEqual({ warnedAt: null, checkedAt: NOW });
    expect(applyOutcome.syncChecked(unsaid, null, NOW + HOUR).state.overdue?.warnedAt).toBe(NOW + HOUR);
  });

  it('cannot be of another state than the one that the act was decided in', () => {
    expect(() => requireState(idle, 'Locked', 'Open')).toThrow(
      'the episode is Idle, and this is an outcome for Locked or Open',
    );
  });
});

describe('an approval', () => {
  const before = requireState(memory({ decision: openDecision(), approval }), 'Open');

  it('holds while the head and the limits stay', () => {
    expect(applyOutcome.opened(before, openDecision(), ref()).state.approval).toEqual(approval);
  });

  it('is void when the head changes, and when the limits do', () => {
    expect(applyOutcome.opened(before, openDecision(), ref({ headSha: 'ffff' })).state.approval).toBeNull();
    const grown = openDecision({ changes: [change({ to: '15' })] });
    expect(applyOutcome.opened(before, grown, ref()).state.approval).toBeNull();
  });
});

describe('a merge that nobody waits for any more', () => {
  it('is over, and is no change that a cooldown begins with', () => {
    const merged = requireState(memory({ decision: mergedDecision(), lastChange: NOW - HOUR }), 'Merged');
    const after = applyOutcome.forgotten(merged);
    expect(after).toMatchObject({
      state: { kind: 'Idle' },
      finished: merged.state.decision.id,
      lastChange: NOW - HOUR,
    });
  });
});

describe('an update', () => {
  const grown = openDecision({ changes: [change({ to: '15' })] });

  it('that found the old head in its way leaves the decision at the values of that head', () => {
    const after = applyOutcome.opened(requireState(memory({ decision: openDecision() }), 'Open'), grown, ref());
    expect(after.state.decision.changes).toEqual([change()]);
  });

  it('that changed nothing stays on record as tried, so that it is not repeated at once', () => {
    const before = requireState(memory({ decision: openDecision(), attempt: tried }), 'Open');
    expect(applyOutcome.opened(before, openDecision(), ref()).attempt).toEqual(tried);
    expect(applyOutcome.opened(before, openDecision(), ref({ headSha: 'ffff' })).attempt).toEqual({ kind: 'none' });
  });
});
