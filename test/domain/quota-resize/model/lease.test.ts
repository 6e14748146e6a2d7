import { array, assert, property, stringMatching } from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import {
  decisionIdOf,
  fileLeaseAnnotations,
  fileLeaseLabels,
  fileLeaseName,
  filesOfLease,
  hasUnreadDecision,
  isFileLease,
  leaseNames,
  leaseRelation,
  legacyNamespaces,
  pullRequestNumberOf,
  quotaLeaseLabels,
  readLeaseMemory,
  targetOfLease,
  withMemory,
  withoutDecision,
} from '../../../../domain/quota-resize/model/lease.ts';

const target = { cluster: 'c1', namespace: 'team-a', quota: 'compute' };
const decision: Decision = {
  id: '0a1b2c3d',
  quotaUid: 'u-1',
  decidedAt: 1_795_000_000_123,
  changes: [{ resource: 'requests.cpu', from: '2', to: '3600m', used: '2', demand: '1', reason: 'full' }],
  evidence: ['ReplicaSet web-1 misses 2 replicas'],
  demandByMessage: false,
  approvalRequirement: { reason: 'MaxStepExceeded', message: 'more than twice' },
  pullRequest: {
    number: 7,
    url: 'https://forge/acme/gitops/pull/7',
    repository: 'acme/gitops',
    branch: 'headroom/c1/team-a/compute-0a1b2c3d',
    base: 'main',
    path: 'quota.yaml',
    headSha: 'f'.repeat(40),
    openedAt: 1_795_000_001_000,
    pushedAt: 1_795_000_002_000,
  },
  merge: null,
};
const memory = {
  lastModified: 1_795_000_000_000,
  lastRecommendation: { limits: { pods: '12' }, at: 1_795_000_000_500 },
  rejections: [{ limits: { pods: '20' }, at: 1_795_000_000_001, by: 'jane', reason: 'too much' }],
  raises: [{ decision: '0a1b2c3d', at: 3_000, from: { pods: '5' }, to: { pods: '10' } }],
  decision,
};

describe('the name of a Lease', () => {
  it('is state-<namespace>-<quota> first', () => {
    expect(leaseNames(target)[0]).toBe('state-team-a-compute');
  });

  it('differs in its second form for two quotas that share the first', () => {
    const [first, second] = leaseNames(target);
    const [otherFirst, otherSecond] = leaseNames({ namespace: 'team', quota: 'a-compute' });
    expect(otherFirst).toBe(first);
    expect(otherSecond).not.toBe(second);
  });

  it('is always a valid object name, however long namespace and quota are', () => {
    const label = stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);
    const subdomain = array(label, { minLength: 1, maxLength: 6 }).map((labels) =>
      labels
        .join('.')
        .slice(0, 253)
        .replace(/[.-]+$/, ''),
    );
    assert(
      property(label, subdomain, (namespace, quota) => {
        for (const name of leaseNames({ namespace, quota })) {
          expect(name.length).toBeLessThanOrEqual(253);
          expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/);
        }
      }),
    );
  });

  it('has only the form with a hash when the plain one is too long', () => {
    const names = leaseNames({ namespace: 'n'.repeat(63), quota: `${'q'.repeat(190)}.x` });
    expect(names).toHaveLength(1);
    expect(names[0]).toMatch(/-[0-9a-f]{16}$/);
  });

  it('is never cut into the end of a dotted label', () => {
    const quota = `${'q'.repeat(253 - 17 - 'state-ns-'.length - 1)}.${'r'.repeat(40)}`;
    expect(leaseNames({ namespace: 'ns', quota })[0]).toMatch(/q-[0-9a-f]{16}$/);
  });
});

