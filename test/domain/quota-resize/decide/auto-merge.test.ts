import { describe, expect, it } from 'vitest';
import { dequeued, queued, withoutEffect } from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { requireState } from '../../../../domain/quota-resize/model/memory.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import {
  decideOpenAt,
  memory,
  MINUTE,
  NOW,
  openDecision,
  policy,
  pullRequest,
  seenWith,
} from '../model/observations.ts';

type Changed = NonNullable<Parameters<typeof decideOpenAt>[1]>;

const byForge = policy({}, { autoMerge: 'github' });
const own = {
  autoMerge: 'squash',
  by: 'headroom-bot',
  isOwn: true,
  at: NOW - MINUTE,
  state: 'waiting',
  position: null,
} as const;
const pending = {
  mergeability: 'blocked',
  autoMergeIsAllowed: true,
  baseIsProtected: true,
  checks: { total: 1, pending: ['ci'], failing: [] },
} as const;
const enabled = { ...pending, queueEntry: own } as const;

function at(now: number, { pull, observed, ...changed }: Changed = {}) {
  return decideOpenAt(now, { ...changed, observed: { policy: byForge, ...observed }, pull: { ...pending, ...pull } });
}

function seen(pull: Partial<PullRequestObservation>) {
  return seenWith(openDecision(), pullRequest({ ...pending, ...pull }), { policy: byForge });
}

const before = memory({ decision: openDecision() });

describe('auto-merge, where the platform prefers it', () => {
  it('is enabled while checks or a review that the branch asks for are missing', () => {
    expect(at(NOW)[1]).toMatchObject({ kind: 'merge', enablesAutoMerge: true, phase: 'Merging' });
    const review = { checks: { total: 1, pending: [], failing: [] } };
    expect(at(NOW, { pull: review })[1]).toMatchObject({ kind: 'merge', enablesAutoMerge: true });
  });

  it('is not asked for where nothing is missing any more', () => {
    const verdict = at(NOW, { pull: { mergeability: 'clean', checks: { total: 1, pending: [], failing: [] } } })[1];
    expect(verdict).toMatchObject({ kind: 'merge' });
    expect(verdict).not.toHaveProperty('enablesAutoMerge');
  });

  it.each<[string, Changed, string]>([
    ['the settings do not ask for it', { observed: { policy: policy() } }, 'ChecksPending'],
    ['the repository does not allow it', { pull: { autoMergeIsAllowed: false } }, 'ChecksPending'],
    ['a check fails', { pull: { checks: { total: 1, pending: [], failing: ['ci'] } } }, 'ChecksFailing'],
    ['the state is none that GitHub takes', { pull: { mergeability: 'unstable' } }, 'ChecksPending'],
    [
      'somebody requests changes',
      { pull: { changesRequested: [{ by: 'bob', headSha: null, at: NOW }] } },
      'ChangesRequested',
    ],
    ['a freeze', { observed: { mergeHold: { reason: 'Frozen', until: null, detail: 'frozen' } } }, 'ChecksPending'],
    [
      'an approval is missing',
      { observed: { policy: policy({ approval: 'before-merge' }, { autoMerge: 'github' }) } },
      'ChecksPending',
    ],
    [
      'a namespace switches it off',
      { observed: { policy: policy({ 'auto-merge': 'false' }, { autoMerge: 'github' }) } },
      'ChecksPending',
    ],
  ])('is not enabled where %s', (_, changed, reason) => {
    const verdict = at(NOW, changed)[1];
    expect(verdict).toMatchObject({ reason });
    expect(verdict.kind).not.toBe('merge');
  });

  it('rests after GitHub refused it, and the merge does not rest with it', () => {
    const [tried, first] = at(NOW);
    expect(first).toMatchObject({ kind: 'merge', enablesAutoMerge: true });
    const without = withoutEffect(tried, 'auto-merge was not enabled: no');
    expect(decide(seen({}), without, NOW)[1]).toMatchObject({
      kind: 'hold',
      detail: expect.stringContaining('auto-merge was not enabled: no') as string,
    });
    const clean = { mergeability: 'clean', checks: { total: 1, pending: [], failing: [] } } as const;
    expect(decide(seen(clean), without, NOW)[1]).toMatchObject({ kind: 'merge' });
  });
});

