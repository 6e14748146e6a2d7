import { describe, expect, it } from 'vitest';
import { comparisonText } from '../../../../starter/cli/quota-usage/comparison-text.ts';
import { quotaFullness } from '../../../../domain/kernel/quota-fullness.ts';
import { namespaceText } from '../../../../starter/cli/quota-usage/namespace-text.ts';
import { overviewText } from '../../../../starter/cli/quota-usage/overview-text.ts';
import type { NamespaceUsage, Overview } from '../../../../starter/cli/quota-usage/report.ts';
import { type Terminal, terminalOf } from '../../../../starter/cli/terminal.ts';

const plain = (width: number): Terminal => ({ width, colours: false });
const at = '2026-11-20T10:15:00Z';

function quota(namespace: string, used: Record<string, string>, hard: Record<string, string>) {
  return quotaFullness({ metadata: { namespace, name: 'compute' }, spec: { hard }, status: { hard, used } });
}

const overview: Overview = {
  cluster: 'prod',
  at,
  quotas: [
    quota('team-a', { 'requests.cpu': '5', pods: '7' }, { 'requests.cpu': '4', pods: '20' }),
    quota('team-b', { pods: '8' }, { pods: '10' }),
    quota('team-with-a-rather-long-name', { pods: '1' }, { pods: '10' }),
    quota('team-c', {}, {}),
  ],
};

