import { describe, expect, it } from 'vitest';
import {
  maximumFor,
  minimumFor,
  type ResizePolicy,
  settingFor,
  stepFor,
} from '../../../../domain/quota-resize/policy/policy.ts';
import { resolve } from './policies.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the value of an annotation', () => {
  it.each<[name: string, value: string, sets: Partial<ResizePolicy>]>([
    ['burst', 'fill', { burst: 'fill' }],
    ['burst', 'Settle', { burst: 'settle' }],
    ['approval', 'before-pull-request', { approval: 'before-pull-request' }],
    ['approval', 'before-merge', { approval: 'before-merge' }],
    ['approval-reminder', '90m', { approvalReminder: 90 * MINUTE }],
    ['approval-reminder', 'never', { approvalReminder: null }],
    ['approval-timeout', '7d', { approvalTimeout: 7 * DAY }],
    ['approval-timeout', '1d12h', { approvalTimeout: 36 * HOUR }],
    ['approval-timeout', 'Never', { approvalTimeout: null }],
    ['rejection-cooldown', '48h', { rejectionCooldown: 2 * DAY }],
    ['rejection-cooldown', '1h', { rejectionCooldown: HOUR }],
    ['freeze-until', '2026-12-27', { freezeUntil: Date.UTC(2026, 11, 27) }],
    ['freeze-until', '2026-12-27T18:00:00+01:00', { freezeUntil: Date.UTC(2026, 11, 27, 17) }],
    ['freeze-until', '2028-02-29t00:00:00.5z', { freezeUntil: Date.UTC(2028, 1, 29, 0, 0, 0, 500) }],
    ['steps', 'cpu=1, memory=4Gi', { steps: { cpu: '1', memory: '4Gi' } }],
    ['steps', 'requests.nvidia.com/gpu=8', { steps: { 'requests.nvidia.com/gpu': '8' } }],
    ['steps', 'none', { steps: {} }],
    ['reviewers', '@alice, platform/quota-owners,alice', { reviewers: ['alice', 'platform/quota-owners'] }],
    ['reviewers', 'none', { reviewers: [] }],
    ['git-repository', 'acme/gitops', { git: { repository: 'acme/gitops' } }],
    ['git-ref', 'release/1.x', { git: { ref: 'release/1.x' } }],
    ['git-field', 'namespaceQuotas["requests.cpu"]', { git: { field: 'namespaceQuotas["requests.cpu"]' } }],
    ['git-field', "teams[2].quota['cpu']", { git: { field: "teams[2].quota['cpu']" } }],
    [
      'merge-windows',
      '0 9 * * 1-5 for 8h in Europe/Berlin;  30 7 * * SAT   for 90m;',
      {
        mergeWindows: [
          { cron: '0 9 * * 1-5', duration: 8 * HOUR, zone: 'Europe/Berlin' },
          { cron: '30 7 * * SAT', duration: 90 * MINUTE, zone: 'UTC' },
        ],
      },
    ],
    [
      'merge-windows',
      '0 0 1 * * for 31d',
      { mergeWindows: [{ cron: '0 0 1 * *', duration: 31 * 24 * HOUR, zone: 'UTC' }] },
    ],
    ['merge-windows', 'always', { mergeWindows: [] }],
  ])('%s: %j is understood', (name, value, sets) => {
    const { policy, warnings } = resolve({}, { [name]: ` ${value} ` });
    expect(warnings).toEqual([]);
    expect(policy).toMatchObject(sets);
    expect(policy.sources[name]).toBe('quota');
  });

  it.each([
    ['burst', 'all', '"settle" or "fill"'],
    ['approval', 'always', '"before-merge"'],
    ['approval-reminder', '24', '"90m", "24h" or "7d"'],
    ['approval-reminder', '500ms', 'from 1s'],
    ['approval-timeout', '93d', 'to 92d'],
    ['approval-timeout', '-1h', 'or "never"'],
    ['rejection-cooldown', 'never', 'or "0"'],
    ['freeze-until', 'Christmas', '"2026-12-27"'],
    ['freeze-until', '2026-02-30', '"2026-12-27"'],
    ['freeze-until', '2026-12-27T18:00:00', '"2026-12-27T18:00:00+01:00"'],
    ['freeze-until', '2026-12-27T25:00:00Z', '"2026-12-27T18:00:00+01:00"'],
    ['steps', 'cpu', 'cpu=1,memory=4Gi'],
    ['steps', 'cpu=0', 'above 0'],
    ['steps', 'cpu=1,cpu=2', 'parted by commas'],
    ['steps', 'cpus=1', 'family or quota key'],
    ['steps', 'memory=4GB', 'quantities'],
    ['cpu-min', 'much', 'a quantity above 0'],
    ['requests.cpu-max', '-1', 'a quantity above 0'],
    ['memory-max', '0', 'a quantity above 0'],
    ['reviewers', 'alice bob', 'parted by commas'],
    ['reviewers', 'alice,,bob', 'parted by commas'],
    ['reviewers', 'a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p', 'up to 15 users'],
    ['reviewers', 'a/b/c', 'platform/quota-owners'],
    ['git-repository', 'https://github.com/acme/gitops', 'without a host'],
    ['git-repository', 'acme/gitops.git', 'without ".git"'],
    ['git-repository', 'gitops', 'owner/name'],
    ['git-ref', 'a..b', 'a branch'],
    ['git-ref', 'main^', 'a branch'],
    ['git-ref', '', 'a branch'],
    ['git-field', 'namespaceQuotas["requests.cpu"', 'namespaceQuotas["requests.cpu"]'],
    ['git-field', '.cpu', 'the place of the value'],
    ['git-field', 'quotas[x]', 'the place of the value'],
    ['merge-windows', '', 'has another form'],
    ['merge-windows', '0 9 * * 1-5', 'has another form'],
    ['merge-windows', '0 9 * * for 8h', 'has another form'],
    ['merge-windows', '0 25 * * * for 8h', 'the cron pattern "0 25 * * *" is not understood'],
    ['merge-windows', '0 0 30 2 * for 8h', '"0 0 30 2 *" never comes'],
    ['merge-windows', '0 9 * * * for long', '"long" is not a duration'],
    ['merge-windows', '0 9 * * * for 20s', '"20s" is not between 1m and 31d'],
    ['merge-windows', '0 0 1 * * for 745h', '"745h" is not between 1m and 31d'],
    ['merge-windows', '0 9 * * * for 1h in Mars/Base', '"Mars/Base" is not an IANA time zone'],
    ['merge-windows', '0 9 * * * for 1h in +02:00', '"+02:00" is not an IANA time zone'],
    ['merge-windows', '0 9 * * * for 1h; soon', '"soon" has another form'],
  ])('%s: %j is a warning that says what is right, and the layer below holds', (name, value, says) => {
    const lower = {
      burst: 'fill',
      approval: 'before-merge',
      'freeze-until': '2026-06-01',
      steps: 'cpu=2',
      'merge-windows': '0 8 * * * for 1h',
    };
    const { policy, warnings } = resolve(lower, { [name]: value });
    expect(policy).toEqual(resolve(lower).policy);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ key: `resizer.io/${name}`, value, layer: 'quota' });
    expect(warnings[0]?.wanted).toContain(says);
    expect(warnings[0]?.message).toContain(`resizer.io/${name}: ${JSON.stringify(value)} on the quota`);
  });
});