describe('a pull request for which Headroom enabled auto-merge', () => {
  const waiting = queued(requireState(before, 'Open'), NOW);

  it('waits until GitHub merges it, and the gate is asked again after five minutes', () => {
    const [kept, verdict] = decide(seen(enabled), waiting, NOW + MINUTE);
    expect(verdict).toMatchObject({
      kind: 'hold',
      phase: 'Merging',
      reason: 'AutoMergeEnabled',
      wait: { watch: 'pullRequest', until: NOW + 5 * MINUTE },
    });
    expect(decide(seen(enabled), kept, NOW + 5 * MINUTE)[1]).toMatchObject({ kind: 'merge' });
  });

  it('is tried to be disabled every half a minute at least, however often that has failed', () => {
    const frozen = seenWith(openDecision(), pullRequest(enabled), {
      policy: byForge,
      mergeHold: { reason: 'Frozen', until: null, detail: 'frozen' },
    });
    let tried = decide(frozen, waiting, NOW)[0];
    let now = NOW;
    for (let failed = 0; failed < 12; failed += 1) {
      const [kept, hold] = decide(frozen, withoutEffect(tried, 'auto-merge is still enabled'), now);
      expect(hold).toMatchObject({ kind: 'hold', wait: { watch: 'pullRequest' } });
      const { until = Number.POSITIVE_INFINITY } = 'wait' in hold ? hold.wait : {};
      expect(until - now).toBeLessThanOrEqual(30_000);
      now = until;
      const [again, verdict] = decide(frozen, kept, now);
      expect(verdict).toMatchObject({ kind: 'dequeue', reason: 'Frozen' });
      tried = again;
    }
  });

  it.each<[string, Changed, string]>([
    [
      'a request for changes',
      { pull: { changesRequested: [{ by: 'b', headSha: null, at: NOW }] } },
      'ChangesRequested',
    ],
    ['a failing check', { pull: { checks: { total: 1, pending: [], failing: ['ci'] } } }, 'ChecksFailing'],
    ['a conversion to a draft', { pull: { mergeability: 'draft' } }, 'Draft'],
    [
      'a base that moved on',
      { pull: { mergeability: 'behind', checks: { total: 0, pending: [], failing: [] } } },
      'Behind',
    ],
    ['a conflict', { pull: { mergeability: 'conflict' } }, 'Conflict'],
    ['a foreign commit', { pull: { headIsOurs: false } }, 'ForeignCommit'],
    ['a freeze', { observed: { mergeHold: { reason: 'Frozen', until: null, detail: 'frozen' } } }, 'Frozen'],
    ['a rejection', { memory: { rejection: { by: 'ann', at: NOW, reason: 'no' } } }, 'Rejected'],
    ['an opt-out', { observed: { policy: policy({ enabled: 'false' }, { autoMerge: 'github' }) } }, 'OptedOut'],
    ['a pause', { observed: { pause: { scope: 'target', kept: 'k', by: 'ann', at: NOW, reason: 'stop' } } }, 'Paused'],
    ['settings that leave merges to Headroom again', { observed: { policy: policy() } }, 'ReadyToMerge'],
  ])('has it disabled before anything else by %s', (_, changed, reason) => {
    const { pull, ...rest } = changed;
    expect(at(NOW + MINUTE, { ...rest, pull: { ...enabled, ...pull } })[1]).toMatchObject({
      kind: 'dequeue',
      reason,
      detail: expect.stringMatching(/^GitHub's auto-merge of pull request .* is disabled: /) as string,
    });
  });

  it('has it enabled again ten minutes after it was enabled last, and is merged meanwhile if nothing is missing', () => {
    const out = dequeued(waiting);
    const queueRemoval = {
      autoMerge: true,
      by: 'headroom-bot',
      isOwn: true,
      at: NOW,
      enteredAt: NOW - MINUTE,
      kind: 'other',
      reason: '',
    } as const;
    expect(decide(seen({ queueRemoval }), out, NOW)[1]).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
    expect(decide(seen({ queueRemoval }), out, NOW + 9 * MINUTE)[1]).toMatchObject({
      kind: 'merge',
      enablesAutoMerge: true,
    });
    const clean = { queueRemoval, mergeability: 'clean', checks: { total: 1, pending: [], failing: [] } } as const;
    expect(decide(seen(clean), out, NOW)[1]).toMatchObject({ kind: 'merge' });
  });
});

describe('auto-merge in the hands of people', () => {
  const theirs = { queueEntry: { ...own, by: 'ann', isOwn: false } };
  const clean = { mergeability: 'clean', checks: { total: 1, pending: [], failing: [] } } as const;

  it('is a merge of theirs where they enabled it, which a branch that is behind is rebuilt for', () => {
    expect(at(NOW, { pull: theirs })[1]).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
    expect(at(NOW, { pull: { ...theirs, ...clean } })[1]).toMatchObject({
      kind: 'hold',
      phase: 'AwaitingMerge',
      reason: 'AutoMergeEnabled',
    });
    const behind = { ...theirs, ...clean, mergeability: 'behind' } as const;
    expect(at(NOW, { pull: behind })[1]).toMatchObject({ kind: 'rebuild', reason: 'Behind' });
  });

  it('is not enabled again where they disabled it, and neither is the pull request merged', () => {
    const queueRemoval = { autoMerge: true, by: 'ann', at: NOW - MINUTE, kind: 'other', reason: '' } as const;
    expect(at(NOW, { pull: { queueRemoval } })[1]).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
    expect(at(NOW, { pull: { queueRemoval, ...clean } })[1]).toMatchObject({ reason: 'AutoMergeDisabled' });
  });

  it('is enabled again half an hour after GitHub disabled it', () => {
    const at0 = NOW - MINUTE;
    const queueRemoval = { autoMerge: true, by: null, at: at0, kind: 'other', reason: 'the base branch' } as const;
    const pushed = { decision: openDecision() };
    expect(at(NOW, { pull: { queueRemoval }, memory: pushed })[1]).toMatchObject({ reason: 'ChecksPending' });
    expect(at(NOW + 29 * MINUTE, { pull: { queueRemoval } })[1]).toMatchObject({ enablesAutoMerge: true });
  });
});