describe('whose a Lease is', () => {
  const labels = quotaLeaseLabels;
  const annotations = withMemory({}, target, {
    lastModified: null,
    lastRecommendation: null,
    rejections: [],
    raises: [],
    decision: null,
  });

  it('is told by its annotations and not by its name', () => {
    const lease = { metadata: { name: 'state-team-a-compute', labels, annotations } };
    expect(leaseRelation(lease, target)).toBe('own');
    expect(leaseRelation(lease, { ...target, namespace: 'team', quota: 'a-compute' })).toBe('other');
    expect(targetOfLease(lease)).toEqual({ namespace: 'team-a', quota: 'compute' });
  });

  it('is the quota of its name for an earlier tool without annotations', () => {
    const lease = { metadata: { name: 'state-team-a-compute', labels } };
    expect(leaseRelation(lease, target)).toBe('legacy');
    expect(leaseRelation(lease, { ...target, namespace: 'team', quota: 'a-compute' })).toBe('legacy');
    expect(leaseRelation(lease, { ...target, quota: 'memory' })).toBe('other');
  });

  it("is somebody else's without the label, or when it locks a file", () => {
    expect(leaseRelation({ metadata: { name: 'state-team-a-compute', annotations } }, target)).toBe('other');
    expect(leaseRelation({ metadata: { name: 'x', labels: fileLeaseLabels, annotations } }, target)).toBe('other');
  });

  it('has every reading of an ambiguous name', () => {
    expect(legacyNamespaces('state-team-a-compute')).toEqual(['team', 'team-a']);
    expect(legacyNamespaces('state-team')).toEqual([]);
    expect(legacyNamespaces('leader-election')).toEqual([]);
    expect(legacyNamespaces('state--x')).toEqual([]);
  });

  it('names the file that it locks', () => {
    const file = { repository: 'acme/gitops', path: 'a:b/quota.yaml' };
    const lock = { holders: [{ ...target, holder: 'headroom/1', at: 0 }], queue: [] };
    const lease = {
      metadata: {
        name: fileLeaseName(file),
        labels: fileLeaseLabels,
        annotations: fileLeaseAnnotations({}, file, lock, 'prod'),
      },
    };
    expect(isFileLease(lease)).toBe(true);
    expect(filesOfLease(lease)).toEqual([file]);
    expect(lease.metadata.name).toMatch(/^file-[0-9a-f]{16}$/);
  });

  it('reads the two forms of holder', () => {
    expect(decisionIdOf('headroom/0a1b2c3d')).toBe('0a1b2c3d');
    expect(decisionIdOf('pr-7')).toBeNull();
    expect(pullRequestNumberOf('pr-7')).toBe(7);
    expect(pullRequestNumberOf('pr-7x')).toBeNull();
    expect(pullRequestNumberOf(null)).toBeNull();
  });
});

