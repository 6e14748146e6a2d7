import { describe, expect, it } from 'vitest';
import { BUILT_IN_GUARDRAIL, type Guardrail, guardrailFor } from '../../../../domain/quota-resize/policy/guardrail.ts';
import { guardrailList } from '../../../../domain/quota-resize/policy/guardrail-settings.ts';
import { maximumFor, minimumFor, thresholdFor } from '../../../../domain/quota-resize/policy/policy.ts';
import { resolve } from './policies.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function guardrail(changed: Partial<Guardrail>): Guardrail {
  return { ...BUILT_IN_GUARDRAIL, name: 'prod', ...changed };
}

function read(list: unknown): readonly Guardrail[] {
  return guardrailList.parse(JSON.stringify(list));
}

/** The message of the list's first problem. */
function problem(list: unknown): string {
  const result = guardrailList.safeParse(JSON.stringify(list));
  return result.success ? 'none' : (result.error.issues[0]?.message ?? '');
}

describe('the guardrail of a namespace', () => {
  const list = read([
    { name: 'payments', namespaces: { names: ['pay-*', 'ledger'] } },
    { name: 'production', namespaces: { labels: { matchLabels: { env: 'prod' } } } },
    {
      name: 'both',
      namespaces: { names: ['*-x-*'], labels: { matchExpressions: [{ key: 'y', operator: 'Exists' }] } },
    },
    { name: 'rest' },
  ]);
  it.each([
    ['pay-eu', {}, 'payments'],
    ['pay-', {}, 'payments'],
    ['pay', {}, 'rest'],
    ['ledger', { env: 'prod' }, 'payments'],
    ['ledger-2', {}, 'rest'],
    ['team-a', { env: 'prod' }, 'production'],
    ['team-a', { env: 'dev' }, 'rest'],
    ['a-x-b', { y: '' }, 'both'],
    ['a-x-b', {}, 'rest'],
    ['-x-', { y: '' }, 'both'],
    ['-x', { y: '' }, 'rest'],
  ])('%s with labels %o has the first that matches: %s', (name, labels, expected) => {
    expect(guardrailFor(list, { name, labels }).name).toBe(expected);
  });

  it('has the growth of the built-in one unless it says otherwise', () => {
    expect(list[3]).toMatchObject({ growthPerDay: '4', growthPerWeek: '16', max: {}, approvalBy: 'any' });
    expect(read([{ name: 'x', growthPerDay: 'unlimited', growthPerWeek: 2.5 }])[0]).toMatchObject({
      growthPerDay: null,
      growthPerWeek: '2.5',
    });
  });
});

describe('a list of guardrails', () => {
  it.each([
    [[], 'Too small'],
    [[{ name: 'a', namespaces: { names: ['x'] } }], 'guardrails[0].namespaces: the last guardrail has to hold for all'],
    [[{ name: 'a' }, { name: 'b' }], 'guardrails[0]: it holds for all namespaces, so those after it would never hold'],
    [[{ name: 'a', namespaces: { names: ['x'] } }, { name: 'a' }], 'guardrails[1].name: "a" is the name of an earlier'],
    [[{ name: 'a', max: { cpu: 'much' } }], 'guardrails[0].max.cpu: write a quantity above 0'],
    [[{ name: 'a', max: { cpus: '1' } }], 'guardrails[0].max.cpus: write a key of a quota'],
    [[{ name: 'a', growthPerDay: 'fast' }], 'guardrails[0].growthPerDay: write a factor from 1 to 1000'],
    [[{ name: 'a', leastCooldown: '60' }], 'guardrails[0].leastCooldown: expected a duration'],
    [[{ name: 'a', leastReminder: '10ms' }], 'guardrails[0].leastReminder: write a duration such as'],
    [[{ name: 'a', leastIncrement: '0' }], 'guardrails[0].leastIncrement: write a percentage above 0'],
    [[{ name: 'a', threshold: { least: 90, greatest: 80 } }], 'guardrails[0].threshold: write a least threshold'],
    [[{ name: 'a', maximum: { cpu: 1 } }], 'Unrecognized key: "maximum"'],
    [[{ name: 'a', paths: ['../x'] }], 'guardrails[0].paths[0]: the path "../x" leaves the repository'],
    [
      [{ name: 'a', namespaces: { labels: { matchExpressions: [{ key: 'k', operator: 'In' }] } } }],
      'labels.matchExpressions[0].values: In needs at least one value',
    ],
  ])('%o is refused: %s', (list, message) => {
    expect(problem(list)).toContain(message);
  });
});

