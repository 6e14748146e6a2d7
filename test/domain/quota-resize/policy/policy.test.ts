import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { parseMaxStep } from '../../../../domain/quota-resize/policy/max-step.ts';
import { PLAIN_SETTINGS } from '../../../../domain/quota-resize/policy/annotations.ts';
import { incrementFor, maxStepExceeded, thresholdFor } from '../../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../../domain/quota-resize/policy/resolve.ts';
import { defaults, resolve } from './policies.ts';

describe('resolvePolicy', () => {
  it('reads 200 annotations of an object and 4,000 characters of a value, plain settings first', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`resizer.io/requests.a${index}.org_gpu-threshold`, '50']),
    );
    const written = { ...many, 'resizer.io/mode': 'propose', 'resizer.io/git-path': 'a/'.repeat(60_000) };
    const { policy, warnings } = resolvePolicy({
      defaults,
      namespace: { name: 'team-a', annotations: written },
      quotaAnnotations: written,
    });
    expect(policy.mode).toBe('propose');
    expect(policy.git).toEqual({});
    expect(Object.keys(policy.thresholds)).toHaveLength(198);
    expect(warnings.map(({ message }) => message)).toContain(
      'resizer.io/: the quota has 5002 annotations, and 200 of them are read; write at most 200',
    );
    expect(warnings.map(({ message }) => message).join()).toContain('write at most 4000 characters');
    expect(JSON.stringify({ policy, warnings }).length).toBeLessThan(64_000);
  });

  it('without annotations the defaults hold', () => {
    expect(resolvePolicy({ defaults, namespace: { name: 'team-a' }, quotaAnnotations: undefined })).toEqual({
      policy: {
        enabled: true,
        mode: 'observe',
        threshold: '80',
        increment: '20',
        thresholds: {},
        increments: {},
        cooldown: 3_600_000,
        autoMerge: { allowed: true, reason: 'On' },
        maxStep: '2',
        burst: 'settle',
        minimums: {},
        maximums: {},
        steps: {},
        approval: 'none',
        approvalReminder: 86_400_000,
        approvalTimeout: null,
        freezeUntil: null,
        mergeWindows: [],
        rejectionCooldown: 86_400_000,
        rejectionTolerance: '20',
        reviewers: null,
        git: {},
        guardrail: {
          name: 'built-in',
          growthPerDay: '4',
          growthPerWeek: '16',
          totals: {},
          mergeWindows: [],
          git: {},
          approvalBy: 'any',
        },
        sources: Object.fromEntries(PLAIN_SETTINGS.map((name) => [name, 'default'])),
      },
      warnings: [],
    });
  });

  it('a later layer wins, and the source of each setting is told', () => {
    const { policy, warnings } = resolve(
      { threshold: '90', increment: '10%', mode: 'propose', 'cooldown-minutes': '20', 'cpu-threshold': '95' },
      { threshold: '85%', 'max-step': '3x', 'git-path': 'teams/{{ .Namespace }}', enabled: 'False' },
    );
    expect(warnings).toEqual([]);
    expect(policy).toMatchObject({
      enabled: false,
      mode: 'propose',
      threshold: '85',
      increment: '10',
      thresholds: { cpu: '95' },
      cooldown: 1_200_000,
      maxStep: '3',
      git: { path: 'teams/{{ .Namespace }}' },
      sources: {
        enabled: 'quota',
        mode: 'namespace',
        threshold: 'quota',
        increment: 'namespace',
        'cooldown-minutes': 'namespace',
        'cpu-threshold': 'namespace',
        'max-step': 'quota',
        'git-path': 'quota',
        'auto-merge': 'default',
      },
    });
  });

  it.each([
    ['90', '90'],
    ['90%', '90'],
    [' 62.50% ', '62.5'],
    ['100', '100'],
  ])('a threshold of %j is %s percent', (text, percent) => {
    expect(resolve({ threshold: text }).policy.threshold).toBe(percent);
  });

  it.each([
    ['threshold', '0'],
    ['threshold', '101'],
    ['threshold', '100.000000001'],
    ['threshold', 'high'],
    ['threshold', ''],
    ['cpu-threshold', '-5'],
    ['cpu-threshold', '0%'],
    ['increment', '0'],
    ['increment', '1001'],
    ['memory-increment', '20 percent'],
    ['cooldown-minutes', '-1'],
    ['cooldown-minutes', '1.5'],
    ['cooldown-minutes', '1h'],
    ['cooldown-minutes', '99999999999999999999'],
    ['enabled', ''],
    ['enabled', 'no'],
    ['auto-merge', '0'],
    ['mode', 'on'],
    ['max-step', '0.5'],
    ['max-step', '150%'],
    ['max-step', '1000.1'],
    ['git-path', '../secrets'],
    ['git-path', '{{ .Team }}'],
  ])('%s: %j is a warning that names key, value and what is right, and the layer below holds', (name, value) => {
    const lower = { threshold: '70', 'cpu-threshold': '71', 'git-path': 'a', 'max-step': '4' };
    const { policy, warnings } = resolve(lower, { [name]: value });
    expect(policy).toEqual(resolve(lower).policy);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatchObject({ key: `resizer.io/${name}`, value, layer: 'quota' });
    expect(warnings[0]?.message).toContain(`resizer.io/${name}`);
    expect(warnings[0]?.message).toContain(JSON.stringify(value));
    expect(warnings[0]?.message).toContain(`write ${warnings[0]?.wanted}`);
  });

  it('says in one sentence what would be right', () => {
    expect(resolve({ 'cpu-threshold': 'ninety' }).warnings.map(({ message }) => message)).toEqual([
      'resizer.io/cpu-threshold: "ninety" on the namespace is not understood and ignored; write a percentage above 0 and up to 100, such as "90" or "90%"',
    ]);
  });

  it('shortens a long value', () => {
    const [warning] = resolve({ threshold: 'x'.repeat(100_000) }).warnings;
    expect(warning?.value).toHaveLength(81);
    expect(warning?.message.length).toBeLessThan(300);
  });

  it('the mode goes up and down with the namespace, and stays observe in a dry run', () => {
    expect(resolve({ mode: 'propose' }).policy.mode).toBe('propose');
    expect(resolve({ mode: 'observe' }, {}, { mode: 'propose' }).policy.mode).toBe('observe');
    const dry = resolve({ mode: 'propose' }, {}, { mode: 'propose', dryRun: true }).policy;
    expect(dry.mode).toBe('observe');
    expect(dry.sources['mode']).toBe('default');
  });

  it('auto-merge can be switched off by an annotation and never on', () => {
    expect(resolve({ 'auto-merge': 'true' }, {}, { autoMerge: false }).policy.autoMerge).toEqual({
      allowed: false,
      reason: 'GlobalOff',
    });
    expect(resolve({ 'auto-merge': 'FALSE' }).policy.autoMerge).toEqual({ allowed: false, reason: 'NamespaceOff' });
    const contested = resolve({ 'auto-merge': 'false' }, { 'auto-merge': 'true' }).policy;
    expect(contested.autoMerge).toEqual({ allowed: false, reason: 'NamespaceOff' });
    expect(contested.sources['auto-merge']).toBe('namespace');
    expect(resolve({ 'auto-merge': 'true' }).policy.autoMerge).toEqual({ allowed: true, reason: 'On' });
  });

  it.each([
    ['treshold', 'resizer.io/threshold'],
    ['cpu-treshold', 'resizer.io/cpu-threshold'],
    ['cpuu-threshold', 'resizer.io/cpu-threshold'],
    ['requests.cpuu-increment', 'resizer.io/requests.cpu-increment'],
    ['autoMerge', 'resizer.io/auto-merge'],
    ['cooldown-minuets', 'resizer.io/cooldown-minutes'],
    ['enable', 'resizer.io/enabled'],
    ['gti-path', 'resizer.io/git-path'],
  ])('%s is unknown, and the closest known key is named', (name, closest) => {
    const { warnings } = resolve({ [name]: '90' });
    expect(warnings).toEqual([
      {
        key: `resizer.io/${name}`,
        value: '90',
        layer: 'namespace',
        wanted: closest,
        message: `resizer.io/${name} on the namespace is unknown and ignored; did you mean ${closest}?`,
      },
    ]);
  });

  it('an unknown key that is like none is told without a guess', () => {
    expect(resolve({ owner: 'team-a' }).warnings[0]?.message).toBe(
      'resizer.io/owner on the namespace is unknown and ignored; no such annotation is known',
    );
  });

  it('annotations of the headroom strategy and of others are passed over', () => {
    const { policy, warnings } = resolve({
      headroom: 'x',
      'cpu-headroom': '0.5',
      tolerance: '',
      'window-days': '14',
      'shrink-enabled': '',
    });
    expect(warnings).toEqual([]);
    expect(policy).toEqual(resolve().policy);
    const foreign = resolvePolicy({
      defaults,
      namespace: { name: 'team-a', annotations: { 'example.com/threshold': '1', 'resizer.io.example.com/mode': 'x' } },
      quotaAnnotations: {},
    });
    expect(foreign.warnings).toEqual([]);
  });

  it('never throws, and gives a policy that survives JSON', () => {
    const name = fc.oneof(
      fc.constantFrom(
        'threshold',
        'mode',
        'max-step',
        'git-path',
        'cpu-threshold',
        '__proto__',
        '-threshold',
        'constructor-increment',
      ),
      fc.string({ maxLength: 20 }),
    );
    const annotations = fc.dictionary(name, fc.oneof(fc.string(), fc.constantFrom('1', '2x', '{{', '..', '1e9')));
    fc.assert(
      fc.property(annotations, annotations, (namespace, quota) => {
        const { policy, warnings } = resolve(namespace, quota);
        expect(JSON.parse(JSON.stringify({ policy, warnings }))).toEqual({ policy, warnings });
      }),
    );
  });
});

