import { describe, expect, it } from 'vitest';
import { approvalAnnotations } from '../../../../domain/quota-resize/model/lease-approval.ts';
import { fileLeaseLabels, type LeaseObject, quotaOfLease } from '../../../../domain/quota-resize/model/lease.ts';
import {
  openDecisionOf as openDecision,
  type OpenDecision,
} from '../../../../domain/quota-resize/model/open-decision.ts';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import { approvalRequired, decisionFor, leaseOf, NOW } from '../../../starter/overview/quotas.ts';

const HOUR = 3_600_000;

function openDecisionOf(lease: LeaseObject): OpenDecision | null {
  const read = quotaOfLease(lease);
  return read === null ? null : openDecision(read);
}

function open(other: Partial<Decision> = {}) {
  return openDecisionOf(leaseOf('team-a', 'compute', decisionFor(7, other)));
}

/** The Lease with other annotations, or another holder. */
function changed(lease: LeaseObject, annotations: Readonly<Record<string, string>>, holder?: string): LeaseObject {
  return {
    metadata: { ...lease.metadata, annotations: { ...lease.metadata?.annotations, ...annotations } },
    spec: { holderIdentity: holder ?? lease.spec?.holderIdentity },
  };
}

describe('what an open decision waits for', () => {
  it('is the merge of its pull request, since its last push', () => {
    expect(open()).toMatchObject({
      namespace: 'team-a',
      quota: 'compute',
      changes: [{ resource: 'requests.cpu', from: '4', to: '10' }],
      pullRequest: { number: 7, url: 'https://github.example.com/acme/gitops/pull/7' },
      waitsFor: { kind: 'merge' },
      since: NOW - HOUR,
    });
  });

  it('is an approval where one is required, since people can give it', () => {
    expect(open({ approvalRequirement: approvalRequired })).toMatchObject({
      waitsFor: { kind: 'approval', requirement: approvalRequired },
      since: NOW - 2 * HOUR,
    });
    expect(open({ approvalRequirement: approvalRequired, pullRequest: null })?.since).toBe(NOW - 3 * HOUR);
    expect(open({ approvalRequirement: approvalRequired, grownAt: NOW - 60_000 })?.since).toBe(NOW - 60_000);
  });

  it('is no approval that was given: to the workflow, or in the Lease for this decision', () => {
    expect(open({ approvalRequirement: approvalRequired, approvedBy: 'jane' })?.waitsFor.kind).toBe('merge');
    const lease = leaseOf('team-a', 'compute', decisionFor(7, { approvalRequirement: approvalRequired }));
    const approval = { by: 'jane', at: NOW, reason: '', limits: {}, headSha: '', places: {} };
    const given = changed(lease, approvalAnnotations({ ...approval, decision: decisionFor(7).id }));
    expect(openDecisionOf(given)?.waitsFor.kind).toBe('merge');
    const ofAnother = changed(lease, approvalAnnotations({ ...approval, decision: decisionFor(8).id }));
    expect(openDecisionOf(ofAnother)?.waitsFor.kind).toBe('approval');
  });

  it('is its pull request before there is one, and the merge of another one that it joined', () => {
    expect(open({ pullRequest: null })).toMatchObject({ waitsFor: { kind: 'pull-request' }, since: NOW - 3 * HOUR });
    const { pullRequest } = decisionFor(7);
    if (pullRequest === null) throw new Error('no pull request');
    const joinedTo = { namespace: 'team-b', quota: 'storage', decision: decisionFor(8).id };
    expect(open({ pullRequest: { ...pullRequest, joinedTo } })?.waitsFor).toEqual({
      kind: 'joined-merge',
      of: 'team-b/storage',
    });
  });

  it('is the cluster after the merge', () => {
    const merge = { sha: 'a'.repeat(40), at: NOW - 60_000, by: 'headroom', limits: { 'requests.cpu': '10' } };
    expect(open({ merge, approvalRequirement: approvalRequired })).toMatchObject({
      waitsFor: { kind: 'sync' },
      since: NOW - 60_000,
    });
  });
});

describe('no open decision', () => {
  const lease = leaseOf('team-a', 'compute', decisionFor(7));

  it.each([
    ['of a Lease that nobody holds', changed(lease, {}, '')],
    ['of a Lease that another decision holds', changed(lease, {}, 'headroom/ffffffff')],
    ['of a Lease of an earlier tool', changed(lease, {}, 'pr-7')],
    ["of a file's Lease", { ...lease, metadata: { ...lease.metadata, labels: fileLeaseLabels } }],
    ['of a decision that cannot be read', changed(lease, { 'resizer.io/decision': '{"v":2,"decision":7}' })],
    ['of an object with nothing in it', {}],
  ])('is there %s', (_of, object: LeaseObject) => {
    expect(openDecisionOf(object)).toBeNull();
  });
});