describe('annotations can only tighten', () => {
  it.each([
    [{ leastCooldown: 2 * HOUR }, 'cooldown-minutes', '5', '240', { cooldown: 2 * HOUR }, { cooldown: 4 * HOUR }],
    [{}, 'cooldown-minutes', '0', '20', { cooldown: 15 * MINUTE }, { cooldown: 20 * MINUTE }],
    [
      { leastRejectionCooldown: 2 * HOUR },
      'rejection-cooldown',
      '0',
      '3h',
      { rejectionCooldown: 2 * HOUR },
      { rejectionCooldown: 3 * HOUR },
    ],
    [{}, 'rejection-cooldown', '0', '1h', { rejectionCooldown: HOUR }, { rejectionCooldown: HOUR }],
    [{}, 'approval-timeout', '1s', '1h', { approvalTimeout: 15 * MINUTE }, { approvalTimeout: HOUR }],
    [{}, 'approval-timeout', '1s', 'never', { approvalTimeout: 15 * MINUTE }, { approvalTimeout: null }],
    [
      { leastReminder: HOUR },
      'approval-reminder',
      '30m',
      '2h',
      { approvalReminder: HOUR },
      { approvalReminder: 2 * HOUR },
    ],
    [{}, 'approval-reminder', '1s', 'never', { approvalReminder: 15 * MINUTE }, { approvalReminder: null }],
    [{}, 'increment', '0.001', '6', { increment: '5' }, { increment: '6' }],
    [{ leastIncrement: '10' }, 'increment', '6', '11', { increment: '10' }, { increment: '11' }],
    [{}, 'cpu-increment', '1', '6', { increments: { cpu: '5' } }, { increments: { cpu: '6' } }],
    [{}, 'threshold', '1', '60', { threshold: '50' }, { threshold: '60' }],
    [
      { leastApproval: 'before-merge' },
      'approval',
      'none',
      'before-pull-request',
      { approval: 'before-merge' },
      { approval: 'before-pull-request' },
    ],
    [{ largestMaxStep: '3' }, 'max-step', '100', '1.5', { maxStep: '3' }, { maxStep: '1.5' }],
    [{ threshold: { least: '50', greatest: '90' } }, 'threshold', '10', '60', { threshold: '50' }, { threshold: '60' }],
    [{ threshold: { least: '50', greatest: '90' } }, 'threshold', '99', '85', { threshold: '90' }, { threshold: '85' }],
  ] as const)('with %o, %s: %s is replaced and %s holds', (changed, name, looser, tighter, bounded, kept) => {
    const guardrails = [guardrail(changed)];
    const loose = resolve({}, { [name]: looser }, { guardrails });
    expect(loose.policy).toMatchObject({ ...bounded, sources: { [name]: 'guardrail' } });
    expect(loose.warnings).toHaveLength(1);
    expect(loose.warnings[0]?.key).toBe(`resizer.io/${name}`);
    expect(loose.warnings[0]?.message).toContain('guardrail prod');
    expect(loose.warnings[0]?.message).toContain('on the quota is ');
    const tight = resolve({ [name]: tighter }, {}, { guardrails });
    expect(tight.policy).toMatchObject({ ...kept, sources: { [name]: 'namespace' } });
    expect(tight.warnings).toEqual([]);
  });

  it('where the guardrail says nothing, the installation’s own setting holds if it is less than the built-in value', () => {
    const installed = {
      cooldown: MINUTE,
      rejectionCooldown: 0,
      approvalTimeout: 5 * MINUTE,
      approvalReminder: MINUTE,
      increment: '1',
      threshold: '30',
    };
    const looser = {
      'cooldown-minutes': '0',
      'approval-timeout': '1s',
      'approval-reminder': '1s',
      increment: '0.5',
      threshold: '10',
    };
    expect(resolve({}, {}, installed)).toMatchObject({ policy: installed, warnings: [] });
    const { policy, warnings } = resolve({ 'rejection-cooldown': '0' }, looser, installed);
    expect(policy).toMatchObject(installed);
    expect(warnings.map(({ key }) => key)).toEqual(
      ['cooldown-minutes', 'approval-timeout', 'approval-reminder', 'increment', 'threshold'].map(
        (name) => `resizer.io/${name}`,
      ),
    );
    const wrong = resolve({ 'max-step': 'x' }, { ...looser, typo: '1' }, installed).warnings.map(({ key }) => key);
    expect(wrong.slice(-2), 'what is wrong comes last, as only ten are told in an hour').toEqual([
      'resizer.io/max-step',
      'resizer.io/typo',
    ]);
    expect(warnings[0]?.message).toBe(
      'resizer.io/cooldown-minutes: "0" on the quota is below the least of 1m, which the installation sets where guardrail built-in does not and which holds; write "1" or more',
    );
  });

  it('a warning says who sets what holds', () => {
    const said = (changed: Partial<Guardrail>, threshold: string): string | undefined =>
      resolve({}, { threshold }, { guardrails: [guardrail(changed)] }).warnings[0]?.message;
    const after = (bound: string): string => `resizer.io/threshold: ${bound} and which holds; write a value from`;
    expect(said({}, '30')).toContain(
      after('"30" on the quota is below the least of 50 %, which Headroom sets where guardrail prod does not'),
    );
    const [most] = read([{ name: 'prod', threshold: { greatest: '40' } }]);
    expect(said({ threshold: most?.threshold ?? null }, '30')).toContain(
      after('"30" on the quota is below the least of 40 %, which guardrail prod sets'),
    );
    expect(said({ threshold: most?.threshold ?? null }, '50')).toContain(
      after('"50" on the quota is above the greatest of 40 %, which guardrail prod sets'),
    );
  });

  it('a default of the configuration that allows more is replaced without a warning', () => {
    const { policy, warnings } = resolve({}, {}, { maxStep: '10', guardrails: [guardrail({ largestMaxStep: '3' })] });
    expect(policy).toMatchObject({ maxStep: '3', sources: { 'max-step': 'guardrail' } });
    expect(warnings).toEqual([]);
  });

  it('a guardrail that says only how great a threshold may be keeps its word', () => {
    const [said] = read([{ name: 'prod', threshold: { greatest: '40' } }]);
    const guardrails = said === undefined ? [] : [said];
    for (const written of ['30', '50']) {
      expect(resolve({}, { threshold: written }, { guardrails }).policy.threshold).toBe('40');
    }
    expect(resolve({}, {}, { guardrails, threshold: '30' }).policy.threshold).toBe('30');
  });

  it('a threshold of one resource stays within the range', () => {
    const guardrails = [guardrail({ threshold: { least: '50', greatest: '90' } })];
    const { policy, warnings } = resolve({ 'cpu-threshold': '1' }, {}, { guardrails });
    expect(thresholdFor(policy, 'requests.cpu')).toBe('50');
    expect(warnings.map(({ message }) => message)).toEqual([
      'resizer.io/cpu-threshold: "1" on the namespace is below the least of 50 %, which guardrail prod sets and which holds; write a value from "50" to "90"',
    ]);
  });

  it('a repository, a branch or a field that is not allowed is ignored, with a warning that names both', () => {
    const git = { repositories: ['acme/gitops'], branches: ['main'], fields: ['quotas'] };
    const guardrails = [guardrail({ git })];
    const wrong = { 'git-repository': 'acme/other', 'git-ref': 'mine', 'git-field': 'spec.replicas' };
    const { policy, warnings } = resolve({}, wrong, { guardrails });
    expect(policy.git).toEqual({});
    expect(warnings.map(({ message }) => message)).toEqual([
      'resizer.io/git-repository: "acme/other" on the quota is none of acme/gitops, which guardrail prod sets and which holds; write one of these',
      'resizer.io/git-ref: "mine" on the quota is none of main, which guardrail prod sets and which holds; write one of these',
      'resizer.io/git-field: "spec.replicas" on the quota is none of quotas, which guardrail prod sets and which holds; write one of these',
    ]);
    const right = { 'git-repository': 'Acme/gitops', 'git-ref': 'main', 'git-field': 'quotas["team-a"].cpu' };
    expect(resolve({}, right, { guardrails })).toMatchObject({ warnings: [] });
  });
});