describe('layers', () => {
  it('the process’s defaults hold where nothing is annotated, and a quota’s value replaces the namespace’s as a whole', () => {
    const changed = {
      approval: 'before-merge',
      burst: 'fill',
      steps: { cpu: '1' },
      mergeWindows: [{ cron: '0 9 * * *', duration: HOUR, zone: 'UTC' }],
    } as const;
    expect(resolve({}, {}, changed).policy).toMatchObject({ ...changed, sources: { steps: 'default' } });
    const { policy } = resolve(
      { steps: 'cpu=2,memory=1Gi', approval: 'none', 'merge-windows': '0 7 * * * for 1h' },
      { steps: 'memory=4Gi', 'merge-windows': 'always' },
      changed,
    );
    expect(policy).toMatchObject({ approval: 'none', burst: 'fill', mergeWindows: [] });
    expect(policy.steps).toEqual({ memory: '4Gi' });
    expect(policy.sources).toMatchObject({
      steps: 'quota',
      approval: 'namespace',
      burst: 'default',
      'merge-windows': 'quota',
    });
  });

  it('a freeze of any layer holds: the latest wins, and is the one that is told', () => {
    const quotaLater = resolve({ 'freeze-until': '2026-12-20' }, { 'freeze-until': '2026-12-27' }).policy;
    expect([quotaLater.freezeUntil, quotaLater.sources['freeze-until']]).toEqual([Date.UTC(2026, 11, 27), 'quota']);
    const namespaceLater = resolve({ 'freeze-until': '2026-12-27' }, { 'freeze-until': '2026-12-20' }).policy;
    expect([namespaceLater.freezeUntil, namespaceLater.sources['freeze-until']]).toEqual([
      Date.UTC(2026, 11, 27),
      'namespace',
    ]);
    const freezeUntil = Date.UTC(2027, 0, 7);
    const processLater = resolve({ 'freeze-until': '2026-12-27' }, {}, { freezeUntil }).policy;
    expect([processLater.freezeUntil, processLater.sources['freeze-until']]).toEqual([freezeUntil, 'default']);
  });

  it('the parts of where the quota lives come from any layer', () => {
    const { policy } = resolve(
      { 'git-repository': 'acme/teams', 'git-path': 'a' },
      { 'git-path': 'b', 'git-ref': 'x' },
    );
    expect(policy.git).toEqual({ repository: 'acme/teams', path: 'b', ref: 'x' });
    expect(policy.sources).toMatchObject({ 'git-repository': 'namespace', 'git-path': 'quota', 'git-ref': 'quota' });
  });
});

