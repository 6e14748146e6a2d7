import { describe, expect, it } from 'vitest';
import {
  type DecidedRaise,
  totalLimits,
  unreadableWarnings,
  withoutGiven,
} from '../../../../domain/quota-resize/policy/totals.ts';
import { approvalRequirementOf } from '../../../../domain/quota-resize/decide/approval-requirement.ts';
import { change } from '../model/observations.ts';
import { resolve } from './policies.ts';
import { forbiddenPlace } from '../../../../domain/quota-resize/policy/allowed-place.ts';

const guardrail = { name: 'prod', totals: { cpu: '100' } };
const quotas = [
  { namespace: 'a', quota: 'q', hard: { 'requests.cpu': '10', memory: '1Gi' } },
  { namespace: 'b', quota: 'q', hard: { 'requests.cpu': '20' } },
  { namespace: 'b', quota: 'r', hard: { 'requests.cpu': '30', 'limits.cpu': '90' } },
];

function raise(quota: string, cpu: string, decidedAt: number, isMerged = false): DecidedRaise {
  return { namespace: 'b', quota, decision: `d-${decidedAt}`, decidedAt, isMerged, limits: { 'requests.cpu': cpu } };
}

function left(
  decided: readonly DecidedRaise[],
  decision: { id: string; decidedAt: number; grownAt?: number } | null = null,
) {
  const own = {
    namespace: 'a',
    quota: 'q',
    hard: { 'requests.cpu': '10', 'limits.cpu': '5', memory: '1Gi' },
    decision,
  };
  return Object.fromEntries(
    totalLimits(guardrail, own, quotas, decided).map(({ resource, limit }) => [resource, limit]),
  );
}

describe('the totals of a guardrail', () => {
  it('leave what the other quotas do not have, for each key by itself', () => {
    expect(left([])).toEqual({ 'requests.cpu': '50', 'limits.cpu': '10' });
  });

  it('count what is decided and not in the cluster yet, and the cluster where it has more', () => {
    expect(left([raise('q', '35', 1), raise('r', '5', 2)])).toMatchObject({ 'requests.cpu': '35' });
  });

  it('count the decisions before its own, so that of two that do not fit the later one waits', () => {
    const decided = [raise('q', '35', 1), raise('r', '60', 3)];
    expect(left(decided, { id: 'own', decidedAt: 2 })).toMatchObject({ 'requests.cpu': '35' });
    expect(left(decided, { id: 'own', decidedAt: 4 })).toMatchObject({ 'requests.cpu': '5' });
  });

  it('count the other raises of its own decision, so that both of them fit', () => {
    const decided = [raise('q', '40', 2), { ...raise('q', '30', 2), namespace: 'a' }];
    expect(left(decided, { id: 'd-2', decidedAt: 2 })).toMatchObject({ 'requests.cpu': '30' });
  });

  it('count what is merged, whenever it was decided', () => {
    expect(left([raise('q', '40', 3)], { id: 'own', decidedAt: 2 })).toMatchObject({ 'requests.cpu': '50' });
    expect(left([raise('q', '40', 3, true)], { id: 'own', decidedAt: 2 })).toMatchObject({ 'requests.cpu': '30' });
  });

  it('count for a decision that has grown those before its growth: they were checked with less of it', () => {
    const decided = [raise('q', '40', 3), raise('r', '50', 5)];
    expect(left(decided, { id: 'own', decidedAt: 2, grownAt: 4 })).toMatchObject({ 'requests.cpu': '30' });
  });

  it('leave nothing where they are exceeded already', () => {
    expect(left([raise('r', '500', 1)])).toMatchObject({ 'requests.cpu': '0' });
  });
});

/** What the totals leave for the key of a quota with these limits, beside other quotas. */
function leaves(
  totals: Readonly<Record<string, string>>,
  hard: Readonly<Record<string, string>>,
  others: readonly Readonly<Record<string, string>>[],
  decided: readonly DecidedRaise[] = [],
) {
  const own = { namespace: 'a', quota: 'own', hard, decision: null };
  const beside = others.map((theirs, at) => ({ namespace: 'b', quota: `q${at}`, hard: theirs }));
  return totalLimits({ name: 'prod', totals }, own, [own, ...beside], decided);
}

function amounts(...given: Parameters<typeof leaves>): Readonly<Record<string, string>> {
  return Object.fromEntries(leaves(...given).map(({ resource, limit }) => [resource, limit]));
}

const GOLD = 'gold.storageclass.storage.k8s.io/requests.storage';
const SILVER = 'silver.storageclass.storage.k8s.io/requests.storage';
const FAST = 'fast.volumeattributesclass.storage.k8s.io/requests.storage';

/** Kubernetes takes it, and whoever sums it up works for minutes. */
const UNREADABLE = '1e1002';

