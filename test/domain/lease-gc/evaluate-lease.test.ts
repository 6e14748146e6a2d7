import { describe, expect, it } from 'vitest';
import { evaluateLease, type Surroundings } from '../../../domain/lease-gc/evaluate-lease.ts';
import {
  fileLeaseAnnotations,
  fileLeaseLabels,
  quotaLeaseLabels,
  withLocks,
  withMemory,
} from '../../../domain/quota-resize/model/lease.ts';

const now = Date.UTC(2026, 10, 20);
const MINUTE = 60_000;
const empty = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision: null };
const surroundings: Surroundings = {
  cluster: 'c1',
  namespaces: new Set(['team', 'alive']),
  quotas: new Set(['alive/compute']),
  running: new Set(['quota-resize/c1/alive/busy', 'quota-resize/c1/gone/closing']),
};

function lease(namespace: string, quota: string, holder?: string) {
  const target = { cluster: 'c1', namespace, quota };
  return {
    metadata: {
      name: `state-${namespace}-${quota}`,
      labels: quotaLeaseLabels,
      annotations: withMemory({}, target, empty),
    },
    spec: { holderIdentity: holder },
  };
}

function judge(lease: Parameters<typeof evaluateLease>[0], age = 60 * MINUTE): string {
  return evaluateLease(lease, now - age, surroundings, now).kind;
}

/** What is done with a Lease that was last written a year ago, and the sentence that says why. */
function sentence(lease: Parameters<typeof evaluateLease>[0]): string {
  const judgement = evaluateLease(lease, now - 365 * 24 * 60 * MINUTE, surroundings, now);
  return judgement.kind === 'keep' ? 'keep' : `${judgement.kind}: ${judgement.why}`;
}

/** The Lease of a file, for a quota of the namespace `alive`. */
function fileLease(quota: string, ...others: readonly string[]) {
  const holders = [quota, ...others].map((name, n) => ({
    namespace: 'alive',
    quota: name,
    holder: `headroom/${n}`,
    at: 0,
  }));
  const lock = { holders, queue: [] };
  return {
    metadata: {
      name: 'file-1',
      labels: fileLeaseLabels,
      annotations: fileLeaseAnnotations({}, { repository: 'a/b', path: 'c' }, lock, 'c1'),
    },
    spec: { holderIdentity: 'headroom/1' },
  };
}

/** The Lease of a quota that the decision of another quota raises along. */
function carried(quota: string, carriedBy: string) {
  const own = lease('alive', quota, 'headroom/1');
  return { ...own, metadata: { ...own.metadata, annotations: withLocks(own.metadata.annotations, [], carriedBy) } };
}