describe('thresholdFor and incrementFor', () => {
  it.each([
    ['cpu', ['cpu', 'requests.cpu', 'limits.cpu']],
    ['memory', ['memory', 'requests.memory', 'limits.memory']],
    ['storage', ['storage', 'requests.storage', 'gold.storageclass.storage.k8s.io/requests.storage']],
    ['ephemeral-storage', ['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage']],
    ['pods', ['pods', 'count/pods']],
  ])('%s covers its own keys and no others', (family, covered) => {
    const { policy } = resolve({ [`${family}-threshold`]: '91', [`${family}-increment`]: '11' });
    const others = ['persistentvolumeclaims', 'count/jobs.batch', 'requests.nvidia.com/gpu', 'services'];
    const all = ['cpu', 'limits.memory', 'requests.storage', 'requests.ephemeral-storage', 'pods', ...others];
    for (const resource of covered) {
      expect([thresholdFor(policy, resource), incrementFor(policy, resource)]).toEqual(['91', '11']);
    }
    for (const resource of all.filter((name) => !covered.includes(name))) {
      expect([thresholdFor(policy, resource), incrementFor(policy, resource)]).toEqual(['80', '20']);
    }
  });

  it('the quota key wins over its family, and the family over the bare value', () => {
    const { policy } = resolve({ threshold: '70', 'cpu-threshold': '75', 'requests.cpu-threshold': '85' });
    expect(thresholdFor(policy, 'requests.cpu')).toBe('85');
    expect(thresholdFor(policy, 'limits.cpu')).toBe('75');
    expect(thresholdFor(policy, 'pods')).toBe('70');
  });

  it('a more specific value of the namespace wins over a bare one of the quota, an equally specific one does not', () => {
    const { policy } = resolve(
      { 'cpu-threshold': '75', 'memory-threshold': '76' },
      { threshold: '60', 'memory-threshold': '66' },
    );
    expect(thresholdFor(policy, 'requests.cpu')).toBe('75');
    expect(thresholdFor(policy, 'requests.memory')).toBe('66');
    expect(thresholdFor(policy, 'pods')).toBe('60');
  });

  it.each([
    ['requests.nvidia.com_gpu', 'requests.nvidia.com/gpu'],
    ['requests.example.com_big_gpu', 'requests.example.com/big_gpu'],
    ['count_jobs.batch', 'count/jobs.batch'],
    ['gold.storageclass.storage.k8s.io_requests.storage', 'gold.storageclass.storage.k8s.io/requests.storage'],
    ['count/deployments.apps', 'count/deployments.apps'],
    ['services.loadbalancers', 'services.loadbalancers'],
    ['requests.hugepages-2Mi', 'requests.hugepages-2Mi'],
  ])('the annotation %s-threshold is about %s', (written, resource) => {
    const { policy, warnings } = resolve({ [`${written}-threshold`]: '91', [`${written}-increment`]: '11' });
    expect(warnings).toEqual([]);
    expect(thresholdFor(policy, resource)).toBe('91');
    expect(incrementFor(policy, resource)).toBe('11');
    expect(policy.sources[`${resource}-threshold`]).toBe('namespace');
  });

  it('a resource with the name of an object’s own property has no value of its own', () => {
    expect(thresholdFor(resolve().policy, 'constructor')).toBe('80');
  });
});