describe('the memory of a Lease', () => {
  it('is read as it was written', () => {
    const annotations = withMemory({}, target, memory);
    expect(readLeaseMemory({ metadata: { annotations } })).toEqual({ memory, problems: [] });
  });

  it('has where the decision and its batched quotas were found in Git', () => {
    const placement = {
      candidate: { from: 'annotation', path: 'team-a', learntFrom: 'the annotation resizer.io/git-path' },
      tried: 0,
      values: { 'requests.cpu': { path: 'team-a/quota.yaml', field: 'spec.hard["requests.cpu"]', text: '2' } },
    } as const;
    const located: Decision = {
      ...decision,
      source: { repository: 'acme/gitops', base: 'main', how: 'by its name', placement },
      batchedQuotas: [
        {
          quota: 'objects',
          quotaUid: 'u-2',
          changes: [],
          approvalRequirement: null,
          candidates: [placement.candidate],
          placement,
        },
      ],
    };
    const annotations = withMemory({}, target, { ...memory, decision: located });
    expect(readLeaseMemory({ metadata: { annotations } })).toEqual({
      memory: { ...memory, decision: located },
      problems: [],
    });
  });

  it.each([
    ['without a pull request', '"pullRequest":null,"merge":null', { pullRequest: null, merge: null }],
    [
      'found in Git',
      '"pullRequest":null,"merge":{"sha":"f00","at":1,"by":"git","limits":{"pods":"9"}}',
      { pullRequest: null, merge: { sha: 'f00', at: 1, by: 'git', limits: { pods: '9' } } },
    ],
  ])('of a release that kept no placement is read, with a decision %s', (_, progress, read) => {
    const written = `{"v":2,"decision":{"id":"0a1b2c3d","quotaUid":"u-1","decidedAt":1795000000123,"changes":[],"evidence":[],"demandByMessage":false,"approvalRequirement":null,"source":{"repository":"acme/gitops","base":"main","how":"by its name"},${progress}}}`;
    const { memory: existing, problems } = readLeaseMemory({
      metadata: { annotations: { 'resizer.io/decision': written } },
    });
    expect(problems).toEqual([]);
    expect(existing.decision).toEqual({
      id: '0a1b2c3d',
      quotaUid: 'u-1',
      decidedAt: 1_795_000_000_123,
      changes: [],
      evidence: [],
      demandByMessage: false,
      approvalRequirement: null,
      source: { repository: 'acme/gitops', base: 'main', how: 'by its name' },
      ...read,
    });
  });

  it('leaves what others wrote', () => {
    const annotations = withMemory({ 'resizer.io/last-grow': '2026-01-01T00:00:00Z' }, target, memory);
    expect(annotations['resizer.io/last-grow']).toBe('2026-01-01T00:00:00Z');
  });

  it('is taken away where it is empty', () => {
    const full = withMemory({}, target, memory);
    const empty = withMemory(full, target, {
      lastModified: null,
      lastRecommendation: null,
      rejections: [],
      raises: [],
      decision: null,
    });
    expect(Object.keys(empty).toSorted()).toEqual([
      'resizer.io/target-cluster',
      'resizer.io/target-namespace',
      'resizer.io/target-quota',
    ]);
  });

  it('keeps the newest twenty rejections', () => {
    const rejections = Array.from({ length: 25 }, (_, n) => {
      return { limits: { [`count/${n}`]: '1' }, at: 1000 * (25 - n), by: 'x', reason: '' };
    });
    const annotations = withMemory({}, target, { ...memory, rejections });
    const { memory: read } = readLeaseMemory({ metadata: { annotations } });
    expect(read.rejections).toHaveLength(20);
    expect(Math.min(...read.rejections.map((rejection) => rejection.at))).toBe(6000);
  });

  it.each([
    ['2026-11-20T10:15:00Z', 0],
    ['2026-11-20T12:15:00+02:00', 0],
    ['2026-11-20T04:45:00.123456789-05:30', 123],
    ['2026-11-20t10:15:00z', 0],
  ])('understands the time %s of an earlier tool', (text, ms) => {
    const annotations = { 'resizer.io/last-modified': text };
    expect(readLeaseMemory({ metadata: { annotations } }).memory.lastModified).toBe(
      Date.UTC(2026, 10, 20, 10, 15) + ms,
    );
  });

  it.each([
    ['resizer.io/last-modified', 'yesterday'],
    ['resizer.io/last-modified', '2026-11-20'],
    ['resizer.io/last-recommendation', '{'],
    ['resizer.io/refusals', '{"limits":{}}'],
    ['resizer.io/decision', JSON.stringify({ v: 3, decision })],
    ['resizer.io/decision', JSON.stringify({ v: 1, decision })],
    ['resizer.io/decision', JSON.stringify({ v: 2, decision: { id: '' } })],
  ])('counts %s as absent and says so when it reads %s', (key, text) => {
    const annotations = { ...withMemory({}, target, memory), [key]: text };
    const { memory: read, problems } = readLeaseMemory({ metadata: { name: 'state-x-y', annotations } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(key);
    expect(problems[0]).toContain('state-x-y');
    const field = {
      'last-modified': read.lastModified,
      'last-recommendation': read.lastRecommendation,
      decision: read.decision,
      refusals: read.rejections.length === 0 ? null : read.rejections,
    };
    expect(field[key.replace('resizer.io/', '') as keyof typeof field]).toBeNull();
    // It stays as it is until there is something else to write in its place: a later release may be able to read it.
    expect(withMemory(annotations, target, read)[key]).toBe(text);
    expect(withMemory(annotations, target, memory)[key]).not.toBe(text);
  });

  it('says which decision cannot be read, and loses it only when its owner forgets it', () => {
    const text = JSON.stringify({ v: 3, decision });
    const annotations = { ...withMemory({}, target, memory), 'resizer.io/decision': text };
    const { memory: read, problems } = readLeaseMemory({ metadata: { annotations } });
    expect(hasUnreadDecision(read)).toBe(true);
    expect(problems).toEqual([expect.stringContaining('counts as held')]);
    const remembered = withMemory(annotations, target, { ...read, lastModified: 0 });
    expect(remembered).toMatchObject({
      'resizer.io/decision': text,
      'resizer.io/last-modified': '1970-01-01T00:00:00.000Z',
    });
    expect(withMemory(annotations, target, withoutDecision(read))).not.toHaveProperty(['resizer.io/decision']);
    expect(hasUnreadDecision(memory)).toBe(false);
  });
});
