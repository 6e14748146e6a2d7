import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { SeenQuota } from '../../../domain/quota-resize/backlog.ts';
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import { quotaLeaseLabels, withMemory } from '../../../domain/quota-resize/model/lease.ts';
import { QuotaBacklog } from '../../../starter/quota-resize/backlog.ts';
import { tellOf } from '../../../starter/quota-resize/lease-watch.ts';
import { registerBacklogMetrics } from '../../../starter/quota-resize/metrics.ts';

const HOUR_MS = 3_600_000;

function seen(quota: string): SeenQuota {
  return { namespace: 'team-a', quota, hard: { pods: '10', 'requests.cpu': '1' }, overSince: null, isDenied: false };
}

function leaseOf(quota: string, number: number) {
  const decision: Decision = {
    id: '0000abcd',
    quotaUid: 'uid',
    decidedAt: Date.now() - 2 * HOUR_MS,
    changes: [
      { resource: 'pods', from: '10', to: '12', used: '10', demand: '2', reason: 'two are missing' },
      { resource: 'requests.cpu', from: '1', to: '1500m', used: '1', demand: '500m', reason: 'half a core is' },
    ],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest: {
      number,
      url: `https://git.example.com/acme/gitops/pull/${number}`,
      repository: 'acme/gitops',
      branch: 'b',
      base: 'main',
      path: 'compute.yaml',
      headSha: '0'.repeat(40),
      openedAt: Date.now() - HOUR_MS,
      pushedAt: Date.now() - HOUR_MS,
    },
    merge: null,
  };
  const target = { cluster: 'a', namespace: 'team-a', quota };
  const memory = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision };
  return {
    metadata: { name: `state-team-a-${quota}`, labels: quotaLeaseLabels, annotations: withMemory({}, target, memory) },
    spec: { holderIdentity: 'headroom/0000abcd' },
  };
}

describe('the metrics of what is not done yet', () => {
  const quotas = new Map(['one', 'two'].map((name) => [name, seen(name)]));
  const registry = new Registry();
  const backlog = new QuotaBacklog(() => [...quotas.values()]);
  registerBacklogMetrics(registry, backlog);
  const samples = async (): Promise<Readonly<Record<string, number>>> => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return Object.fromEntries(
      lines.map((line) => {
        const [, series = '', value] = /^headroom_(.*) (\S+)$/.exec(line) ?? [];
        return [series, Number(value)];
      }),
    );
  };

  it('are none where nothing is to be done', async () => {
    expect(await samples()).toEqual({ pull_requests_open: 0 });
  });

  it('count a pull request of two quotas once, and say of each how old it is and what is missing', async () => {
    tellOf(leaseOf('one', 7), [backlog]);
    tellOf(leaseOf('two', 7), [backlog]);
    const found = await samples();
    expect(found['pull_requests_open']).toBe(1);
    const of = (quota: string) => `namespace="team-a",quota="${quota}"`;
    for (const quota of ['one', 'two']) {
      expect(found[`pull_request_age_seconds{${of(quota)}}`]).toBeCloseTo(3_600, -1);
      expect(found[`quota_unserved_seconds{${of(quota)}}`]).toBeCloseTo(7_200, -1);
      expect(found[`quota_unmet_demand{${of(quota)},resource="pods"}`]).toBe(2);
      expect(found[`quota_unmet_demand{${of(quota)},resource="requests.cpu"}`]).toBe(0.5);
    }
  });

  it('go with the quota, and with its Lease', async () => {
    quotas.delete('one');
    expect(Object.keys(await samples()).filter((series) => series.includes('quota="one"'))).toEqual([]);
    expect((await samples())['pull_requests_open']).toBe(1);
    backlog.remove('state-team-a-two');
    expect(await samples()).toEqual({ pull_requests_open: 0 });
  });
});
