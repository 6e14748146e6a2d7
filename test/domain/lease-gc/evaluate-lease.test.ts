import { describe, expect, it } from 'vitest';
import { evaluateLease, type Surroundings } from '../../../domain/lease-gc/evaluate-lease.ts';
import {
  fileLeaseAnnotations,
  fileLeaseLabels,
  quotaLeaseLabels,
  withMemory,
} from '../../../domain/quota-resize/model/lease.ts';

const now = Date.UTC(2026, 10, 20);
const MINUTE = 60_000;
const empty = { lastModified: null, lastRecommendation: null, rejections: [], decision: null };
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

function judge(one: Parameters<typeof evaluateLease>[0], age = 60 * MINUTE): string {
  return evaluateLease(one, now - age, surroundings, now).kind;
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

  it('is left to a foreign holder', () => {
    expect(judge(lease('alive', 'compute', 'pr-4'), 1000 * 60 * MINUTE)).toBe('keep');
  });

  it('of a file is unlocked with its workflow', () => {
    const file = (quota: string) => ({
      metadata: {
        name: 'file-1',
        labels: fileLeaseLabels,
        annotations: fileLeaseAnnotations(
          { cluster: 'c1', namespace: 'alive', quota },
          { repository: 'a/b', path: 'c' },
        ),
      },
      spec: { holderIdentity: 'headroom/1' },
    });
    expect(judge(file('compute'))).toBe('unlock');
    expect(judge(file('compute'), 9 * MINUTE)).toBe('keep');
    expect(judge(file('busy'))).toBe('keep');
  });

  it('of an earlier tool is deleted only when no reading of its name is a living namespace', () => {
    const legacy = (name: string) => ({ metadata: { name, labels: quotaLeaseLabels } });
    expect(judge(legacy('state-team-a-compute'))).toBe('keep');
    expect(judge(legacy('state-other-a-compute'))).toBe('delete');
    expect(judge(legacy('something'))).toBe('keep');
  });
});