describe('all quotas in a terminal', () => {
  it('are a row each, with a bar that takes the room that names and amounts leave', () => {
    expect(overviewText(overview, false, plain(80))).toBe(
      `QUOTA                                 RESOURCE      USED  HARD
team-a/compute                        requests.cpu     5     4  #########> 125 %
team-b/compute                        pods             8    10  ########--  80 %
team-with-a-rather-long-name/compute  pods             1    10  #---------  10 %
Without any limit: team-c/compute

2 of 4 quotas in prod are at 80 % or more. headroom usage NAMESPACE shows what
uses them.
`,
    );
  });

  it('lose the bar and nothing else where there is no room', () => {
    expect(overviewText(overview, true, plain(40))).toContain(
      'team-with-a-rather-long-name/compute  pods             1    10   10 %\n',
    );
  });

  it('are coloured from 80 % on, where colours are wanted', () => {
    const text = overviewText(overview, true, { width: 100, colours: true }).replaceAll('\u001B', '^');
    expect(text).toMatch(/\^\[31mteam-a\/compute .*125 %\^\[39m\n/);
    expect(text).toMatch(/\^\[33mteam-b\/compute .* 80 %\^\[39m\n/);
    expect(text).toMatch(/\nteam-a\/compute .* 35 %\n/);
  });

  it('say that there is none', () => {
    expect(overviewText({ ...overview, quotas: [] }, false, plain(80))).toBe('prod has no ResourceQuota.\n');
  });
});

const namespaceUsage: NamespaceUsage = {
  cluster: 'prod',
  at,
  namespace: 'team-a',
  quotas: [
    {
      ...quota('team-a', { 'requests.cpu': '3600m', pods: '8' }, { 'requests.cpu': '4', pods: '20' }),
      scopes: ['NotBestEffort'],
      usedBy: [
        {
          resource: 'requests.cpu',
          total: '3600m',
          top: [
            { workload: 'Deployment/web', amount: '3', share: 83.3, objects: 6 },
            { workload: 'Pod/debug', amount: '500m', share: 13.8, objects: 1 },
          ],
          others: { workloads: 1, amount: '100m', share: 2.7 },
        },
        {
          resource: 'pods',
          total: '8',
          top: [{ workload: 'pods', amount: '8', share: 100, objects: 8 }],
          others: null,
        },
      ],
    },
  ],
  pending: {
    workloads: [
      {
        kind: 'Deployment',
        name: 'web',
        resource: 'pods',
        missing: 4,
        needs: [{ quota: 'compute', amounts: { pods: '4', 'requests.cpu': '2' } }],
        deniedAt: at,
        next: {
          allowed: false,
          answers: [
            {
              quota: 'compute',
              message:
                'exceeded quota: compute, requested: requests.cpu=500m, used: requests.cpu=3600m, limited: requests.cpu=4',
            },
          ],
        },
      },
      {
        kind: 'Job',
        name: 'once',
        resource: 'pods',
        missing: 1,
        needs: [{ quota: 'compute', amounts: { pods: '1' } }],
        deniedAt: at,
        next: { allowed: true },
      },
      {
        kind: 'Thing',
        name: 'x',
        resource: 'pods',
        missing: null,
        needs: [{ quota: 'compute', amounts: { pods: '1' } }],
        deniedAt: at,
        next: null,
      },
    ],
    pods: { count: 2, reasons: [{ reason: 'Unschedulable', pods: 2, message: '0/3 nodes are available' }] },
  },
  warnings: ['you may not list secrets'],
};

describe('a namespace in a terminal', () => {
  it('has its quotas, what uses them, and what waits', () => {
    expect(namespaceText(namespaceUsage, plain(80))).toBe(
      `team-a in prod at 2026-11-20T10:15:00Z

team-a/compute  (NotBestEffort)
  requests.cpu  3600m   4  ####################################----  90 %
  pods              8  20  ################------------------------  40 %

  what uses requests.cpu
    Deployment/web (6)     3  ####################----  83 %
    Pod/debug           500m  ###---------------------  13 %
    1 other             100m  ------------------------   2 %

Pending
  Deployment/web still needs 4 pods. Quota compute would be charged 4 pods and 2
    CPU (requests.cpu) for them.
    The next one would be denied: exceeded quota: compute, requested:
      requests.cpu=500m, used: requests.cpu=3600m, limited: requests.cpu=4
  Job/once still needs 1 pod. Quota compute would be charged 1 pod for it.
    The next one fits now. The last denial was at 2026-11-20T10:15:00Z.
  Thing/x was denied pods. Quota compute would be charged 1 pod for them.
  2 pods are Pending
    2 Unschedulable: 0/3 nodes are available

Not known
  you may not list secrets
`,
    );
  });

  it('says that nothing waits, and that it has no quota', () => {
    const calm = { ...namespaceUsage, pending: { workloads: [], pods: { count: 0, reasons: [] } } };
    expect(namespaceText(calm, plain(80))).toContain('\nPending\n  nothing\n');
    expect(namespaceText({ ...calm, quotas: [] }, plain(80))).toBe('team-a in prod has no ResourceQuota.\n');
  });
});

describe('a comparison in a terminal', () => {
  it('shows what is wrong, since when that is known, and what could not be told', () => {
    const differences = [
      { field: 'used', resource: 'pods', shown: '8', counted: '9', difference: '-1' },
      { field: 'used', resource: 'requests.cpu', shown: '7', counted: '3600m', difference: '3400m' },
    ] as const;
    const comparison = {
      cluster: 'prod',
      at,
      compared: 3,
      wrong: [{ namespace: 'team-a', quota: 'compute', differences, reported: { at, message: 'pods: …' } }],
      restless: [{ namespace: 'team-b', quota: 'compute', resources: ['pods'] }],
      unmeasured: [
        { namespace: 'team-c', quota: 'objects', resources: ['secrets'], reason: 'you may not list secrets' },
      ],
    };
    expect(comparisonText(comparison, plain(80))).toBe(
      `team-a/compute
  FIELD  RESOURCE      STATUS SAYS  COUNTED  DIFFERENCE
  used   pods                    8        9          -1
  used   requests.cpu            7    3600m      +3400m
  reported by Headroom at 2026-11-20T10:15:00Z: pods: …

team-b/compute changes all the time: whether pods is wrong or only late is
  unknown.
team-c/objects: secrets not compared: you may not list secrets.
1 of 3 quotas of prod has a status that is wrong.
`,
    );
    const calm = { ...comparison, wrong: [], restless: [], unmeasured: [] };
    expect(comparisonText(calm, plain(80))).toBe(
      '3 quotas of prod compared: every status that could be counted is true.\n',
    );
  });
});

describe('a terminal', () => {
  it('is as wide as it says, or as COLUMNS says, or a hundred columns', () => {
    expect(terminalOf({ isTTY: true, columns: 132 }, { COLUMNS: '80' }).width).toBe(132);
    expect(terminalOf({}, { COLUMNS: '80' }).width).toBe(80);
    expect(terminalOf({}, { COLUMNS: 'wide' }).width).toBe(100);
    expect(terminalOf({ isTTY: true, columns: 8 }, {}).width).toBe(40);
  });

  it('has colours only where it is one, and nobody minds them', () => {
    expect(terminalOf({ isTTY: true }, {}).colours).toBe(true);
    expect(terminalOf({ isTTY: true }, { NO_COLOR: '1' }).colours).toBe(false);
    expect(terminalOf({ isTTY: true }, { NO_COLOR: '' }).colours).toBe(true);
    expect(terminalOf({ isTTY: true }, { TERM: 'dumb' }).colours).toBe(false);
    expect(terminalOf({}, {}).colours).toBe(false);
  });
});
