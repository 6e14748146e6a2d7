/** Cases of node groups that the sample has not: their deviations, and other forms of the same input. */
import { describe, expect, it } from 'vitest';
import { type Adapter, NotApplicable } from './adapter.ts';
import { nodeGroupSuites } from './node-group/suites.ts';

const kinds: Readonly<Record<string, Adapter>> = nodeGroupSuites[0]?.kinds ?? {};

/** Whether the answer is the expected one, and under which deviation. */
function answer(kind: string, input: unknown, expected: unknown): string {
  const judgement = kinds[kind]?.({ kind, input, expected });
  return `${judgement?.agrees} ${judgement?.deviation ?? ''}`.trim();
}

describe('deviations of node groups', () => {
  const zone = { key: 'zone', operator: 'In', values: ['a'] };

  it('empty terms match nothing, and do not hide those beside them', () => {
    const name = 'empty-terms-match-nothing';
    expect(answer('node-affinity-terms', { labels: {}, terms: [] }, { matches: true })).toBe(`true ${name}`);
    expect(answer('node-affinity-terms', { labels: {}, terms: [[]] }, { matches: true })).toBe(`true ${name}`);
    const beside = (labels: object) =>
      answer('node-affinity-terms', { labels, terms: [[], [zone]] }, { matches: true });
    expect([beside({ zone: 'a' }), beside({ zone: 'b' })]).toEqual([`true ${name}`, `true ${name}`]);
  });

  it('Gt and Lt compare numbers', () => {
    const input = (operator: string) => ({ labels: { cores: '8' }, key: 'cores', operator, values: ['4'] });
    expect(answer('node-affinity-req', input('Gt'), { matches: false })).toBe('true numbers-are-compared');
    expect(answer('node-affinity-req', input('Lt'), { matches: false })).toBe('true numbers-are-compared');
  });

  it('a wildcard tolerates only the effect that it names', () => {
    const input = (effect: string) => ({
      tolerations: [{ key: '', operator: 'Exists', effect }],
      remainingNodeTaints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
    });
    expect(answer('safety-taints', input('NoExecute'), { fits: true })).toBe('true wildcard-has-its-effect');
    expect(answer('safety-taints', input('NoSchedule'), { fits: true })).toBe('true');
  });

  it('a taint that is only preferred keeps nobody from a group', () => {
    const taints = [{ key: 'a', value: 'b', effect: 'PreferNoSchedule' }];
    expect(answer('pod-matches-group', { taints }, { matches: false })).toBe('true preference-keeps-nobody');
  });

  it('hours that nobody can read keep a node', () => {
    const nodeAnnotations = { 'autoscaler.vpsie.com/scale-down-allowed-hours': 'at night' };
    expect(answer('policy-allow', { nodeAnnotations }, { allowed: true })).toBe('true unreadable-hours-keep');
  });

  it('a group has one node at most at least, and its minimum is asked about before its cooldown', () => {
    expect(answer('validate-node-count', { minNodes: 0, maxNodes: 0 }, { valid: true })).toBe('true one-node-at-most');
    const both = { minNodes: 2, maxNodes: 5, nodes: 2, cooldownMinutes: 10, lastScaleDownAgeMinutes: 1 };
    expect(answer('can-scale-down', both, { allowed: false, reason: 'within cooldown period' })).toBe(
      'true minimum-first',
    );
  });
});

