import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import {
  approvalAnnotations,
  type LeaseApproval,
  readLeaseApproval,
} from '../../../../domain/quota-resize/model/lease-approval.ts';
import { type LeaseMemory, withMemory } from '../../../../domain/quota-resize/model/lease.ts';
import { decision, NOW } from './observations.ts';

const target = { cluster: 'c1', namespace: 'team-a', quota: 'compute' };
const approval: LeaseApproval = {
  by: 'alice@example.com',
  at: NOW,
  reason: 'month end',
  decision: '0a1b2c3d',
  limits: { 'requests.cpu': '12', 'quota storage: pods': '9' },
  headSha: 'f'.repeat(40),
  places: { 'requests.cpu': 'acme/gitops main quota.yaml spec.hard: 10 → 12' },
};

describe('the approval in a Lease', () => {
  it('is read as it was written, with the name in an annotation of its own', () => {
    const annotations = approvalAnnotations(approval);
    expect(annotations['resizer.io/approved-by']).toBe('alice@example.com');
    expect(annotations['resizer.io/approval']).not.toContain('alice');
    expect(annotations['resizer.io/approval']).toContain('"at":"2026-');
    expect(readLeaseApproval(annotations)).toEqual({ approval, problem: null });
    expect(readLeaseApproval({})).toEqual({ approval: null, problem: null });
  });

  it.each([
    ['no name', { 'resizer.io/approved-by': '' }, 'nobody is named'],
    ['no JSON', { 'resizer.io/approval': 'yes' }, 'resizer.io/approval'],
    ['nothing but a name', { 'resizer.io/approval': '' }, 'resizer.io/approval'],
    ['another form', { 'resizer.io/approval': '{"decision":"0a1b2c3d"}' }, 'limits'],
    ['no moment', { 'resizer.io/approval': JSON.stringify({ ...approval, at: 'today' }) }, 'RFC 3339'],
  ])('with %s is a problem and counts as none', (_what, change, words) => {
    const read = readLeaseApproval({ ...approvalAnnotations(approval), ...change });
    expect(read).toEqual({ approval: null, problem: expect.stringContaining(words) as string });
  });

  it('cannot hide the values of other quotas from the policy, which looks for them in the text', () => {
    const annotations = approvalAnnotations(approval);
    const hidden = annotations['resizer.io/approval']?.replace('"quota ', String.raw`"\u0071uota `);
    expect(JSON.parse(hidden ?? '')).toMatchObject({ limits: approval.limits });
    expect(readLeaseApproval({ ...annotations, 'resizer.io/approval': hidden ?? '' })).toEqual({
      approval: null,
      problem: expect.stringContaining('hidden by escapes') as string,
    });
  });

  it('has a reason of one line of moderate length', () => {
    const { approval: read } = readLeaseApproval(approvalAnnotations({ ...approval, reason: `a\n${'b'.repeat(999)}` }));
    expect(read?.reason).toBe(`a ${'b'.repeat(498)}`);
  });

  it('stays as it is while its decision does, and goes with it', () => {
    const annotations = approvalAnnotations(approval);
    expect(withMemory(annotations, target, remembering(decision({ id: approval.decision })))).toMatchObject(
      annotations,
    );
    for (const other of [null, decision({ id: 'ffffffff' })]) {
      expect(Object.keys(withMemory(annotations, target, remembering(other)))).not.toContain('resizer.io/approved-by');
    }
    const unread = { ...remembering(null), unread: { 'resizer.io/decision': 'of a later release' } };
    expect(withMemory(annotations, target, unread)).toMatchObject(annotations);
  });
});

function remembering(remembered: Decision | null): LeaseMemory {
  return { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision: remembered };
}
