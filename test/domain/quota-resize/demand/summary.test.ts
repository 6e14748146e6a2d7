import { describe, expect, it } from 'vitest';
import { addLists, type ResourceList } from '../../../../domain/kernel/resource-list.ts';
import { summarized, summarizedDemand } from '../../../../domain/quota-resize/demand/summary.ts';
import { computeRequirement } from '../../../../domain/quota-resize/sizing/requirement.ts';
import type { WorkloadDemand } from '../../../../domain/quota-resize/model/observation.ts';
import { demand, lease, MINUTE, NOW, observation, policy } from '../model/observations.ts';

const hard = { 'requests.cpu': '1', 'requests.memory': '1Gi', pods: '10', 'count/jobs.batch': '10' };

function jobs(count: number, change: Partial<WorkloadDemand> = {}): readonly WorkloadDemand[] {
  return Array.from({ length: count }, (_, index) =>
    demand(
      { 'requests.cpu': `${index + 1}m`, 'requests.memory': '100001Ki', pods: '1' },
      {
        workload: { kind: 'Job', name: `load-${index}-${'x'.repeat(50)}`, uid: `${index}`.padStart(36, '0') },
        missing: 1,
        lastSeen: NOW + index,
        ...change,
      },
    ),
  );
}

function totalOf(all: readonly WorkloadDemand[]): ResourceList {
  return all.reduce<ResourceList>((sum, { total }) => addLists(sum, total), {});
}

function bytes(value: object): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

describe('an observation of 2,000 denied Jobs and four quotas', () => {
  const others = ['a', 'b', 'c'].map((name) => ({
    name,
    quota: { uid: name, hard, used: {} },
    policy: policy(),
    demand: jobs(2000),
    contradictions: [],
    candidates: [],
    lease: lease(),
  }));
  const large = observation({ quota: { uid: 'uid', hard, used: {} }, demand: jobs(2000), otherQuotas: others });
  const small = summarized(large);

  it('is of 256 KiB at most, and its sums are exact', () => {
    expect(bytes(large)).toBeGreaterThan(2 ** 21);
    expect(bytes(small)).toBeLessThanOrEqual(256 * 1024);
    expect(small.otherQuotas).toHaveLength(3);
    for (const { demand: all } of [small, ...small.otherQuotas]) expect(totalOf(all)).toEqual(totalOf(jobs(2000)));
    expect(small.demand.at(-1)).toMatchObject({ alike: 1960, missing: 1960, lastSeen: NOW + 1999 });
  });

  it('leads to the same values, and names forty of them and 1,960 more like it', () => {
    const { changes, evidence } = computeRequirement(small, null) ?? { changes: [], evidence: [] };
    expect(changes.map(({ to, demand: missing }) => [to, missing])).toEqual(
      computeRequirement(large, null)?.changes.map(({ to, demand: missing }) => [to, missing]),
    );
    expect(evidence).toHaveLength(41);
    expect(evidence.at(-1)).toMatch(
      /^And 1,960 more like it \(Job\) still need .* for 1960 replicas that the quota denied\./,
    );
  });

  it('names fewer where the names are long, and leaves out other quotas last', () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ ...others[0], name: `quota-${index}` })) as typeof others;
    const smallest = summarized({ ...large, otherQuotas: many });
    expect(bytes(smallest)).toBeLessThanOrEqual(256 * 1024);
    expect(totalOf(smallest.demand)).toEqual(totalOf(jobs(2000)));
    expect(smallest.otherQuotas.length).toBeGreaterThan(50);
    expect(smallest.otherQuotas.length).toBeLessThan(200);
  });
});

describe('the demand of few workloads', () => {
  it('stays as it is', () => {
    expect(summarizedDemand(jobs(40))).toEqual(jobs(40));
  });
});

describe('messages', () => {
  it('are summed so that those before the last change are told from those after it', () => {
    const old = jobs(50, { basis: 'message', lastSeen: NOW - 20 * MINUTE });
    const recent = jobs(50, { basis: 'message', lastSeen: NOW - MINUTE });
    const sums = summarizedDemand([...old, ...recent], 0);
    expect(sums.map(({ alike, lastSeen }) => [alike, lastSeen])).toEqual([
      [50, NOW - 20 * MINUTE],
      [50, NOW - MINUTE],
    ]);
  });

  it('of any number of kinds are a few sums', () => {
    const kinds = jobs(3000, { basis: 'message' }).map((one, index) => ({
      ...one,
      workload: { ...one.workload, kind: `Kind${index}` },
      lastSeen: NOW - (index % 60) * MINUTE,
    }));
    expect(summarizedDemand(kinds).length).toBeLessThanOrEqual(40 + 13);
  });
});
