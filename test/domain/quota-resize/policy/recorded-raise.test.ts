import { describe, expect, it } from 'vitest';
import {
  GROWTH_MEMORY_MS,
  pendingIn,
  pendingPullRequests,
  type RecordedRaise,
  SYNCS_WITHIN_MS,
  withEnd,
  withoutRequest,
  withRaise,
  withUnexpected,
} from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import { HOUR, NOW } from '../model/observations.ts';

const pullRequest = { repository: 'acme/gitops', number: 7 };

function raise(from: string, to: string, at: number, more: Partial<RecordedRaise> = {}): RecordedRaise {
  return { decision: `d-${at}`, at, from: { 'requests.cpu': from }, to: { 'requests.cpu': to }, ...more };
}

describe('the raises that a Lease remembers', () => {
  it('are those of a week, each pull request once', () => {
    const old = raise('1', '2', NOW - GROWTH_MEMORY_MS, { decision: 'old' });
    const first = raise('2', '3', NOW - HOUR, { pullRequest });
    const again = raise('2', '4', NOW, { pullRequest: { ...pullRequest, repository: 'Acme/GitOps' } });
    expect(withRaise([old, first], again, NOW)).toEqual([again]);
  });

  it('do not take the place of one another for the name of a decision', () => {
    const first = raise('2', '4', NOW - HOUR, { decision: 'same', pullRequest });
    const second = raise('4', '8', NOW, { decision: 'same', pullRequest: { ...pullRequest, number: 8 } });
    expect(withRaise([first], second, NOW)).toEqual([first, second]);
    const earlier = raise('1', '2', NOW - HOUR, { decision: 'same' });
    expect(withRaise([earlier], second, NOW), 'of an earlier version').toEqual([earlier, second]);
  });

  it('are remembered for totals only as long as the cluster may not show them, where a person approved', () => {
    const approved = raise('2', '4', NOW, { isApproved: true, pullRequest });
    const next = (at: number) => withRaise([approved], raise('4', '8', at), at);
    expect(next(NOW + SYNCS_WITHIN_MS - 1)).toHaveLength(2);
    expect(next(NOW + SYNCS_WITHIN_MS)).toHaveLength(1);
  });

  it('beyond two hundred the oldest are joined, and none is forgotten', () => {
    let raises: readonly RecordedRaise[] = [raise('0', '1', NOW - 1, { isPending: true, pullRequest })];
    for (let n = 0; n < 300; n += 1) {
      raises = withRaise(raises, raise(String(n + 1), String(n + 2), NOW + n), NOW + n);
    }
    expect(raises).toHaveLength(201);
    expect(raises[0]).toMatchObject({ isPending: true });
    expect(raises[1]).toMatchObject({ from: { 'requests.cpu': '1' } });
  });
});

describe('what the forge says of a pull request', () => {
  const merged = raise('1', '2', NOW - HOUR, { pullRequest: { ...pullRequest, number: 6 } });
  const pending = raise('2', '4', NOW, { isPending: true, pullRequest });
  const raises = [merged, pending];

  it('settles what was pending, at the time at which it was merged', () => {
    const after = withEnd(raises, pullRequest, { kind: 'merged', at: NOW + 5, isOwn: true }, NOW + 9);
    const { isPending: _, ...settled } = pending;
    expect(after).toEqual([merged, { ...settled, at: NOW + 5 }]);
    expect(pendingIn(raises, pullRequest)).toBe(pending);
    expect(pendingPullRequests(after)).toEqual([]);
  });

  it('forgets what it has not merged, and what a person merged', () => {
    expect(withEnd(raises, pullRequest, { kind: 'closed' }, NOW)).toEqual([merged]);
    expect(withEnd(raises, pullRequest, { kind: 'merged', at: NOW, isOwn: false }, NOW)).toEqual([merged]);
  });

  it('changes nothing about what is settled, or of another pull request', () => {
    expect(withEnd(raises, { ...pullRequest, number: 6 }, { kind: 'closed' }, NOW)).toBe(raises);
    expect(withEnd(raises, { ...pullRequest, number: 8 }, { kind: 'closed' }, NOW)).toBe(raises);
  });

  it('forgets only the request that it has refused', () => {
    expect(withoutRequest(raises, pullRequest, pending.at)).toEqual([merged]);
    expect(withoutRequest(raises, pullRequest, pending.at - 1)).toBe(raises);
    expect(withoutRequest([merged], pullRequest, pending.at)).toEqual([merged]);
  });

  it('counts a merge of Headroom that nobody expected, once and for as long as any', () => {
    const own = raise('2', '4', NOW, { pullRequest });
    expect(withUnexpected([merged], own, NOW)).toEqual([merged, own]);
    const known = [merged, own];
    expect(withUnexpected(known, { ...own, at: NOW + 1 }, NOW + 1)).toBe(known);
    expect(withUnexpected(raises, own, NOW)).toBe(raises);
    const none: readonly RecordedRaise[] = [];
    expect(withUnexpected(none, own, NOW + GROWTH_MEMORY_MS)).toBe(none);
  });
});