describe('an old Lease', () => {
  it('is deleted when its namespace is gone, whoever holds it', () => {
    expect(judge(lease('gone', 'compute'))).toBe('delete');
    expect(judge(lease('gone', 'compute', 'pr-4'))).toBe('delete');
  });

  it('is kept while a workflow still says goodbye to it', () => {
    expect(judge(lease('gone', 'closing', 'headroom/1'))).toBe('keep');
  });

  it('is kept while its quota lives', () => {
    expect(judge(lease('alive', 'compute'), 1000 * 60 * MINUTE)).toBe('keep');
  });

  it('is deleted a day after its quota is gone, unless somebody else holds it', () => {
    expect(judge(lease('alive', 'memory'), 23 * 60 * MINUTE)).toBe('keep');
    expect(judge(lease('alive', 'memory'), 25 * 60 * MINUTE)).toBe('delete');
    expect(judge(lease('alive', 'memory', 'somebody'), 25 * 60 * MINUTE)).toBe('keep');
  });

  it('is unlocked when no workflow runs that holds it, but not in its first ten minutes', () => {
    expect(judge(lease('alive', 'compute', 'headroom/1'), 9 * MINUTE)).toBe('keep');
    expect(judge(lease('alive', 'compute', 'headroom/1'), 11 * MINUTE)).toBe('unlock');
    expect(judge(lease('alive', 'busy', 'headroom/1'), 11 * MINUTE)).toBe('keep');
  });

  it('keeps its ten minutes and its day to the end', () => {
    expect(judge(lease('alive', 'compute', 'headroom/1'), 10 * MINUTE)).toBe('keep');
    expect(judge(lease('alive', 'compute', 'headroom/1'), 10 * MINUTE + 1)).toBe('unlock');
    expect(judge(fileLease('compute'), 10 * MINUTE)).toBe('keep');
    expect(judge(fileLease('compute'), 10 * MINUTE + 1)).toBe('unlock');
    expect(judge(lease('alive', 'memory'), 24 * 60 * MINUTE)).toBe('keep');
    expect(judge(lease('alive', 'memory'), 24 * 60 * MINUTE + 1)).toBe('delete');
  });

  it('of a file is kept for those who wait for it', () => {
    const waiting = (quota: string, until: number, holders: readonly string[]) => {
      const lease = fileLease('compute');
      const lock = {
        holders: holders.map((holder) => ({ namespace: 'alive', quota: 'compute', holder, at: 0 })),
        queue: ['paused', quota].map((name) => ({
          namespace: 'alive',
          quota: name,
          denied: name === 'paused',
          share: 90,
          since: now - 600 * MINUTE,
          until: name === 'paused' ? now - 60 * MINUTE : until,
        })),
      };
      const annotations = fileLeaseAnnotations({}, { repository: 'a/b', path: 'c' }, lock, 'c1');
      return judge({ ...lease, metadata: { ...lease.metadata, annotations } });
    };
    for (const holders of [[], ['headroom/1']]) {
      expect(waiting('busy', now - MINUTE, holders), 'its workflow runs').toBe('keep');
      expect(waiting('starting', now + MINUTE, holders), 'it asked a moment ago').toBe('keep');
      expect(waiting('over', now - MINUTE, holders)).toBe('unlock');
    }
  });

  it('of a namespace or quota that is gone is kept for the week in which its raises and rejections bind', () => {
    const remembering = (namespace: string, at: number) => {
      const own = lease(namespace, 'memory');
      const target = { cluster: 'c1', namespace, quota: 'memory' };
      const limits = { pods: '2' };
      const raise = { decision: '0a1b2c3d', at, from: { pods: '1' }, to: limits };
      const rejection = { limits, at, by: 'jane', reason: 'too much' };
      return [{ raises: [raise] }, { rejections: [rejection] }].map((memory) => ({
        ...own,
        metadata: { ...own.metadata, annotations: withMemory({}, target, { ...empty, ...memory }) },
      }));
    };
    const day = 24 * 60 * MINUTE;
    for (const namespace of ['gone', 'alive']) {
      expect(remembering(namespace, now - 7 * day + 1).map((one) => judge(one, 30 * day))).toEqual(['keep', 'keep']);
      expect(remembering(namespace, now - 7 * day).map((one) => judge(one, 30 * day))).toEqual(['delete', 'delete']);
    }
  });

  it('of a namespace that is gone is kept while a cooldown after a change or a withdrawal may run', () => {
    const ended = (ends: { readonly lastModified?: number; readonly lastWithdrawal?: number }) => {
      const own = lease('gone', 'memory');
      const target = { cluster: 'c1', namespace: 'gone', quota: 'memory' };
      return { ...own, metadata: { ...own.metadata, annotations: withMemory({}, target, { ...empty, ...ends }) } };
    };
    for (const end of ['lastModified', 'lastWithdrawal']) {
      expect(judge(ended({ [end]: now - 24 * 60 * MINUTE + MINUTE }))).toBe('keep');
      expect(judge(ended({ [end]: now - 24 * 60 * MINUTE }))).toBe('delete');
    }
  });

  it('says why it goes', () => {
    expect([
      sentence(lease('gone', 'compute')),
      sentence(lease('alive', 'memory')),
      sentence(lease('alive', 'compute', 'headroom/1')),
      sentence(carried('compute', 'objects')),
      sentence(fileLease('compute')),
      sentence({ metadata: { name: 'state-other-a-compute', labels: quotaLeaseLabels } }),
    ]).toEqual([
      'delete: the namespace gone does not exist',
      'delete: the quota alive/memory does not exist',
      'unlock: no workflow of alive/compute runs that holds it',
      'unlock: no workflow of alive/objects runs that holds it',
      'unlock: no workflow of alive/compute runs that changes the file',
      'delete: none of the namespaces other, other-a exists',
    ]);
  });

  it('of a quota that another one raises along is kept while the workflow of that one runs, and only then', () => {
    expect(judge(carried('compute', 'busy'))).toBe('keep');
    expect(judge(carried('busy', 'compute'))).toBe('unlock');
  });

  it('without a holder is that of an empty one', () => {
    expect(judge(lease('alive', 'memory', ''), 25 * 60 * MINUTE)).toBe('delete');
    expect(judge({ ...lease('alive', 'memory'), spec: undefined }, 25 * 60 * MINUTE)).toBe('delete');
  });

  it('is left to a foreign holder', () => {
    expect(judge(lease('alive', 'compute', 'pr-4'), 1000 * 60 * MINUTE)).toBe('keep');
  });

  it('of a file is unlocked with its workflow', () => {
    expect(judge(fileLease('compute'))).toBe('unlock');
    expect(judge(fileLease('compute'), 9 * MINUTE)).toBe('keep');
    expect(judge(fileLease('busy'))).toBe('keep');
    expect(judge(fileLease('compute', 'busy')), 'another pull request changes it too').toBe('keep');
    expect(judge(fileLease('compute', 'compute'))).toBe('unlock');
  });

  it('of an earlier tool is deleted only when no reading of its name is a living namespace', () => {
    const legacy = (name: string) => ({ metadata: { name, labels: quotaLeaseLabels } });
    expect(judge(legacy('state-team-a-compute'))).toBe('keep');
    expect(judge(legacy('state-other-a-compute'))).toBe('delete');
    expect(judge(legacy('something'))).toBe('keep');
  });
});
