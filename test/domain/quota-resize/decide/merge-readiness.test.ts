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
    expect(readiness({ mergeableState: 'blocked', mergeQueue: true })).toBe('ready');
    const checks = { total: 1, pending: ['build'], failing: [] };
    expect(readiness({ mergeableState: 'blocked', mergeQueue: true, checks })).toBe('wait ChecksPending');
  });

  it('also where GitHub Enterprise has pre-receive hooks', () => {
    expect(readiness({ mergeableState: 'has_hooks' })).toBe('ready');
  });
});

describe('nothing but clean is merged', () => {
  it.each([
    [{ draft: true }, 'wait Draft'],
    [{ mergeableState: 'draft' }, 'wait Draft'],
    [{ mergeable: null }, 'wait MergeabilityComputing'],
    [{ mergeableState: 'unknown' }, 'wait MergeabilityComputing'],
    [{ mergeable: false, mergeableState: 'blocked' }, 'rebuild Conflict'],
    [{ mergeableState: 'dirty' }, 'rebuild Conflict'],
    [{ mergeableState: 'behind' }, 'rebuild Behind'],
    [{ mergeableState: 'blocked' }, 'wait ReviewRequired'],
    [{ mergeableState: 'unstable' }, 'wait ChecksPending'],
    [{ mergeableState: 'anything new' }, 'wait ChecksPending'],
    [{ checks: { total: 2, pending: ['a'], failing: [] } }, 'wait ChecksPending'],
    [{ checks: { total: 2, pending: ['a'], failing: ['b'] } }, 'wait ChecksFailing'],
  ] as const)('%j: %s', (changed, expected) => {
    expect(readiness(changed)).toBe(expected);
  });

  it('a draft is not rebuilt, and a head that GitHub still computes is not called a conflict', () => {
    expect(readiness({ draft: true, mergeable: false })).toBe('wait Draft');
    expect(readiness({ mergeable: null, mergeableState: 'dirty' })).toBe('wait MergeabilityComputing');
  });
});
