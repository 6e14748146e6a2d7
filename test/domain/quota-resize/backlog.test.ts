import { describe, expect, it } from 'vitest';
import {
  backlogOfLease as backlogOf,
  type LeaseBacklog,
  type SeenQuota,
  unservedQuota,
} from '../../../domain/quota-resize/backlog.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import {
  fileLeaseAnnotations,
  fileLeaseLabels,
  type LeaseObject,
  quotaLeaseLabels,
  quotaOfLease,
  withMemory,
} from '../../../domain/quota-resize/model/lease.ts';

const AT = Date.parse('2026-11-01T10:00:00Z');
const target = { cluster: 'a', namespace: 'team-a', quota: 'compute' };
const pullRequest = {
  number: 7,
  url: 'https://git.example.com/acme/gitops/pull/7',
  repository: 'acme/gitops',
  branch: 'headroom/a/team-a/compute/0000abcd',
  base: 'main',
  path: 'compute.yaml',
  headSha: '0'.repeat(40),
  openedAt: AT + 60_000,
  pushedAt: AT + 60_000,
};
const facts = {
  id: '0000abcd',
  quotaUid: 'uid',
  decidedAt: AT,
  changes: [{ resource: 'pods', from: '10', to: '12', used: '10', demand: '2', reason: 'two pods are missing' }],
  evidence: [],
  demandByMessage: false,
  approvalRequirement: null,
};
const open: Decision = { ...facts, pullRequest, merge: null };
const merged: Decision = {
  ...facts,
  pullRequest,
  merge: { sha: '1'.repeat(40), at: AT + 120_000, by: 'alice', limits: { pods: '11' } },
};

function leaseOf({
  decision = null,
  holder = 'headroom/0000abcd',
  recommended = null,
}: {
  readonly decision?: Decision | null;
  readonly holder?: string | undefined;
  readonly recommended?: Readonly<Record<string, string>> | null;
}) {
  const memory = {
    lastModified: null,
    lastRecommendation: recommended === null ? null : { limits: recommended, at: AT },
    rejections: [],
    raises: [],
    decision,
  };
  return {
    metadata: { name: 'state-team-a-compute', labels: quotaLeaseLabels, annotations: withMemory({}, target, memory) },
    spec: { holderIdentity: holder },
  };
}

function backlogOfLease(lease: LeaseObject): LeaseBacklog | null {
  const read = quotaOfLease(lease);
  return read === null ? null : backlogOf(read);
}

const quota = (seen: Partial<SeenQuota> = {}): SeenQuota => ({
  namespace: 'team-a',
  quota: 'compute',
  hard: { pods: '10' },
  overSince: null,
  isDenied: false,
  ...seen,
});

describe('the backlog of a Lease', () => {
  it('has the pull request of the decision that holds it, until it is merged', () => {
    expect(backlogOfLease(leaseOf({ decision: open }))?.pullRequest?.number).toBe(7);
    expect(backlogOfLease(leaseOf({ decision: merged }))?.pullRequest).toBeNull();
    expect(backlogOfLease(leaseOf({ decision: open, holder: 'pr-9' }))?.pullRequest).toBeNull();
    expect(backlogOfLease(leaseOf({}))?.pullRequest).toBeNull();
  });

  it('is none of the Lease of a file, or of somebody else', () => {
    const file = { repository: 'acme/gitops', path: 'compute.yaml' };
    const annotations = fileLeaseAnnotations({}, file, { holders: [], queue: [] }, 'a');
    expect(backlogOfLease({ metadata: { labels: fileLeaseLabels, annotations } })).toBeNull();
    expect(backlogOfLease({ metadata: { name: 'other' } })).toBeNull();
  });
});

describe('a quota', () => {
  const wantedOf = (lease: Parameters<typeof backlogOfLease>[0]) => backlogOfLease(lease)?.wanted ?? null;

  it('is unserved from the decision until the cluster shows its limits, though its usage has gone down', () => {
    const wanted = wantedOf(leaseOf({ decision: open }));
    expect(unservedQuota(quota(), wanted)).toMatchObject({ since: AT, missing: { pods: '2' } });
    expect(unservedQuota(quota({ hard: { pods: '12' } }), wanted)).toBeNull();
  });

  it('is so by what people merged, and not by what was decided', () => {
    const wanted = wantedOf(leaseOf({ decision: merged }));
    expect(unservedQuota(quota(), wanted)).toMatchObject({ missing: { pods: '1' } });
    expect(unservedQuota(quota({ hard: { pods: '11' } }), wanted)).toBeNull();
  });

  it('is unserved by a recommendation only while something is over a threshold or denied', () => {
    const wanted = wantedOf(leaseOf({ recommended: { pods: '15' } }));
    expect(unservedQuota(quota(), wanted)).toBeNull();
    expect(unservedQuota(quota({ isDenied: true }), wanted)).toMatchObject({ since: AT, missing: { pods: '5' } });
    expect(unservedQuota(quota({ overSince: AT + 5 }), wanted)).toMatchObject({ since: AT, missing: { pods: '5' } });
    expect(unservedQuota(quota({ overSince: AT - 5 }), wanted)).toMatchObject({ since: AT - 5 });
  });

  it('is unserved since it is over its threshold where nothing is decided, or what was is in force', () => {
    expect(unservedQuota(quota({ overSince: AT }), null)).toEqual({
      namespace: 'team-a',
      quota: 'compute',
      since: AT,
      missing: {},
    });
    const wanted = wantedOf(leaseOf({ recommended: { pods: '15' } }));
    expect(unservedQuota(quota({ hard: { pods: '15' }, overSince: AT + 9 }), wanted)).toMatchObject({
      since: AT + 9,
      missing: {},
    });
    expect(unservedQuota(quota({ isDenied: true }), null)).toBeNull();
  });

  it('lacks nothing of a limit that it no longer has, or that nobody can read', () => {
    const wanted = wantedOf(leaseOf({ decision: open }));
    expect(unservedQuota(quota({ hard: { cpu: '1' } }), wanted)).toBeNull();
    expect(unservedQuota(quota({ hard: { pods: 'ten' } }), wanted)).toBeNull();
  });
});