describe('the forms of cases of node groups', () => {
  it('have volumes as texts and as objects', () => {
    const blocked = (volume: object) =>
      answer('safety-local-storage', { volumes: [volume] }, { blocked: true }).startsWith('true');
    expect(
      [{ hostPath: '/a' }, { emptyDir: {} }, { emptyDir: '' }, { persistentVolumeClaim: 'unknown' }].map(blocked),
    ).toEqual([true, true, true, true]);
    expect([{ emptyDir: { medium: 'Memory' } }, { emptyDir: 'Memory' }, { secret: 'a' }].map(blocked)).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('have anti-affinity to the own namespace, to named ones and to selected ones', () => {
    const blocked = (input: object) =>
      answer('safety-anti-affinity', { readyNodes: 3, remove: 1, ...input }, { blocked: true });
    expect(blocked({ matching: { default: 3 } })).toBe('true');
    expect(blocked({ matching: { default: 2 } })).toBe('false');
    expect(blocked({ matching: { other: 3 } })).toBe('false');
    expect(blocked({ matching: { other: 3 }, namespaceSelector: {} })).toBe('true');
    const labelled = { matching: { other: 3 }, namespaceSelector: { matchLabels: { team: 'a' } } };
    expect([blocked(labelled), blocked({ ...labelled, namespaceSelector: { team: 'a' } })]).toEqual(['true', 'true']);
    expect(blocked({ ...labelled, namespaceLabels: { other: { team: 'a' } } })).toBe('true');
    expect(blocked({ ...labelled, namespaceLabels: { other: { team: 'b' } } })).toBe('false');
    expect(blocked({ matching: { default: 3 }, topologyKey: 'topology.kubernetes.io/zone' })).toBe('false');
  });

  it('have pods that keep one another off their nodes', () => {
    const blocked = (readyNodes: number, remove: number, podsWithHostnameAntiAffinity: number) => {
      const input = { readyNodes, remove, podsWithHostnameAntiAffinity };
      return answer('safety-anti-affinity', input, { blocked: true });
    };
    expect([blocked(3, 1, 3), blocked(2, 1, 2), blocked(4, 2, 3)]).toEqual(['true', 'true', 'true']);
    expect([blocked(3, 1, 2), blocked(3, 1, 1), blocked(4, 2, 2)]).toEqual(['false', 'false', 'false']);
  });

  it('have pods that the kubelet makes, by their owner or by a flag of their own', () => {
    const pods = [
      { name: 'a', owner: 'mirror' },
      { name: 'b', owner: 'Node' },
      { name: 'c', static: true },
      { name: 'f', annotations: { 'kubernetes.io/config.mirror': 'hash' } },
      { name: 'd', owner: 'ReplicaSet' },
      { name: 'e' },
    ];
    expect(answer('drain-filter', { pods }, { evict: ['d', 'e'] })).toBe('true');
  });

  it('have limits of phases that are those of Headroom, or say nothing of it', () => {
    const late = (timeoutMinutes: number) =>
      answer(
        'lifecycle-timeout',
        { phase: 'Provisioning', createdAgeMinutes: 11, timeoutMinutes },
        { phase: 'Failed' },
      );
    expect(late(10)).toBe('true');
    expect(() => late(20)).toThrow(NotApplicable);
  });

  it('have machines in time, machines that are gone, and requests that fail', () => {
    const waiting = { phase: 'Provisioning', requeue: true };
    expect(answer('lifecycle-timeout', { phase: 'Provisioning', createdAgeMinutes: 5 }, waiting)).toBe('true');
    expect(answer('vm-delete', { delete: 500 }, { deletedAtSet: false, error: true, deleteCalls: 3 })).toBe('true');
    expect(answer('vm-delete', { vpsID: 0, identifiers: ['a'], delete: 200 }, { deletedAtSet: true })).toBe('true');
    expect(answer('vm-delete', { delete: [500, 200] }, { deletedAtSet: true, error: false })).toBe('true');
  });

  it('have data that are fresh where nobody says how old they are', () => {
    const low = (more: object) =>
      answer(
        'underutilized-window',
        {
          cpuThreshold: 50,
          memoryThreshold: 50,
          windowMinutes: 10,
          samples: [9, 8, 7].map((ageMinutes) => ({ ageMinutes, cpu: 30, memory: 30 })),
          ...more,
        },
        { underutilized: true },
      );
    expect([low({}), low({ lastUpdatedAgeMinutes: 6 }), low({ windowMinutes: 5 })]).toEqual(['true', 'false', 'false']);
  });

  it('that the sample has not are answered where they can be read, and not applicable elsewhere', () => {
    expect(answer('needs-scale-down', { minNodes: 1, currentNodes: 5, desiredNodes: 3 }, { scaleDown: true })).toBe(
      'true',
    );
    expect(() => answer('needs-scale-down', {}, { other: true })).toThrow(NotApplicable);
    expect(() => answer('candidate-priority', {}, { priority: 1 })).toThrow(NotApplicable);
    expect(answer('candidate-priority', { cpu: 20, memory: 40, pods: 2, systemPods: 1 }, { priority: 1000 })).toBe(
      'true',
    );
    expect(answer('validate-labels', { labels: { 'k8s.io/a': 'b' } }, { valid: false })).toBe('true');
    expect(answer('validate-offering-ids', { offeringIDs: ['a_b'] }, { valid: false })).toBe('true');
  });

  it('have machines that failed, which are deleted at once', () => {
    const left = (deleted: boolean, requeueAfter: unknown) =>
      answer('failed-ttl', { ttlMinutes: 30, failedAgeMinutes: 10 }, { deleted, requeueAfter });
    expect([left(true, 0), left(false, '>0'), left(false, 1200)]).toEqual([
      'true',
      'true failed-go-at-once',
      'true failed-go-at-once',
    ]);
  });

  it('are not applicable where the product has no such question', () => {
    expect(() => answer('scheduling-message', { message: 'a' }, { constraint: 'cpu' })).toThrow(NotApplicable);
    expect(() => answer('event-window', { windowSeconds: 60 }, { keptAges: [] })).toThrow(NotApplicable);
    expect(() => answer('policy-thresholds', { mode: 'balanced' }, { cpu: 50 })).toThrow(NotApplicable);
  });

  it('have several groups, of which no points say which one is first', () => {
    const groups = ['a', 'b'].map((name, index) => ({
      name,
      labels: { env: 'production' },
      maxNodes: 5,
      desiredNodes: 3 - index,
      managed: true,
    }));
    const input = { podNodeSelectors: ['env=production'], groups };
    expect(answer('match-groups', input, { matches: 2, first: 'b' })).toBe('true');
    expect(answer('match-groups', input, { matches: 1, first: 'b' })).toBe('false');
    const unmanaged = { ...input, groups: groups.map((group) => ({ ...group, managed: false })) };
    expect(answer('match-groups', unmanaged, { matches: 0, first: null })).toBe('true');
  });

  it('have groups without any type, and nodes without candidates', () => {
    expect(answer('select-instance-type', { offeringIDs: [] }, { offering: '', error: true })).toBe('true');
    const nodes = [{ name: 'a', cpu: 30, memory: 30, samples: 5 }];
    expect(answer('candidates', { nodes, thresholds: 50, managed: false }, { candidates: [] })).toBe('true');
  });
});
