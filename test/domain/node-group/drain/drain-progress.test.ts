import { describe, expect, it } from 'vitest';
import {
  afterLook,
  DRAIN_TIMEOUT_MS,
  type DrainLook,
  type EvictionAnswer,
  evictionsDue,
  type LookVerdict,
} from '../../../../domain/node-group/drain/drain-progress.ts';
import { DisruptionBudgets } from '../../../../domain/node-group/drain/disruption-budgets.ts';
import type { DrainedPod } from '../../../../domain/node-group/drain/pods-to-evict.ts';
import { aBudget, aPod, ownerOf } from './pods.ts';

const BEGAN = Date.parse('2026-11-23T10:00:00Z');
/** Long after the cordon. */
const NOW = BEGAN + 60_000;
const EVICTED: EvictionAnswer = { kind: 'evicted' };
const REFUSED: EvictionAnswer = {
  kind: 'refused',
  budgets: ['shop/web'],
  message: 'The disruption budget web needs 2 healthy pods and has 2 currently',
};

function aLook(more: Partial<DrainLook> = {}): DrainLook {
  return {
    at: NOW,
    drainBegan: BEGAN,
    isNodeReady: true,
    halt: null,
    pods: [],
    budgets: new DisruptionBudgets([]),
    reason: 'Underutilized',
    timeoutMs: DRAIN_TIMEOUT_MS,
    progress: null,
    takenBack: 0,
    ...more,
  };
}

const due = (look: DrainLook): readonly string[] => evictionsDue(look).map(({ pod }) => pod.name);

/** The verdict after these answers, by the pods' names. */
function after(look: DrainLook, answers: Readonly<Record<string, EvictionAnswer>> = {}): LookVerdict {
  return afterLook(look, new Map(Object.entries(answers).map(([name, answer]) => [`uid-${name}`, answer])));
}

