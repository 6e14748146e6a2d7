import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import {
  DOWN_SINCE,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
} from '../../../../domain/lights-out/schedule/names.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Autoscaler, Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  autoscaler,
  changeBy,
  contextOf,
  HOUR,
  namespaceOf,
  NIGHT,
  otherOf,
  scaledObject,
  specOf,
  workloadOf,
} from '../planned.ts';

/** The writes of the evaluation, in order: the workload's kind, and of an autoscaler its annotations and bounds as well. */
function writes(workload: Workload, over: Partial<EvaluationContext> = {}): unknown {
  const evaluation = evaluate(workload, namespaceOf(), contextOf(over));
  if (evaluation.kind === 'keep') return evaluation.reason;
  return evaluation.writes.map(({ kind, patch }) =>
    kind === 'Deployment' ? kind : [kind, patch['metadata'], patch['spec']],
  );
}

const up = { period: { state: 'Up', since: NIGHT }, now: NIGHT + HOUR } as const;
const keeping = (downscaleReplicas: number) => ({ spec: specOf({ downscaleReplicas }) });
const label = { labels: { [MANAGED_BY]: 'nights' } };
const savedState = { [MANAGED_BY]: 'nights', [DOWN_SINCE]: '2026-11-20T22:00:00Z' };
const held = { [MANAGED_BY]: 'nights', [DOWN_SINCE]: '2026-11-20T18:00:05Z' };
const workload = 'Deployment';

