import { describe, expect, it } from 'vitest';
import { dequeued, emitted, queued } from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { requireState } from '../../../../domain/quota-resize/model/memory.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import {
  cpu,
  decideOpenAt,
  memory,
  MINUTE,
  NOW,
  openDecision,
  policy,
  pullRequest,
  seenWith,
} from '../model/observations.ts';

type Changed = Parameters<typeof decideOpenAt>[1];

const own = { by: 'headroom-bot', isOwn: true, at: NOW - MINUTE, state: 'waiting', position: 3 } as const;
const inQueue = { mergeQueue: true, queueEntry: own, mergeability: 'computing' } as const;

function at(now: number, { pull, ...changed }: NonNullable<Changed> = {}) {
  return decideOpenAt(now, { ...changed, pull: { ...inQueue, ...pull } });
}

/** The memory after the pull request was put into the queue at NOW. */
function queuedMemory() {
  return queued(requireState(memory({ decision: openDecision() }), 'Open'), NOW);
}

function seen(pull: Partial<PullRequestObservation> = {}) {
  return seenWith(openDecision(), pullRequest({ ...inQueue, ...pull }));
}

describe('a pull request that Headroom put into the merge queue', () => {
  it('waits there, and the gate is asked again after five minutes', () => {
    const before = queuedMemory();
    const [kept, verdict] = decide(seen(), before, NOW + MINUTE);
    expect(verdict).toMatchObject({
      kind: 'hold',
      phase: 'Merging',
      reason: 'InMergeQueue',
      detail: expect.stringMatching(
        /is in the merge queue at position 3 since 2026-11-20T09:59:00Z, waiting/,
      ) as string,
      wait: { watch: 'pullRequest', until: NOW + 5 * MINUTE },
    });
    expect(decide(seen(), kept, NOW + 5 * MINUTE)[1]).toMatchObject({ kind: 'merge' });
  });

  it('is decided about anew when a merge window closes, and then taken out', () => {
    const closes = NOW + MINUTE + 5_000;
    const held = decide(
      seenWith(openDecision(), pullRequest(inQueue), { mergeWindowClosesAt: closes }),
      queuedMemory(),
      NOW,
    );
    expect(held[1]).toMatchObject({ kind: 'hold', reason: 'InMergeQueue', wait: { until: closes } });
    const mergeHold = { reason: 'OutsideMergeWindow', until: NOW + 600 * MINUTE, detail: 'outside' } as const;
    const outside = seenWith(openDecision(), pullRequest(inQueue), { mergeHold });
    expect(decide(outside, held[0], closes)[1]).toMatchObject({ kind: 'dequeue', reason: 'OutsideMergeWindow' });
  });

  it('is asked about at once by a run that does not know when that was done last', () => {
    expect(at(NOW)[1]).toMatchObject({ kind: 'merge' });
  });

  it.each([
    [
      'a request for changes',
      { pull: { changesRequested: [{ by: 'bob', headSha: null, at: NOW }] } },
      'ChangesRequested',
    ],
    ['a failing check', { pull: { checks: { total: 1, pending: [], failing: ['ci'] } } }, 'ChecksFailing'],
    ['a conversion to a draft', { pull: { mergeability: 'draft' } }, 'Draft'],
    [
      'auto-merge that is switched off',
      { observed: { policy: policy({ 'auto-merge': 'false' }) } },
      'NamespaceAutoMergeOff',
    ],
    ['the mode observe', { observed: { policy: policy({ mode: 'observe' }) } }, 'ObserverMode'],
    ['an opt-out', { observed: { policy: policy({ enabled: 'false' }) } }, 'OptedOut'],
    ['a rejection', { memory: { rejection: { by: 'ann', at: NOW, reason: 'no' } } }, 'Rejected'],
    ['demand that is gone', { observed: { quota: cpu('7') } }, 'DemandGone'],
    ['a freeze', { observed: { mergeHold: { reason: 'Frozen', until: null, detail: 'frozen' } } }, 'Frozen'],
    [
      'a pause',
      {
        observed: {
          pause: { scope: 'target', kept: 'k', by: 'ann', at: NOW, reason: 'stop' },
        },
      },
      'Paused',
    ],
  ] as const)('is taken out before anything else by %s', (_, changed, reason) => {
    expect(at(NOW + MINUTE, changed as Changed)[1]).toMatchObject({
      kind: 'dequeue',
      reason,
      detail: expect.stringMatching(/^pull request .* is taken out of the merge queue: /) as string,
    });
  });

  it('is put there again when what took it out is over', () => {
    const out = dequeued(queuedMemory());
    expect(out.state).not.toHaveProperty('queuedAt');
    const { queueEntry: _, ...pull } = inQueue;
    const back = decide(seenWith(openDecision(), pullRequest({ ...pull, mergeability: 'clean' })), out, NOW + MINUTE);
    expect(back[1]).toMatchObject({ kind: 'merge' });
  });
});