describe('an amount that cannot be read', () => {
  it('stops no totals of other keys', () => {
    const others = [{ 'requests.cpu': '20', 'count/jobs.batch': UNREADABLE }];
    expect(leaves({ cpu: '100' }, { 'requests.cpu': '10' }, others)).toMatchObject([{ limit: '80' }]);
  });

  it('counts as unbounded in a total of its own key, and is named', () => {
    const others = [{ 'requests.cpu': UNREADABLE, memory: '1Gi' }, { 'requests.cpu': '20' }];
    const [cpu, memory] = leaves({ cpu: '100', memory: '4Gi' }, { 'requests.cpu': '10', memory: '1Gi' }, others);
    expect(memory).toMatchObject({ limit: '3Gi' });
    expect(memory).not.toHaveProperty('unreadable');
    expect(cpu).toMatchObject({
      limit: '0',
      unreadable: { namespace: 'b', quota: 'q0', resource: 'requests.cpu', value: UNREADABLE },
    });
    expect(cpu?.why).toContain('requests.cpu "1e1002" of quota b/q0 cannot be read and counts as unbounded');
  });

  it('of the quota itself counts as unbounded as well', () => {
    const written = { namespace: 'a', quota: 'own', hard: { [GOLD]: '10Gi', [SILVER]: UNREADABLE } };
    const own = { ...written, hard: { [GOLD]: '10Gi' }, decision: null };
    expect(totalLimits({ name: 'prod', totals: { storage: '100Gi' } }, own, [written], [])).toMatchObject([
      { resource: GOLD, limit: '0', unreadable: { namespace: 'a', quota: 'own', resource: SILVER } },
    ]);
  });

  it('is a warning that names quota, key and value once', () => {
    const limits = leaves({ cpu: '100' }, { 'requests.cpu': '10' }, [{ 'requests.cpu': UNREADABLE }]);
    expect(unreadableWarnings([...limits, ...limits])).toMatchObject([
      {
        key: 'requests.cpu "1e1002" of quota b/q0',
        value: UNREADABLE,
        message:
          'requests.cpu "1e1002" of quota b/q0 cannot be read and counts as unbounded, so nothing is left of a total of the guardrail; write an amount that is meant',
      },
    ]);
  });
});