describe('a ScaledObject', () => {
  const paused = scaledObject({ ...held, [KEDA_PAUSED_REPLICAS]: '0' });

  it('is paused before its workload goes down, and resumed after it is up', () => {
    const awake = workloadOf({ autoscalers: [scaledObject()] });
    expect(writes(awake)).toEqual([
      ['ScaledObject', { annotations: { [KEDA_PAUSED_REPLICAS]: '0', ...savedState }, ...label }, undefined],
      workload,
    ]);
    expect(writes(asleep({ autoscalers: [paused] }))).toBe('AsDesired');
    expect(writes(asleep({ autoscalers: [{ ...paused, ...label }] }), up)).toEqual([
      workload,
      [
        'ScaledObject',
        {
          annotations: { [KEDA_PAUSED_REPLICAS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null },
          labels: { [MANAGED_BY]: null },
        },
        undefined,
      ],
    ]);
  });

  it('is paused and resumed where KEDA itself had the workload at none', () => {
    const atRest = workloadOf({ replicas: 0, autoscalers: [scaledObject()] });
    expect(writes(atRest)).toMatchObject([
      ['ScaledObject', { annotations: { [KEDA_PAUSED_REPLICAS]: '0' } }, undefined],
    ]);
    expect(writes({ ...atRest, autoscalers: [paused] })).toBe('AtRest');
    expect(writes({ ...atRest, autoscalers: [paused] }, up)).toMatchObject([
      ['ScaledObject', expect.anything(), undefined],
    ]);
  });

  it('is left where a person paused it, or another schedule', () => {
    const byPerson = scaledObject({ [KEDA_PAUSED_REPLICAS]: '1' });
    expect(writes(workloadOf({ autoscalers: [byPerson] }))).toEqual([workload]);
    expect(writes(asleep({ autoscalers: [byPerson] }), up)).toEqual([workload]);
    const byOther = scaledObject({ [KEDA_PAUSED_REPLICAS]: '0', [MANAGED_BY]: 'other' });
    const others = [otherOf({ spec: specOf({ namespaces: [] }) })];
    expect(writes(workloadOf({ autoscalers: [byOther] }), { others })).toEqual([workload]);
    expect(writes(workloadOf({ autoscalers: [byOther] }), { ...up, others })).toBe('AsDesired');
  });

  it('follows the number of replicas that the schedule keeps', () => {
    expect(writes(asleep({ autoscalers: [paused] }), keeping(2))).toMatchObject([
      ['ScaledObject', { annotations: { [KEDA_PAUSED_REPLICAS]: '2' } }, undefined],
      workload,
    ]);
  });

  it('that was left paused when something was cut off is taken up where that ended', () => {
    expect(writes(workloadOf({ autoscalers: [paused] }))).toEqual([workload]);
    expect(writes(workloadOf({ autoscalers: [paused] }), up)).toMatchObject([
      ['ScaledObject', expect.anything(), undefined],
    ]);
    expect(writes(asleep({ autoscalers: [scaledObject()] }))).toMatchObject([
      ['ScaledObject', expect.anything(), undefined],
    ]);
    expect(writes(workloadOf({ autoscalers: [paused] }), { isRestoringAll: true })).toHaveLength(1);
    expect(writes(workloadOf({ autoscalers: [paused] }), { spec: specOf({ namespaces: [] }) })).toHaveLength(1);
    const others = [otherOf()];
    expect(writes(workloadOf({ autoscalers: [paused] }), { others })).toHaveLength(1);
  });

  it('works again where a person put the workload up, and what it does then is not undone', () => {
    const put = asleep({ replicas: 2, changed: changeBy('kubectl'), autoscalers: [paused] });
    expect(writes(put)).toEqual([
      ['ScaledObject', { annotations: { ...savedState, [KEDA_PAUSED_REPLICAS]: null }, ...label }, undefined],
    ]);
    const resumed = scaledObject(savedState);
    const scaled = asleep({ replicas: 7, changed: changeBy('keda-operator'), autoscalers: [resumed] });
    expect(writes({ ...put, autoscalers: [resumed] })).toBe('ChangedByPerson');
    expect(writes(scaled)).toBe('ChangedByPerson');
    expect(writes({ ...scaled, replicas: 0 })).toBe('AsDesired');
    expect(writes({ ...scaled, changed: changeBy('argocd-controller') })).toHaveLength(2);
    expect(writes({ ...scaled, autoscalers: [paused] })).toHaveLength(1);
    expect(writes(scaled, { period: { state: 'Down', since: NIGHT + HOUR }, now: NIGHT + 2 * HOUR })).toHaveLength(2);
    expect(writes(scaled, up)).toHaveLength(2);
  });
});

describe('an autoscaler that is held and changed', () => {
  const at = NIGHT - HOUR;
  const bounds = autoscaler(2, 5, { ...held, [ORIGINAL_BOUNDS]: '3-10' });
  const down = (before: Autoscaler, setBy: Autoscaler['setBy']) =>
    asleep({ replicas: 2, autoscalers: [{ ...before, ...(setBy && { setBy }) }] });
  const by = (manager: string, when = at) => ({ maxReplicas: { manager, at: when } });

  it('by a person is left until the morning, with what it does then, and that is said', () => {
    const left = down(bounds, by('kubectl-edit'));
    expect(evaluate(left, namespaceOf(), contextOf(keeping(2)))).toEqual({
      kind: 'keep',
      reason: 'ChangedByPerson',
      detail:
        'kubectl-edit changed its autoscaler, while it was to sleep. Headroom leaves that until the schedule wakes it',
    });
    const scaled = { ...left, replicas: 4, changed: changeBy('kube-controller-manager') };
    expect(writes(scaled, keeping(2))).toBe('ChangedByPerson');
    expect(writes(left, { ...up, ...keeping(2) })).toMatchObject([
      ['HorizontalPodAutoscaler', expect.anything(), { minReplicas: 3, maxReplicas: 10 }],
      workload,
    ]);
    const paused = scaledObject({ ...held, [KEDA_PAUSED_REPLICAS]: '4' });
    expect(writes(down(paused, { paused: { manager: 'kubectl-annotate', at } }), keeping(2))).toBe('ChangedByPerson');
  });

  it('by GitOps, by nobody known, before it was held or in another night is held again', () => {
    const again = [['HorizontalPodAutoscaler', expect.anything(), { minReplicas: 2, maxReplicas: 2 }]];
    expect(writes(down(bounds, by('argocd-controller')), keeping(2))).toMatchObject(again);
    expect(writes(down(bounds, undefined), keeping(2))).toMatchObject(again);
    expect(writes(down(bounds, by('kubectl-edit', Date.parse(held[DOWN_SINCE]))), keeping(2))).toMatchObject(again);
    const next = { ...keeping(2), period: { state: 'Down', since: NIGHT + HOUR }, now: NIGHT + 2 * HOUR } as const;
    expect(writes(down(bounds, by('kubectl-edit')), next)).toMatchObject(again);
    // Who set what is as it is to be is nobody's business.
    expect(writes(down(bounds, { minReplicas: { manager: 'kubectl-edit', at } }), keeping(2))).toMatchObject(again);
  });
});

describe('a HorizontalPodAutoscaler', () => {
  it('is left where its workload goes to none, unless it may scale from none', () => {
    expect(writes(workloadOf({ autoscalers: [autoscaler(2, 10)] }))).toEqual([workload]);
    expect(writes(workloadOf({ autoscalers: [autoscaler(0, 10)] }))).toEqual([
      [
        'HorizontalPodAutoscaler',
        { annotations: { [ORIGINAL_BOUNDS]: '0-10', ...savedState }, ...label },
        { minReplicas: 1, maxReplicas: 10 },
      ],
      workload,
    ]);
  });

  it('is bound to the replicas that the schedule keeps once these are marked, and freed before it is woken: its bounds take replicas away', () => {
    expect(writes(workloadOf({ autoscalers: [autoscaler(3, 10)] }), keeping(2))).toEqual([
      workload,
      [
        'HorizontalPodAutoscaler',
        { annotations: { [ORIGINAL_BOUNDS]: '3-10', ...savedState }, ...label },
        { minReplicas: 2, maxReplicas: 2 },
      ],
    ]);
    // Cut off between the two.
    expect(writes(asleep({ replicas: 2, autoscalers: [autoscaler(3, 10)] }), keeping(2))).toHaveLength(1);
    const bound = autoscaler(2, 2, { ...held, [ORIGINAL_BOUNDS]: '3-10' });
    const down = asleep({ replicas: 2, autoscalers: [bound] });
    expect(writes(down, keeping(2))).toBe('AsDesired');
    expect(writes(down, up)).toEqual([
      [
        'HorizontalPodAutoscaler',
        { annotations: { [ORIGINAL_BOUNDS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null } },
        { minReplicas: 3, maxReplicas: 10 },
      ],
      workload,
    ]);
    expect(writes(down, keeping(1))).toMatchObject([
      workload,
      ['HorizontalPodAutoscaler', { annotations: { [ORIGINAL_BOUNDS]: '3-10' } }, { minReplicas: 1, maxReplicas: 1 }],
    ]);
  });

  it.each(['5-3', '1-0', '0-0', '1-9999999999', 'all'])(
    'lets its workload wake, where its mark says %s, as which no autoscaler can be',
    (text) => {
      const bound = autoscaler(2, 2, { ...held, [ORIGINAL_BOUNDS]: text });
      const free = { annotations: { [ORIGINAL_BOUNDS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null } };
      expect(writes(asleep({ replicas: 2, autoscalers: [bound] }), up)).toEqual([
        ['HorizontalPodAutoscaler', free, undefined],
        workload,
      ]);
    },
  );

  it('never gets a greater maximum by being held, and keeps one that a person gave it', () => {
    expect(writes(workloadOf({ replicas: 9, autoscalers: [autoscaler(1, 2)] }), keeping(5))).toEqual([workload]);
    const raised = autoscaler(2, 20, { ...held, [ORIGINAL_BOUNDS]: '3-10' });
    expect(writes(asleep({ autoscalers: [raised] }), up)).toMatchObject([
      workload,
      ['HorizontalPodAutoscaler', expect.anything(), { minReplicas: 3, maxReplicas: 20 }],
    ]);
  });

  it('is bound again where GitOps gave it its bounds back, and left for a while where that goes on', () => {
    const reset = autoscaler(3, 10, { ...held, [ORIGINAL_BOUNDS]: '3-10' });
    const down = asleep({ replicas: 2, autoscalers: [reset] });
    expect(evaluate(down, namespaceOf(), contextOf(keeping(2)))).toMatchObject({
      item: { reason: 'DownAgain', to: 2 },
    });
    expect(writes(down, { ...keeping(2), contested: { 'Deployment team-a/web': NIGHT + 1 } })).toBe('Contested');
  });

  it('is left to KEDA where there is a ScaledObject', () => {
    const both = workloadOf({ autoscalers: [autoscaler(0, 10), scaledObject()] });
    expect(writes(both)).toMatchObject([['ScaledObject', expect.anything(), undefined], workload]);
  });

  it('that put its workload up from none was asked to by a person, who did so before', () => {
    const by = (manager: string) =>
      asleep({ replicas: 3, changed: changeBy(manager), autoscalers: [autoscaler(3, 10)] });
    const scaled = by('kube-controller-manager');
    expect(writes(scaled)).toEqual([['HorizontalPodAutoscaler', { annotations: savedState, ...label }, undefined]]);
    const resumed = { ...scaled, autoscalers: [autoscaler(3, 10, savedState)] };
    expect(evaluate(resumed, namespaceOf(), contextOf())).toMatchObject({
      reason: 'ChangedByPerson',
      detail: expect.stringMatching(/^somebody scaled it up, then kube-controller-manager gave it 3 replicas/),
    });
    expect(writes(by('argocd-controller'))).toEqual([workload]);
    expect(writes({ ...scaled, autoscalers: [] })).toEqual([workload]);
    // One that may scale from none does it by itself, as does one whose workload keeps replicas.
    expect(writes({ ...scaled, autoscalers: [autoscaler(0, 10)] })).toHaveLength(2);
    expect(writes(scaled, keeping(1))).toHaveLength(2);
    expect(writes({ ...scaled, autoscalers: [autoscaler(3, 10), scaledObject()] })).toHaveLength(2);
    const dawn = { period: { state: 'Down', since: NIGHT }, now: NIGHT + HOUR } as const;
    expect(writes(scaled, dawn)).toEqual([workload]);
  });

  it('keeps a minimum that somebody else gave it in the night', () => {
    const by = (manager: string, bounds: Autoscaler) => ({
      ...bounds,
      setBy: { minReplicas: { manager, at: NIGHT - HOUR } },
    });
    const free = { annotations: { [ORIGINAL_BOUNDS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null } };
    const zero = (min: number, manager: string, max = 10) =>
      asleep({ autoscalers: [by(manager, autoscaler(min, max, { ...held, [ORIGINAL_BOUNDS]: '0-10' }))] });
    expect(writes(zero(1, 'headroom-lights-out'), up)).toEqual([
      workload,
      ['HorizontalPodAutoscaler', free, { minReplicas: 0, maxReplicas: 10 }],
    ]);
    for (const manager of ['argocd-controller', 'kubectl-edit']) {
      expect(writes(zero(1, manager), up)).toEqual([workload, ['HorizontalPodAutoscaler', free, undefined]]);
      expect(writes(zero(4, manager), up)).toEqual([workload, ['HorizontalPodAutoscaler', free, undefined]]);
    }
    // At 0 no autoscaler does anything, whatever its minimum is above 0: that is not written, and who set it stays known.
    expect(writes(zero(4, 'argocd-controller', 20))).toBe('AsDesired');
    expect(writes(zero(0, 'argocd-controller'))).toMatchObject([
      ['HorizontalPodAutoscaler', { annotations: { [ORIGINAL_BOUNDS]: '0-10' } }, { minReplicas: 1, maxReplicas: 10 }],
    ]);
    // Where it has to be lowered again, its mark has the new one.
    const bound = by('argocd-controller', autoscaler(5, 12, { ...held, [ORIGINAL_BOUNDS]: '3-10' }));
    expect(writes(asleep({ replicas: 2, autoscalers: [bound] }), keeping(2))).toMatchObject([
      ['HorizontalPodAutoscaler', { annotations: { [ORIGINAL_BOUNDS]: '5-12' } }, { minReplicas: 2, maxReplicas: 2 }],
    ]);
  });

  it('that may no longer scale from none leaves no workload at none: that would turn it off', () => {
    const atRest = (min: number, manager: string): Workload => {
      const bounds = autoscaler(min, 10, { ...held, [ORIGINAL_BOUNDS]: '0-10' });
      const setBy = { minReplicas: { manager, at: NIGHT - HOUR } };
      return workloadOf({ replicas: 0, autoscalers: [{ ...bounds, setBy }] });
    };
    const raisedTo = (found: Workload, over: Partial<EvaluationContext> = up) => {
      const evaluation = evaluate(found, namespaceOf(), contextOf(over));
      return evaluation.kind === 'keep'
        ? evaluation.reason
        : evaluation.writes.map(({ kind, patch }) => [kind, patch['spec']]);
    };
    const freed = ['HorizontalPodAutoscaler', undefined];
    // (a) Nobody touched it: an external metric wakes it.
    expect(raisedTo(atRest(1, 'headroom-lights-out'))).toEqual([
      ['HorizontalPodAutoscaler', { minReplicas: 0, maxReplicas: 10 }],
    ]);
    // (b) Somebody did.
    expect(raisedTo(atRest(1, 'argocd-controller'))).toEqual([['Deployment', { replicas: 1 }], freed]);
    expect(raisedTo(atRest(2, 'kubectl-edit'))).toEqual([['Deployment', { replicas: 2 }], freed]);
    expect(raisedTo(atRest(1, 'argocd-controller'), { isRestoringAll: true })).toHaveLength(2);
    expect(raisedTo(atRest(1, 'argocd-controller'), { spec: specOf({ namespaces: [] }) })).toHaveLength(2);
    // Cut off between the two.
    expect(raisedTo({ ...atRest(1, 'argocd-controller'), replicas: 1 })).toEqual([freed]);
    // Held once more in the night, for another reason than its minimum: its mark knows that it could scale from none.
    const lessened = atRest(1, 'argocd-controller');
    const less = { ...lessened, autoscalers: lessened.autoscalers.map((each) => ({ ...each, maxReplicas: 5 })) };
    expect(writes(less)).toMatchObject([
      ['HorizontalPodAutoscaler', { annotations: { [ORIGINAL_BOUNDS]: '0-10' } }, { minReplicas: 1, maxReplicas: 10 }],
    ]);
    // Its target is gone: there is nothing to raise.
    expect(raisedTo({ ...atRest(1, 'argocd-controller'), uid: '' })).toEqual([freed]);
    // All night it is at rest.
    expect(raisedTo(atRest(1, 'argocd-controller'), {})).toBe('AtRest');
    // One that was off before the night stays so.
    const off = autoscaler(2, 10, { ...held, [ORIGINAL_BOUNDS]: '3-10' });
    expect(raisedTo(workloadOf({ replicas: 0, autoscalers: [off] }))).toHaveLength(1);
  });

  it('may do its work again where a person put the workload up', () => {
    const put = asleep({ replicas: 2, changed: changeBy('kubectl'), autoscalers: [autoscaler(2, 10)] });
    expect(writes(put)).toEqual([['HorizontalPodAutoscaler', { annotations: savedState, ...label }, undefined]]);
    const scaled = { ...put, replicas: 6, changed: changeBy('kube-controller-manager') };
    expect(writes({ ...scaled, autoscalers: [autoscaler(2, 10, savedState)] })).toBe('ChangedByPerson');
    expect(writes({ ...scaled, autoscalers: [{ ...autoscaler(2, 10, savedState), ...label }] }, up)).toEqual([
      [
        'HorizontalPodAutoscaler',
        { annotations: { [MANAGED_BY]: null, [DOWN_SINCE]: null }, labels: { [MANAGED_BY]: null } },
        undefined,
      ],
      workload,
    ]);
  });
});