describe('a pull request that a person put into the merge queue', () => {
  it('is left there, and neither merged nor rebuilt by Headroom', () => {
    const queueEntry = { ...own, by: 'ann', isOwn: false };
    expect(at(NOW, { pull: { queueEntry } })[1]).toMatchObject({ kind: 'hold', reason: 'InMergeQueue' });
    expect(at(NOW, { pull: { queueEntry, mergeability: 'conflict' } })[1]).toMatchObject({
      kind: 'hold',
      reason: 'InMergeQueue',
    });
  });
});

describe('a pull request that left the merge queue unmerged', () => {
  const failed = { by: null, at: NOW, kind: 'checks', reason: 'failed checks' } as const;
  const seenOut = (change: Partial<NonNullable<PullRequestObservation['queueRemoval']>> = {}) =>
    seenWith(openDecision(), pullRequest({ mergeQueue: true, queueRemoval: { ...failed, ...change } }));
  const before = memory({ decision: openDecision() });

  it('is told once, and put there again half an hour after its checks failed', () => {
    const [tried, told] = decide(seenOut(), before, NOW);
    expect(told).toMatchObject({
      kind: 'notify',
      reason: 'RemovedFromQueue',
      detail: expect.stringMatching(
        /its checks failed there\. Headroom puts it there again at 2026-11-20T10:30:00Z/,
      ) as string,
    });
    if (told.kind !== 'notify') throw new Error(told.kind);
    const known = emitted(tried, told.about);
    expect(decide(seenOut(), known, NOW + MINUTE)[1]).toMatchObject({
      kind: 'hold',
      phase: 'AwaitingMerge',
      reason: 'RemovedFromQueue',
    });
    expect(decide(seenOut(), known, NOW + 30 * MINUTE)[1]).toMatchObject({ kind: 'merge' });
  });

  it('stays out where a person took it out, whatever was pushed since', () => {
    const byPerson = seenOut({ by: 'ann', at: NOW - 1000 * MINUTE });
    expect(decide(byPerson, before, NOW)[1]).toMatchObject({ reason: 'RemovedFromQueue' });
  });

  it('goes there by Headroom every ten minutes at most, whatever was pushed since, and without a comment', () => {
    const taken = { by: 'headroom-bot', isOwn: true, kind: 'other', reason: 'manual' } as const;
    const out = seenOut({ ...taken, at: NOW - 1000 * MINUTE, enteredAt: NOW - MINUTE });
    const [kept, verdict] = decide(out, before, NOW);
    expect(verdict).toMatchObject({
      kind: 'hold',
      reason: 'RemovedFromQueue',
      detail: expect.stringMatching(
        /Headroom took it out at .*, and puts it there again at 2026-11-20T10:09:00Z/,
      ) as string,
      wait: { until: NOW + 9 * MINUTE },
    });
    expect(decide(out, kept, NOW + 9 * MINUTE)[1]).toMatchObject({ kind: 'merge' });
    // Nobody had to begin anew for one that had been there for long.
    expect(decide(seenOut({ ...taken, at: NOW, enteredAt: NOW - 10 * MINUTE }), before, NOW)[1]).toMatchObject({
      kind: 'merge',
    });
  });

  it('is put there at once when it was rebuilt since', () => {
    expect(decide(seenOut({ at: NOW - 1000 * MINUTE }), before, NOW)[1]).toMatchObject({ kind: 'merge' });
  });
});