describe('minimums, maximums and steps', () => {
  it('the quota key wins over its family, in whatever layer it stands', () => {
    const { policy, warnings } = resolve(
      { 'requests.cpu-min': '4', 'cpu-max': '64', 'requests.nvidia.com_gpu-max': '8' },
      { 'cpu-min': '2000m', 'requests.cpu-max': '32', steps: 'cpu=1,limits.cpu=4' },
    );
    expect(warnings).toEqual([]);
    expect(['requests.cpu', 'limits.cpu', 'pods'].map((key) => minimumFor(policy, key))).toEqual(['4', '2', undefined]);
    expect(['requests.cpu', 'limits.cpu', 'pods'].map((key) => maximumFor(policy, key))).toEqual([
      '32',
      '64',
      undefined,
    ]);
    expect(['requests.cpu', 'limits.cpu', 'pods'].map((key) => stepFor(policy, key))).toEqual(['1', '4', undefined]);
    expect(maximumFor(policy, 'requests.nvidia.com/gpu')).toBe('8');
    expect(settingFor(policy, 'min', 'requests.cpu')).toEqual({ name: 'requests.cpu-min', source: 'namespace' });
    expect(settingFor(policy, 'max', 'limits.cpu')).toEqual({ name: 'cpu-max', source: 'namespace' });
    expect(settingFor(policy, 'threshold', 'pods')).toEqual({ name: 'threshold', source: 'default' });
  });

  it('a minimum above the maximum is a warning and is ignored, and only for what it contradicts', () => {
    const { policy, warnings } = resolve({ 'requests.cpu-max': '5' }, { 'cpu-min': '10' });
    expect(minimumFor(policy, 'requests.cpu')).toBeUndefined();
    expect(maximumFor(policy, 'requests.cpu')).toBe('5');
    expect(minimumFor(policy, 'limits.cpu')).toBe('10');
    expect(warnings).toEqual([
      {
        key: 'resizer.io/cpu-min',
        value: '10',
        layer: 'quota',
        wanted: 'at most "5"',
        message:
          'resizer.io/cpu-min: "10" on the quota is above resizer.io/requests.cpu-max ("5" on the namespace) and ignored for requests.cpu; write at most "5"',
      },
    ]);
  });

  it('a minimum equal to the maximum is right, in whatever units', () => {
    const { policy, warnings } = resolve({ 'memory-min': '1Gi', 'memory-max': '1024Mi' });
    expect(warnings).toEqual([]);
    expect(minimumFor(policy, 'requests.memory')).toBe('1Gi');
  });
});

describe('unknown names', () => {
  it.each([
    ['merge-window', 'resizer.io/merge-windows'],
    ['freze-until', 'resizer.io/freeze-until'],
    ['cpu-mix', undefined],
    ['step', 'resizer.io/steps'],
    ['memory-maxx', 'resizer.io/memory-max'],
    ['approval-reminders', 'resizer.io/approval-reminder'],
    ['git-repo', undefined],
  ])('%s', (name, closest) => {
    const { warnings } = resolve({ [name]: '1' });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.message).toContain(closest === undefined ? 'is unknown' : `did you mean ${closest}?`);
  });
});

describe('a warning', () => {
  it.each([
    ['git-repository', 'https://bot:SECRET@gitlab.corp/acme/gitops'],
    ['git-repository', `https://bot:SECRET${'x'.repeat(200)}@gitlab.corp/acme/gitops`],
    ['git-repository', 'bot:SECRET@gitlab.corp/acme/gitops'],
    ['git-repositry', 'https://gitlab.corp/acme/gitops?private_token=SECRET'],
    ['git-path', 'https://bot:SECRET@gitlab.corp/{{ .Team }}'],
    ['git-ref', 'https://bot:SECRET@gitlab.corp/acme/gitops'],
  ])('about %s: %j quotes no password', (name, value) => {
    const { warnings } = resolve({ [name]: value });
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain('SECRET');
    expect(warnings[0]?.value).toContain('gitlab.corp');
  });
});