describe('maxStepExceeded', () => {
  it('tells raises above the factor, exactly, and nothing at it', () => {
    const { policy } = resolve({ 'max-step': '1.5' });
    expect(
      maxStepExceeded(
        policy,
        { 'requests.cpu': '2', 'requests.memory': '1Gi', pods: '10', 'limits.cpu': '4' },
        { 'requests.cpu': '3', 'requests.memory': '1610612737', pods: '35', 'limits.cpu': '2' },
      ),
    ).toEqual([
      { resource: 'requests.memory', from: '1Gi', to: '1610612737', factor: '1.51' },
      { resource: 'pods', from: '10', to: '35', factor: '3.5' },
    ]);
  });

  it('any raise from 0, or from no limit at all, is one', () => {
    const { policy } = resolve({ 'max-step': '1000' });
    expect(maxStepExceeded(policy, { pods: '0', services: '0' }, { pods: '1', services: '0', secrets: '1' })).toEqual([
      { resource: 'pods', from: '0', to: '1', factor: 'infinite' },
      { resource: 'secrets', from: '0', to: '1', factor: 'infinite' },
    ]);
  });

  it('agrees with whole-number arithmetic for any amounts', () => {
    const milli = fc.integer({ min: 1, max: 10 ** 9 });
    fc.assert(
      fc.property(milli, milli, fc.integer({ min: 10, max: 100 }), (from, to, tenths) => {
        const policy = { ...resolve().policy, maxStep: parseMaxStep(`${tenths / 10}`) };
        const exceeded = maxStepExceeded(policy, { cpu: `${from}m` }, { cpu: `${to}m` });
        expect(exceeded.length === 1).toBe(BigInt(to) * 10n > BigInt(from) * BigInt(tenths));
      }),
    );
  });
});

describe('parseMaxStep', () => {
  it('reads factors and prints them canonically', () => {
    expect(['2', '2x', '2X', '1.50', '02', '1', '1000.0'].map(parseMaxStep)).toEqual([
      '2',
      '2',
      '2',
      '1.5',
      '2',
      '1',
      '1000',
    ]);
  });

  it('rejects other texts, naming them', () => {
    expect(() => parseMaxStep('double')).toThrow('"double" is not a factor from 1 to 1000');
    expect(() => parseMaxStep('0.99')).toThrow(RangeError);
  });
});
