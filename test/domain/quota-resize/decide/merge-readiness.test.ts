import { describe, expect, it } from 'vitest';
import { mergeReadiness } from '../../../../domain/quota-resize/decide/merge-readiness.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { MINUTE, NOW, pullRequest, ref, SECOND } from '../model/observations.ts';

const none = { total: 0, pending: [], failing: [] };

function readiness(changed: Partial<PullRequestObservation>, pushedAt = NOW): string {
  const result = mergeReadiness(pullRequest(changed), ref({ pushedAt }), NOW, MINUTE);
  return result.kind === 'ready' ? 'ready' : `${result.kind} ${result.reason}`;
}

describe('clean is a proof', () => {
  it('when a check finished on this head', () => {
    expect(readiness({})).toBe('ready');
  });

  it('when the base requires checks', () => {
    expect(readiness({ checks: none, hasRequiredChecks: true })).toBe('ready');
  });

  it('when it has stood for the settle time, exactly', () => {
    expect(readiness({ checks: none }, NOW - MINUTE)).toBe('ready');
    expect(readiness({ checks: none }, NOW - MINUTE + 1)).toBe('wait NoChecksYet');
  });

  it('and otherwise it waits until the settle time is over', () => {
    const wait = mergeReadiness(pullRequest({ checks: none }), ref({ pushedAt: NOW - 20 * SECOND }), NOW, MINUTE);
    expect(wait).toMatchObject({ kind: 'wait', until: NOW + 40 * SECOND });
  });

  it('and where a merge queue is the block, GitHub is asked, and its answer shown', () => {
    expect(readiness({ mergeability: 'blocked', mergeQueue: true })).toBe('ready');
    const checks = { total: 1, pending: ['build'], failing: [] };
    expect(readiness({ mergeability: 'blocked', mergeQueue: true, checks })).toBe('wait ChecksPending');
  });
});

describe('in a merge queue', () => {
  const queueEntry = { by: 'headroom-bot', isOwn: true, at: NOW - MINUTE, state: 'checking', position: 1 } as const;

  it.each([
    [{ mergeability: 'computing' }, 'ready'],
    [{ mergeability: 'behind' }, 'ready'],
    [{ mergeability: 'blocked' }, 'ready'],
    [{ mergeability: 'unstable' }, 'ready'],
    [{ checks: { total: 1, pending: ['a'], failing: [] } }, 'ready'],
    [{ checks: { total: 1, pending: [], failing: ['a'] } }, 'wait ChecksFailing'],
    [{ mergeability: 'draft' }, 'wait Draft'],
    [{ mergeability: 'conflict' }, 'rebuild Conflict'],
    [{ changesRequested: [{ by: 'bob', headSha: null, at: NOW }] }, 'wait ChangesRequested'],
  ] as const)('%j: %s', (changed, expected) => {
    expect(readiness({ queueEntry, ...changed })).toBe(expected);
  });
});

describe('a request for changes', () => {
  const changesRequested = [{ by: 'bob', headSha: 'b'.repeat(40), at: NOW - MINUTE }];

  it.each(['clean', 'blocked', 'unstable', 'unrecognised'] as const)(
    'holds a pull request that is %s',
    (mergeability) => {
      expect(readiness({ mergeability, changesRequested })).toBe('wait ChangesRequested');
    },
  );

  it('is named before checks, and after what Headroom has to do itself', () => {
    const checks = { total: 2, pending: ['a'], failing: ['b'] };
    expect(readiness({ checks, changesRequested })).toBe('wait ChangesRequested');
    expect(readiness({ mergeability: 'behind', changesRequested })).toBe('rebuild Behind');
    expect(readiness({ mergeability: 'conflict', changesRequested })).toBe('rebuild Conflict');
  });

  it('holds where there may be one that was not read', () => {
    expect(readiness({ changesRequested: 'unread' })).toBe('wait ChangesRequested');
    expect(readiness({ changesRequested: [] })).toBe('ready');
  });
});

describe('nothing but clean is merged', () => {
  it.each([
    [{ mergeability: 'draft' }, 'wait Draft'],
    [{ mergeability: 'computing' }, 'wait MergeabilityComputing'],
    [{ mergeability: 'conflict' }, 'rebuild Conflict'],
    [{ mergeability: 'behind' }, 'rebuild Behind'],
    [{ mergeability: 'blocked' }, 'wait ReviewRequired'],
    [{ mergeability: 'unstable' }, 'wait ChecksPending'],
    [{ mergeability: 'unrecognised' }, 'wait ChecksPending'],
    [{ checks: { total: 2, pending: ['a'], failing: [] } }, 'wait ChecksPending'],
    [{ checks: { total: 2, pending: ['a'], failing: ['b'] } }, 'wait ChecksFailing'],
  ] as const)('%j: %s', (changed, expected) => {
    expect(readiness(changed)).toBe(expected);
  });
});