describe('a family', () => {
  it.each([
    ['cpu', 'requests.cpu', 'cpu'],
    ['cpu', 'cpu', 'requests.cpu'],
    ['requests.cpu', 'cpu', 'requests.cpu'],
    ['memory', 'requests.memory', 'memory'],
    ['ephemeral-storage', 'ephemeral-storage', 'requests.ephemeral-storage'],
    ['hugepages-2Mi', 'requests.hugepages-2Mi', 'hugepages-2Mi'],
    ['pods', 'pods', 'count/pods'],
    ['count/pods', 'pods', 'count/pods'],
    ['secrets', 'count/secrets', 'secrets'],
    ['persistentvolumeclaims', 'count/persistentvolumeclaims', 'persistentvolumeclaims'],
    ['storage', 'requests.storage', GOLD],
    ['requests.storage', GOLD, 'requests.storage'],
    ['storage', GOLD, SILVER],
    ['persistentvolumeclaims', 'persistentvolumeclaims', 'gold.storageclass.storage.k8s.io/persistentvolumeclaims'],
  ])('%s is summed up over %s of one quota and %s of another', (total, own, other) => {
    expect(amounts({ [total]: '100' }, { [own]: '10' }, [{ [other]: '30' }, { [own]: '5' }])).toEqual({ [own]: '65' });
  });

  it('counts a quota once: the greatest of what its keys say of the same thing', () => {
    const twice = { cpu: '30', 'requests.cpu': '20' };
    expect(amounts({ cpu: '100' }, { 'requests.cpu': '10' }, [twice])).toEqual({ 'requests.cpu': '70' });
    expect(amounts({ cpu: '100' }, twice, [])).toEqual({ cpu: '100', 'requests.cpu': '100' });
  });

  it('has requests and limits summed up each by itself, both against the total of the family', () => {
    const hard = { 'requests.cpu': '10', 'limits.cpu': '20' };
    const others = [{ cpu: '30' }, { 'limits.cpu': '50' }];
    expect(amounts({ cpu: '100' }, hard, others)).toEqual({ 'requests.cpu': '70', 'limits.cpu': '50' });
    expect(amounts({ cpu: '100', 'limits.cpu': '200' }, hard, others)).toMatchObject({ 'limits.cpu': '150' });
    expect(amounts({ 'requests.cpu': '100' }, hard, others)).toEqual({ 'requests.cpu': '70' });
  });

  it('counts the classes of a quota together where nothing bounds the whole, and that bound where there is one', () => {
    const total = { storage: '100' };
    expect(amounts(total, { 'requests.storage': '10' }, [{ [GOLD]: '20', [SILVER]: '30' }])).toEqual({
      'requests.storage': '50',
    });
    expect(
      amounts(total, { 'requests.storage': '10' }, [{ 'requests.storage': '25', [GOLD]: '20', [SILVER]: '30' }]),
    ).toEqual({
      'requests.storage': '75',
    });
    // A claim has one class of each kind.
    expect(amounts(total, { 'requests.storage': '10' }, [{ [GOLD]: '20', [SILVER]: '30', [FAST]: '40' }])).toEqual({
      'requests.storage': '50',
    });
    expect(amounts(total, { [GOLD]: '10', [SILVER]: '20' }, [{ [GOLD]: '30' }])).toEqual({
      [GOLD]: '50',
      [SILVER]: '60',
    });
  });

  it('bounds a class by its own total and by that of all of them', () => {
    const limits = leaves({ storage: '100', [GOLD]: '40' }, { [GOLD]: '10' }, [{ [GOLD]: '20', [SILVER]: '30' }]);
    expect(limits.map(({ limit }) => limit)).toEqual(['20', '50']);
  });

  it('counts what a decision gives in another spelling', () => {
    const decided = [{ ...raise('q0', '0', 1), limits: { [SILVER]: '60' } }];
    expect(
      amounts({ storage: '100' }, { 'requests.storage': '10' }, [{ [GOLD]: '20', [SILVER]: '30' }], decided),
    ).toEqual({
      'requests.storage': '20',
    });
  });

  it('is not raised beyond the total by two classes that each fit alone', () => {
    const hard = { [GOLD]: '10', [SILVER]: '10' };
    const unattended = leaves({ storage: '30' }, hard, []);
    const policy = { ...resolve({ 'max-step': '10' }).policy, unattended };
    const raised = (gold: string, silver: string) =>
      approvalRequirementOf(policy, [
        change({ resource: GOLD, from: '10', to: gold }),
        change({ resource: SILVER, from: '10', to: silver }),
      ]);
    expect(raised('15', '15')).toBeNull();
    expect(raised('20', '10')).toBeNull();
    expect(raised('16', '15')).toMatchObject({ reason: 'GuardrailExceeded' });
  });

  it('is not given twice by a decision that raises quotas with other spellings', () => {
    const unattended = leaves({ cpu: '100' }, { 'requests.cpu': '10' }, []);
    const given = [
      change({ resource: 'cpu', from: '10', to: '40' }),
      change({ resource: 'memory', from: '1', to: '9' }),
    ];
    const raised = [{ hard: { cpu: '10', memory: '1' }, changes: given }];
    expect(withoutGiven({ unattended }, raised).unattended).toMatchObject([{ limit: '70' }]);
  });

  it('is given once to a quota that bounds the same thing twice, and not where the quota has a bound of the whole', () => {
    const leftAfter = (hard: Readonly<Record<string, string>>, to: Readonly<Record<string, string>>) => {
      const own = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '10']));
      const unattended = leaves({ cpu: '30', storage: '30', [GOLD]: '30' }, own, []);
      const changes = Object.entries(to).map(([resource, most]) =>
        change({ resource, from: hard[resource] ?? '0', to: most }),
      );
      const { unattended: rest } = withoutGiven({ unattended }, [{ hard, changes }]);
      return Object.fromEntries(rest.map(({ resource, sum = '', limit }) => [`${resource} of ${sum}`, limit]));
    };
    expect(leftAfter({ cpu: '10', 'requests.cpu': '10' }, { cpu: '15', 'requests.cpu': '15' })).toEqual({
      'cpu of requests.cpu': '25',
      'requests.cpu of requests.cpu': '25',
    });
    expect(leftAfter({ 'requests.storage': '40', [GOLD]: '10' }, { [GOLD]: '20' })).toEqual({
      'requests.storage of requests.storage': '30',
      [`${GOLD} of ${GOLD}`]: '20',
    });
  });
});

describe('a place that a guardrail does not allow', () => {
  const values = [{ path: 'clusters/prod/team-a/quota.yaml', field: 'spec.hard["requests.cpu"]' }];
  const place = { repository: 'acme/gitops', branch: 'main', values };
  it.each([
    [{}, null],
    [{ repositories: ['Acme/gitops'], branches: ['main'] }, null],
    [{ paths: ['clusters/{{ .Cluster }}/{{ .Namespace }}'], fields: ['spec.hard'] }, null],
    [{ paths: ['.'] }, null],
    [{ repositories: ['acme/x'] }, 'the quota is in acme/gitops, and guardrail prod allows acme/x only'],
    [{ branches: ['live'] }, 'the quota is changed in branch main of acme/gitops, and guardrail prod allows live only'],
    [
      { paths: ['clusters/dev', 'clusters/pro'] },
      'the quota is in clusters/prod/team-a/quota.yaml of acme/gitops, and guardrail prod allows clusters/dev, clusters/pro only',
    ],
    [
      { fields: ['spec.replicas'] },
      'the limit is spec.hard["requests.cpu"] of clusters/prod/team-a/quota.yaml, and guardrail prod allows spec.replicas only',
    ],
  ])('with %o: %s', (git, expected) => {
    expect(
      forbiddenPlace({ name: 'prod', git }, { cluster: 'prod', namespace: 'team-a', quota: 'compute' }, place),
    ).toBe(expected);
  });
});