describe('the evictions that are due', () => {
  it('are of the first stage, without pods that are on their way out', () => {
    const pods = [aPod('a'), aPod('b', { deletesAt: NOW + 1 }), aPod('dns', { namespace: 'kube-system' })];
    expect(due(aLook({ pods }))).toEqual(['a']);
  });

  it('begin with pods that use no budget up', () => {
    const pods = [
      aPod('a'),
      aPod('unready', { isReady: false }),
      aPod('waiting', { phase: 'Pending' }),
      aPod('x', { labels: {} }),
    ];
    expect(due(aLook({ pods, budgets: new DisruptionBudgets([aBudget('web', { disruptionsAllowed: 1 })]) }))).toEqual([
      'unready',
      'waiting',
      'x',
      'a',
    ]);
    const unhealthy = new DisruptionBudgets([aBudget('web', { currentHealthy: 1 })]);
    expect(due(aLook({ pods, budgets: unhealthy }))).toEqual(['waiting', 'x', 'a', 'unready']);
  });

  it('give no pod more than ten minutes', () => {
    const pods = [aPod('patient', { gracePeriodSeconds: 601 }), aPod('quick', { gracePeriodSeconds: 600 })];
    expect(evictionsDue(aLook({ pods })).map(({ grace }) => grace)).toEqual([600, null]);
  });

  const SAFE = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
  const UNSAFE: readonly (readonly [Partial<DrainedPod>, string])[] = [
    [{ annotations: { [SAFE]: 'false' } }, `shop/kept has the annotation ${SAFE}=false`],
    [
      { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
      'the annotation karpenter.sh/do-not-disrupt of shop/kept keeps it where it is',
    ],
    [
      { annotations: { 'karpenter.sh/do-not-disrupt': '1000000h' } },
      'the annotation karpenter.sh/do-not-disrupt of shop/kept keeps it where it is until 2084-01-29T16:00:00Z',
    ],
    // They have come since the plan, which would have chosen another node.
    [{ owner: null }, 'shop/kept has no controller that would make it again'],
    [{ localVolumes: ['data'] }, 'the volume data of shop/kept would be lost with the node'],
    [{ owner: null, phase: 'Pending' }, 'shop/kept has no controller that would make it again'],
  ];

  it.each(UNSAFE)('are none where a pod has %j, which blocks the drain', (more, why) => {
    const look = aLook({ pods: [aPod('a'), aPod('kept', more)] });
    expect(due(look)).toEqual([]);
    expect(after(look)).toEqual({
      kind: 'blocked',
      reason: 'NotSafeToEvict',
      pdb: null,
      detail: `a pod must not be evicted: ${why}`,
    });
    expect(due({ ...look, reason: 'Requested' }).toSorted()).toEqual(['a', 'kept']);
    expect(due({ ...look, reason: 'NotReady', isNodeReady: false }).toSorted()).toEqual(['a', 'kept']);
  });

  it('are of pods of DaemonSets that ask for it whatever they have, as plans ask nothing of them', () => {
    const annotations = { 'cluster-autoscaler.kubernetes.io/enable-ds-eviction': 'true' };
    const agent = aPod('agent', { owner: ownerOf('DaemonSet'), localVolumes: ['cache'], annotations });
    expect(due(aLook({ pods: [agent] }))).toEqual(['agent']);
  });

  it('are of pods that their owners let go, although nobody makes them again', () => {
    const lone = { owner: null, localVolumes: ['data'], annotations: { [SAFE]: 'true' } };
    expect(due(aLook({ pods: [aPod('a'), aPod('lone', lone)] }))).toEqual(['a', 'lone']);
  });
});

describe('a drain', () => {
  it('is over when nothing is left that leaves, and the cordon is known to the scheduler', () => {
    const pods = [aPod('done', { phase: 'Succeeded' })];
    expect(after(aLook({ pods }))).toEqual({ kind: 'empty' });
    expect(after(aLook({ pods, at: BEGAN + 2_999 }))).toMatchObject({ kind: 'wait', detail: 'no pods are left' });
  });

  it('waits for evicted pods to be gone, and knows how many are left', () => {
    expect(after(aLook({ pods: [aPod('a'), aPod('b')] }), { a: EVICTED, b: { kind: 'gone' } })).toEqual({
      kind: 'wait',
      detail: '1 pod is left: shop/a',
      progress: { at: NOW, left: 1, waiting: 0 },
      refusedBy: [],
    });
  });

  it('names the budget that refuses, the pod and since when nothing has left', () => {
    const look = aLook({ pods: [aPod('a'), aPod('b')], progress: { at: BEGAN, left: 2, waiting: 2 } });
    expect(after(look, { a: REFUSED, b: REFUSED })).toEqual({
      kind: 'wait',
      detail:
        '2 pods are left: shop/a and shop/b; the PodDisruptionBudget shop/web refuses the eviction of shop/a (The disruption budget web needs 2 healthy pods and has 2 currently), and nothing has left since 2026-11-23T10:00:00Z',
      progress: { at: BEGAN, left: 2, waiting: 2 },
      refusedBy: ['shop/web'],
    });
  });

  it('is blocked by a budget after its time limit without progress, and not before', () => {
    const look = aLook({ pods: [aPod('a')], progress: { at: NOW - DRAIN_TIMEOUT_MS, left: 1, waiting: 1 } });
    expect(after(look, { a: REFUSED })).toMatchObject({
      kind: 'blocked',
      reason: 'PodDisruptionBudget',
      pdb: 'shop/web',
      detail: expect.stringContaining('the PodDisruptionBudget shop/web refuses the eviction of shop/a') as string,
    });
    expect(after({ ...look, timeoutMs: DRAIN_TIMEOUT_MS + 1 }, { a: REFUSED }).kind).toBe('wait');
  });

  it('goes on as long as fewer pods are left than before', () => {
    const progress = { at: NOW - DRAIN_TIMEOUT_MS, left: 3, waiting: 3 };
    expect(after(aLook({ pods: [aPod('a'), aPod('b')], progress }), { a: REFUSED, b: REFUSED })).toMatchObject({
      kind: 'wait',
      progress: { at: NOW, left: 2, waiting: 2 },
    });
  });

  it('waits longer than its time limit for a pod that has time to end, whatever else is refused', () => {
    const pods = [aPod('a'), aPod('slow', { deletesAt: NOW + 200_000 })];
    const progress = { at: NOW - DRAIN_TIMEOUT_MS, left: 2, waiting: 1 };
    expect(after(aLook({ pods, progress }), { a: REFUSED }).kind).toBe('wait');
  });

  it('is blocked by pods that come back as often as they are evicted', () => {
    const progress = { at: NOW - DRAIN_TIMEOUT_MS - 630_000, left: 1, waiting: 0 };
    expect(after(aLook({ pods: [aPod('bound')], progress }), { bound: EVICTED })).toMatchObject({
      kind: 'blocked',
      reason: 'PodsComeBack',
    });
  });

  it('is not said to have pods that come back where they stay with their namespace, which is being deleted', () => {
    const progress = { at: NOW - DRAIN_TIMEOUT_MS - 630_000, left: 2, waiting: 0 };
    const look = aLook({ pods: [aPod('a'), aPod('b')], progress });
    expect(after(look, { a: { kind: 'leftToNamespace' }, b: EVICTED })).toEqual({
      kind: 'blocked',
      reason: 'PodsStuck',
      pdb: null,
      detail:
        'shop/a cannot be evicted, as its namespace is being deleted, and nothing has deleted it since 2026-11-23T09:45:30Z',
    });
    expect(after({ ...look, progress: null }, { a: { kind: 'leftToNamespace' }, b: EVICTED })).toMatchObject({
      kind: 'wait',
      progress: { left: 2, waiting: 0 },
    });
  });

  it('is blocked by a pod that does not end in its time on a node that is ready, and goes on without it where it is not', () => {
    const pods = [aPod('stuck', { deletesAt: NOW - 30_001 })];
    const look = aLook({ pods, progress: { at: NOW - DRAIN_TIMEOUT_MS, left: 1, waiting: 0 } });
    expect(after(look)).toEqual({
      kind: 'blocked',
      reason: 'PodsStuck',
      pdb: null,
      detail: 'shop/stuck did not end in their time, and none has since 2026-11-23T09:56:00Z',
    });
    expect(after({ ...look, isNodeReady: false })).toEqual({ kind: 'empty' });
  });

  it('is blocked at once by a pod that more than one budget selects', () => {
    expect(after(aLook({ pods: [aPod('a')] }), { a: { kind: 'impossible' } })).toEqual({
      kind: 'blocked',
      reason: 'SeveralBudgets',
      pdb: null,
      detail: 'shop/a cannot be evicted: more than one PodDisruptionBudget selects it',
    });
  });

  it('evicts nothing where it sees that a pod can never go, and names its budgets', () => {
    const free = aPod('free', { labels: {} });
    const last = aPod('last', { namespace: 'kube-system' });
    const selecting = (namespace: string) =>
      new DisruptionBudgets(['one', 'two'].map((name) => aBudget(name, { namespace, disruptionsAllowed: 1 })));
    const look = aLook({ pods: [free, last], budgets: selecting('kube-system') });
    expect(due(look)).toEqual([]);
    expect(after(look)).toEqual({
      kind: 'blocked',
      reason: 'SeveralBudgets',
      pdb: 'kube-system/one',
      detail:
        'kube-system/last cannot be evicted: more than one PodDisruptionBudget selects it (kube-system/one and kube-system/two)',
    });
    expect(due({ ...look, budgets: selecting('shop') })).toEqual(['free']);
    const leaving = { ...look, pods: [free, { ...last, deletesAt: NOW }] };
    expect(due(leaving)).toEqual(['free']);
  });

  it('is blocked by whatever else refuses an eviction, in its words', () => {
    const answer: EvictionAnswer = {
      kind: 'refused',
      budgets: [],
      message: 'admission webhook "x" denied the request',
    };
    const look = aLook({ pods: [aPod('a')], progress: { at: NOW - DRAIN_TIMEOUT_MS, left: 1, waiting: 1 } });
    expect(after(look, { a: answer })).toMatchObject({
      kind: 'blocked',
      reason: 'EvictionRefused',
      pdb: null,
      detail: expect.stringContaining('(admission webhook "x" denied the request)') as string,
    });
  });
});

describe('a node that is not to go any more', () => {
  it('keeps its pods where it was empty three times, and its machine could not go', () => {
    const look = aLook({ pods: [aPod('a')], takenBack: 3 });
    expect(due(look)).toEqual([]);
    expect(after(look)).toEqual({
      kind: 'blocked',
      reason: 'MachineKept',
      pdb: null,
      detail:
        'the node was empty 3 times, and its machine could not go: pods come to it in between, or the machine stands for another node',
    });
    expect(due({ ...look, takenBack: 2 })).toEqual(['a']);
  });

  it('keeps its pods while too few nodes are ready, also where it has none that its kubelet would end', () => {
    const halt = '1 of 3 nodes of web is ready';
    const look = aLook({ halt, pods: [aPod('a')] });
    expect(due(look)).toEqual([]);
    const blocked = { kind: 'blocked', reason: 'TooFewReady', pdb: null, detail: halt };
    expect([after(look), after(aLook({ halt, isNodeReady: false }))]).toEqual([blocked, blocked]);
  });

  it('keeps them too where it was to go because it was not ready, and is ready again', () => {
    const look = aLook({ reason: 'NotReady', pods: [aPod('a')] });
    expect(due(look)).toEqual([]);
    expect(after(look)).toMatchObject({ kind: 'blocked', reason: 'ReadyAgain' });
    expect(due({ ...look, isNodeReady: false })).toEqual(['a']);
  });
});