describe('maximums', () => {
  it('of the namespace cannot be raised by its quotas', () => {
    const { policy, warnings } = resolve({ 'cpu-max': '10' }, { 'cpu-max': '500', 'requests.cpu-max': '400' });
    expect(maximumFor(policy, 'requests.cpu')).toBe('10');
    expect(maximumFor(policy, 'limits.cpu')).toBe('10');
    expect(warnings.map(({ message }) => message)).toEqual([
      'resizer.io/cpu-max: "500" on the quota is above the maximum of "10", which the annotation of the namespace sets and which holds; write at most "10"',
      'resizer.io/requests.cpu-max: "400" on the quota is above the maximum of "10", which the annotation of the namespace sets and which holds; write at most "10"',
    ]);
  });

  it('a quota may have a smaller one than its namespace, and a namespace a smaller one than the guardrail', () => {
    const guardrails = [guardrail({ max: { cpu: '100', memory: '64Gi' } })];
    const { policy, warnings } = resolve({ 'cpu-max': '50' }, { 'requests.cpu-max': '20' }, { guardrails });
    expect(warnings).toEqual([]);
    expect(['requests.cpu', 'limits.cpu', 'memory'].map((key) => maximumFor(policy, key))).toEqual([
      '20',
      '50',
      '64Gi',
    ]);
  });

  it('of the guardrail hold against annotations, and against a minimum above them', () => {
    const guardrails = [guardrail({ max: { cpu: '100' } })];
    const { policy, warnings } = resolve({ 'requests.cpu-max': '1000', 'cpu-min': '5000' }, {}, { guardrails });
    expect(maximumFor(policy, 'requests.cpu')).toBe('100');
    expect(minimumFor(policy, 'requests.cpu')).toBeUndefined();
    expect(warnings.map(({ message }) => message)).toEqual([
      'resizer.io/requests.cpu-max: "1k" on the namespace is above the maximum of "100", which guardrail prod sets and which holds; write at most "100"',
      'resizer.io/cpu-min: "5k" on the namespace is above the maximum of guardrail prod ("100") and ignored for cpu; write at most "100"',
    ]);
  });
});
