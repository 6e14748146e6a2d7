import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import { priorityOf } from '../../../../domain/lights-out/workload/step.ts';
import {
  DOWN_SINCE,
  FIELD_MANAGER,
  KEDA_PAUSED,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  PRIORITY,
  SLEEP_UNTIL,
  WAKE_UNTIL,
} from '../../../../domain/lights-out/schedule/names.ts';
import type { Level } from '../../../../domain/lights-out/schedule/level.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { FieldChange, Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  autoscaler,
  changeBy,
  contextOf,
  DUSK,
  HOUR,
  namespaceOf,
  NIGHT,
  otherOf,
  ours,
  overrideOf,
  scaledObject,
  SECOND,
  specOf,
  suspended,
  textOfEvaluation,
  workloadOf,
} from '../planned.ts';

const evaluated = (workload: Workload, over: Partial<EvaluationContext> = {}, namespace = namespaceOf()) =>
  evaluate(workload, namespace, contextOf(over));

/** The evaluation in a few words: `Up 0→3`, `Down 3→0`, or why it is left. */
function textOf(workload: Workload, over: Partial<EvaluationContext> = {}, namespace = namespaceOf()): string {
  return textOfEvaluation(evaluated(workload, over, namespace));
}

/** The patch of the workload itself. */
function patchOf(workload: Workload, over: Partial<EvaluationContext> = {}): unknown {
  const evaluation = evaluated(workload, over);
  const writes = evaluation.kind === 'change' ? evaluation.writes : [];
  return writes.find(({ kind }) => kind === workload.kind)?.patch;
}

const up = { period: { state: 'Up', since: NIGHT }, now: NIGHT + HOUR } as const;
const keeping = (downscaleReplicas: number) => ({ spec: specOf({ downscaleReplicas }) });
const unmarked = { [ORIGINAL_REPLICAS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null };

describe('a workload at dusk', () => {
  it('is scaled down, with its annotations, in one patch', () => {
    const evaluation = evaluated(workloadOf());
    expect(evaluation).toEqual({
      kind: 'change',
      item: {
        workload: { kind: 'Deployment', namespace: 'team-a', name: 'web' },
        direction: 'Down',
        reason: 'Down',
        from: 3,
        to: 0,
        priority: 0,
      },
      writes: [
        {
          kind: 'Deployment',
          name: 'web',
          uid: 'uid-web',
          resourceVersion: '7',
          patch: {
            metadata: {
              annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'nights', [DOWN_SINCE]: '2026-11-20T22:00:00Z' },
              labels: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'nights' },
            },
            spec: { replicas: 0 },
          },
        },
      ],
      saved: { original: '3', since: '2026-11-20T22:00:00Z' },
    });
  });

  it('keeps as many replicas as the schedule says, or those that it has', () => {
    expect(textOf(workloadOf({ replicas: 3 }), keeping(1))).toBe('Down 3→1');
    expect(textOf(workloadOf({ replicas: 1 }), keeping(1))).toBe('AtRest');
    expect(textOf(workloadOf({ replicas: 0 }))).toBe('AtRest');
  });

  it('is suspended, where it is a CronJob that nobody suspended before', () => {
    const job = workloadOf({ kind: 'CronJob' });
    expect(patchOf(job)).toMatchObject({
      metadata: { annotations: { [ORIGINAL_SUSPEND]: 'lightsout', [MANAGED_BY]: 'nights' } },
      spec: { suspend: true },
    });
    expect(textOf({ ...job, isSuspended: true })).toBe('SuspendedByUser');
  });

  it("is paused by KEDA's annotation, where it is a ScaledJob, and started by taking that off", () => {
    const job = workloadOf({ kind: 'ScaledJob' });
    expect(patchOf(job)).toEqual({
      metadata: {
        annotations: expect.objectContaining({ [KEDA_PAUSED]: 'true', [ORIGINAL_SUSPEND]: 'lightsout' }),
        labels: { [MANAGED_BY]: 'nights' },
      },
    });
    expect(textOf({ ...job, isSuspended: true })).toBe('SuspendedByUser');
    expect(
      patchOf(suspended({ kind: 'ScaledJob' }), { ...up, spec: specOf({ cronJobs: { catchUp: 'none' } }) }),
    ).toEqual({
      metadata: {
        annotations: { [KEDA_PAUSED]: null, [ORIGINAL_SUSPEND]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null },
        labels: { [MANAGED_BY]: null },
      },
    });
  });

  it('is suspended although an earlier tool noted that a user had suspended it, once the user resumed it', () => {
    const job = workloadOf({ kind: 'CronJob', annotations: { [ORIGINAL_SUSPEND]: 'user' } });
    expect(textOf({ ...job, isSuspended: true })).toBe('SuspendedByUser');
    expect(patchOf(job)).toMatchObject({
      metadata: { annotations: { [ORIGINAL_SUSPEND]: 'lightsout' } },
      spec: { suspend: true },
    });
  });

  it('is left while it, or its namespace, is being deleted', () => {
    expect(textOf(workloadOf({ isDeleting: true }))).toBe('Deleting');
    expect(textOf(asleep(), { isRestoringAll: true }, namespaceOf('team-a', { isDeleting: true }))).toBe('Deleting');
  });

  it('is left while the schedule is suspended, and so is what is down', () => {
    const spec = specOf({ suspend: true });
    expect(textOf(workloadOf(), { spec })).toBe('AsDesired');
    expect(textOf(asleep(), { ...up, spec })).toBe('AsDesired');
    expect(textOf(asleep(), { spec: { ...spec, namespaces: [] } })).toBe('AsDesired');
    expect(textOf(asleep(), { spec, isRestoringAll: true })).toBe('ScheduleDeleted 0→3');
  });

  it('is left to the schedule that owns it, and that is said', () => {
    expect(evaluated(workloadOf(), { others: [otherOf()] })).toEqual({
      kind: 'keep',
      reason: 'OwnedByOther',
      detail: 'it belongs to the schedule other, which is older and selects it too',
    });
    const marked = asleep({ annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'other' } });
    expect(evaluated(marked, { others: [otherOf({ isIdle: true })] })).toMatchObject({
      reason: 'OwnedByOther',
      detail: 'it belongs to the schedule other, which put it to sleep and wakes it',
    });
  });

  it('that is as desired is not written again', () => {
    expect(textOf(asleep())).toBe('AsDesired');
    expect(textOf(suspended())).toBe('AsDesired');
    expect(textOf(workloadOf(), up)).toBe('AsDesired');
    expect(textOf(workloadOf({ namespace: 'shop' }), {}, namespaceOf('shop'))).toBe('AsDesired');
  });
});

describe('a workload at dawn', () => {
  it('gets its replicas back and loses its annotations in one patch', () => {
    expect(textOf(asleep(), up)).toBe('Up 0→3');
    expect(patchOf(asleep(), up)).toEqual({
      metadata: { annotations: unmarked, labels: { [MANAGED_BY]: null } },
      spec: { replicas: 3 },
    });
  });

  it('runs with one replica where its annotation is no number', () => {
    const annotations = { ...asleep().annotations, [ORIGINAL_REPLICAS]: 'invalid' };
    expect(textOf(asleep({ annotations }), up)).toBe('Up 0→1');
  });

  it('comes back with what its label says where the annotations are those of an older revision', () => {
    const labels = { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'nights' };
    const undone = asleep({ annotations: {}, labels });
    expect(textOf(undone, up)).toBe('Up 0→3');
    expect(patchOf(undone, up)).toEqual({
      metadata: { labels: { [ORIGINAL_REPLICAS]: null, [MANAGED_BY]: null } },
      spec: { replicas: 3 },
    });
    expect(textOf(undone, { isRestoringAll: true })).toBe('ScheduleDeleted 0→3');
    expect(patchOf(undone)).toEqual({
      metadata: { annotations: { [MANAGED_BY]: 'nights' }, labels: { [MANAGED_BY]: 'nights' } },
    });
    expect(textOf(asleep({ annotations: { ...asleep().annotations, [ORIGINAL_REPLICAS]: '5' }, labels }), up)).toBe(
      'Up 0→5',
    );
    // Left by a tool that knows the annotations and the other label alone.
    const left = workloadOf({ replicas: 1, labels: { [ORIGINAL_REPLICAS]: '3' } });
    expect(textOf(left, up)).toBe('Released 1→1');
    expect(patchOf(left, up)).toEqual({ metadata: { labels: { [ORIGINAL_REPLICAS]: null } } });
    expect(textOf({ ...left, replicas: 0 }, up)).toBe('Released 0→0');
    expect(textOf({ ...left, kind: 'StatefulSet' }, up)).toBe('Released 1→1');
  });

  it('keeps what it has where an older revision brought the annotations back by day', () => {
    const stale = asleep({ labels: {}, replicas: 1, changed: changeBy('kubectl') });
    expect(textOf(stale, up)).toBe('Released 1→1');
    expect(patchOf(stale, up)).toEqual({ metadata: { annotations: unmarked } });
    expect(textOf(stale, { isRestoringAll: true })).toBe('ScheduleDeleted 1→1');
    expect(patchOf({ ...stale, changed: null })).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: '1' }, labels: { [ORIGINAL_REPLICAS]: '1' } },
    });
    expect(textOf({ ...stale, replicas: 0 }, up)).toBe('Up 0→3');
    expect(textOf({ ...stale, kind: 'StatefulSet' }, up)).toBe('Up 1→3');
    // They do not make it that schedule's.
    const others = [otherOf({ isIdle: true })];
    const annotations = { ...stale.annotations, [MANAGED_BY]: 'other' };
    expect(textOf({ ...stale, annotations, changed: null }, { others })).toBe('Down 1→0');
  });

  it('never loses pods by being woken', () => {
    expect(textOf(asleep({ replicas: 5, changed: changeBy('kubectl') }), up)).toBe('Released 5→5');
    expect(patchOf(asleep({ replicas: 5 }), up)).not.toHaveProperty('spec');
    expect(textOf(asleep({ replicas: 1, changed: changeBy('kubectl') }), up)).toBe('Up 1→3');
  });

  it('that was at none stays at none', () => {
    expect(textOf(workloadOf({ replicas: 0 }), up)).toBe('AsDesired');
  });

  it('is resumed, where it is a CronJob that nobody else suspended meanwhile', () => {
    expect(patchOf(suspended(), up)).toMatchObject({ spec: { suspend: false } });
    const again = suspended({ changed: changeBy('kubectl') });
    expect(textOf(again, up)).toBe('Released');
    expect(patchOf(again, up)).toEqual({
      metadata: {
        annotations: { [ORIGINAL_SUSPEND]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null },
        labels: { [MANAGED_BY]: null },
      },
    });
    expect(patchOf(suspended({ changed: changeBy('kubectl', DUSK) }), up)).toMatchObject({ spec: { suspend: false } });
    expect(patchOf(suspended({ isSuspended: false }), up)).not.toHaveProperty('spec');
  });

  it('is not resumed where an earlier tool noted that a user had suspended it: only the note goes', () => {
    const noted = suspended({ annotations: { [ORIGINAL_SUSPEND]: 'user', [MANAGED_BY]: 'nights' } });
    expect(textOf(noted, up)).toBe('Released');
    expect(patchOf(noted, up)).toEqual({
      metadata: { annotations: { [ORIGINAL_SUSPEND]: null, [MANAGED_BY]: null }, labels: { [MANAGED_BY]: null } },
    });
  });

  it('is woken by the schedule that adopts it, where the one that put it to sleep is gone', () => {
    const orphan = asleep({ annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'gone' } });
    expect(textOf(orphan, up)).toBe('Up 0→3');
    expect(textOf(asleep({ annotations: { [ORIGINAL_REPLICAS]: '3' }, labels: {} }), up)).toBe('Up 0→3');
    expect(textOf(orphan, { ...up, isRestoringAll: true })).toBe('AsDesired');
    expect(patchOf(orphan)).toEqual({
      metadata: { annotations: { [MANAGED_BY]: 'nights' }, labels: { [MANAGED_BY]: 'nights' } },
    });
  });
});

describe('what leaves the scope while it is down', () => {
  it.each<[string, Partial<EvaluationContext>]>([
    ['its namespace is excluded', { spec: specOf({ excludeNamespaces: ['team-a'] }) }],
    ['its kind is no longer selected', { spec: specOf({ workloadTypes: ['CronJob'] }) }],
    ['its namespace is protected', { protectedNamespaces: ['team-a'] }],
  ])('is restored at once when %s', (_, over) => {
    expect(textOf(asleep(), over)).toBe('LeftScope 0→3');
    expect(textOf(workloadOf(), over)).toBe('AsDesired');
  });

  it('is restored when its labels exclude it, and where its namespace is not known', () => {
    const spec = specOf({ excludeLabels: { matchLabels: { keep: 'yes' } } });
    expect(textOf(asleep({ labels: { keep: 'yes', [MANAGED_BY]: 'nights' } }), { spec })).toBe('LeftScope 0→3');
    expect(evaluate(asleep(), null, contextOf())).toMatchObject({ item: { reason: 'LeftScope' } });
  });

  it('is left to the schedule that put it to sleep', () => {
    const marked = asleep({ annotations: { [ORIGINAL_REPLICAS]: '3', [MANAGED_BY]: 'other' } });
    expect(textOf(marked, { spec: specOf({ namespaces: [] }), others: [otherOf()] })).toBe('AsDesired');
  });
});

describe('what was scaled up while it was to be down', () => {
  it('is respected where a person did it, and that is said', () => {
    const kept = evaluated(asleep({ replicas: 2, changed: changeBy('kubectl') }));
    expect(kept).toEqual({
      kind: 'keep',
      reason: 'ChangedByPerson',
      detail:
        'kubectl gave it 2 replicas at 2026-11-20T21:00:00Z, while it was to sleep. Headroom leaves it until the schedule wakes it',
    });
    expect(textOf(asleep({ replicas: 1, changed: null }))).toBe('ChangedByPerson');
    expect(textOf(suspended({ isSuspended: false, changed: changeBy('kubectl') }))).toBe('ChangedByPerson');
  });

  it('is scaled down again where GitOps or a machine scaled it up, with the annotations that it has', () => {
    for (const manager of ['argocd-controller', 'kube-controller-manager']) {
      const put = asleep({ replicas: 4, changed: changeBy(manager) });
      expect(evaluated(put)).toMatchObject({ item: { reason: 'DownAgain', from: 4, to: 0, manager } });
      expect(patchOf(put)).toEqual({ spec: { replicas: 0 } });
    }
    const job = suspended({ isSuspended: false, changed: changeBy('argocd-controller') });
    expect(patchOf(job)).toEqual({ spec: { suspend: true } });
  });

  it('is scaled down where it could not be scaled down before, however late its status was written', () => {
    const changed: FieldChange = { manager: 'kubectl', at: null, latest: NIGHT - SECOND, isOnlyIt: true };
    const failing = ['Deployment team-a/web'];
    expect(textOf(workloadOf({ changed }))).toBe('ChangedByPerson');
    expect(textOf(workloadOf({ changed }), { failing })).toBe('Down 3→0');
    expect(textOf(asleep({ replicas: 3, changed }))).toBe('ChangedByPerson');
    // What was written came with the annotations, and without the replicas.
    expect(textOf(asleep({ replicas: 3, changed }), { failing })).toBe('Down 3→0');
    expect(textOf(workloadOf({ name: 'api', changed }), { failing })).toBe('ChangedByPerson');
  });

  it('is left for a while where it was woken again and again, with what helps', () => {
    const contested = { 'Deployment team-a/web': NIGHT + HOUR };
    const put = asleep({ replicas: 4, changed: changeBy('argocd-controller') });
    const left = evaluated(put, { contested });
    expect(left).toMatchObject({ kind: 'keep', reason: 'Contested', until: NIGHT + HOUR });
    expect(left).toHaveProperty(
      'detail',
      expect.stringMatching(/^argocd-controller .*ignoreDifferences.*\/spec\/replicas.*RespectIgnoreDifferences=true/),
    );
    expect(textOf(put, { contested: { 'Deployment team-a/web': NIGHT } })).toBe('DownAgain 4→0');
    expect(textOf(asleep({ replicas: 2, changed: changeBy('kubectl') }), { contested })).toBe('ChangedByPerson');
  });

  it('is scaled down where a person scaled it up in an earlier night, and is to have that many replicas then', () => {
    const old = asleep({ replicas: 5, changed: changeBy('kubectl', DUSK - SECOND) });
    expect(textOf(old)).toBe('Down 5→0');
    expect(patchOf(old)).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: '5', [DOWN_SINCE]: '2026-11-20T22:00:00Z' } },
    });
    const sameSecond = asleep({ replicas: 5, changed: changeBy('kubectl', DUSK) });
    expect(textOf(sameSecond)).toBe('ChangedByPerson');
    expect(textOf(sameSecond, { period: { state: 'Down', since: DUSK + 900 } })).toBe('ChangedByPerson');
    expect(patchOf(asleep({ replicas: 1, changed: changeBy('kubectl', DUSK - HOUR) }))).toMatchObject({
      metadata: { annotations: { [ORIGINAL_REPLICAS]: '3' } },
    });
  });

  it('keeps what a window keeps, of what it had before it slept, from one window to the next', () => {
    const at = (level: Level) => ({
      period: { state: 'Down' as const, since: DUSK, level: { ...level, since: DUSK } },
    });
    const four = { annotations: { ...asleep().annotations, [ORIGINAL_REPLICAS]: '4' } };
    expect(textOf(workloadOf({ replicas: 5 }), at({ percent: 50 }))).toBe('Down 5→3');
    expect(textOf(workloadOf({ replicas: 1 }), at({ percent: 50 }))).toBe('AtRest');
    expect(textOf(asleep({ ...four, replicas: 2 }), at({ percent: 50 }))).toBe('AsDesired');
    expect(textOf(asleep({ ...four, replicas: 2 }), at({ replicas: 0 }))).toBe('DownTo 2→0');
    expect(textOf(asleep({ ...four, replicas: 0 }), at({ percent: 75 }))).toBe('DownTo 0→3');
    // The mark says four, and the morning goes by it.
    expect(patchOf(asleep({ ...four, replicas: 2 }), at({ replicas: 0 }))).toEqual({ spec: { replicas: 0 } });
    expect(textOf(asleep({ ...four, replicas: 2 }), up)).toBe('Up 2→4');
  });

  it('goes by the schedule where a sleep was asked for in a window', () => {
    const level = { percent: 50, runsCronJobs: true, since: DUSK } as const;
    const inWindow = { period: { state: 'Down' as const, since: DUSK, level } };
    const overrides = [overrideOf({ kind: 'sleep' })];
    expect(textOf(workloadOf({ replicas: 4 }), { ...inWindow, overrides })).toBe('Down 4→0');
    expect(textOf(workloadOf({ kind: 'CronJob' }), { ...inWindow, overrides })).toBe('Down');
  });

  it('is no CronJob that a window suspends while it keeps something', () => {
    const level = { percent: 50, runsCronJobs: true, since: DUSK } as const;
    const inWindow = { period: { state: 'Down' as const, since: DUSK, level } };
    expect(textOf(workloadOf({ kind: 'CronJob' }), inWindow)).toBe('AsDesired');
    expect(textOf(suspended(), inWindow)).toBe('Up');
    expect(textOf(workloadOf({ kind: 'CronJob' }))).toBe('Down');
  });

  it('what somebody changed without a time before a window began is not taken for a change against it', () => {
    const changed = { manager: 'kubectl', at: null, isOnlyIt: false, latest: NIGHT - HOUR };
    const night = (since: number) => ({
      period: { state: 'Down' as const, since: DUSK, level: { replicas: 0, since } },
      completedAt: DUSK + HOUR,
    });
    const small = workloadOf({ replicas: 1, changed });
    expect(textOf(small, night(NIGHT))).toBe('Down 1→0');
    expect(textOf(small, night(DUSK))).toBe('ChangedByPerson');
  });

  it('what its held autoscaler was allowed to write is not taken for a change against the next window', () => {
    const by = { manager: FIELD_MANAGER, at: DUSK };
    const machine = changeBy('kube-controller-manager');
    const hpa = autoscaler(1, 2, { [ORIGINAL_BOUNDS]: '1-9', [MANAGED_BY]: 'nights' });
    const held = asleep({ replicas: 2, changed: machine, autoscalers: [{ ...hpa, setBy: { maxReplicas: by } }] });
    expect(textOf(held)).toBe('DownTo 2→0');
    const reset = { maxReplicas: { manager: 'argocd-controller', at: NIGHT } };
    expect(textOf({ ...held, autoscalers: [{ ...hpa, setBy: reset }] })).toBe('Released 2→2');
    const keda = scaledObject({ [KEDA_PAUSED_REPLICAS]: '2', [MANAGED_BY]: 'nights' });
    const paused = asleep({ replicas: 2, changed: changeBy('keda-operator') });
    expect(textOf({ ...paused, autoscalers: [{ ...keda, setBy: { paused: by } }] })).toBe('DownTo 2→0');
    expect(textOf({ ...paused, replicas: 3, autoscalers: [{ ...keda, setBy: { paused: by } }] })).toBe('DownAgain 3→0');
  });

  it('follows another number of replicas that the schedule keeps', () => {
    expect(textOf(asleep({ replicas: 2 }))).toBe('DownTo 2→0');
    expect(textOf(asleep(), keeping(2))).toBe('DownTo 0→2');
    expect(textOf(asleep(), keeping(9))).toBe('DownTo 0→3');
    expect(textOf(asleep({ changed: changeBy('kubectl') }), keeping(2))).toBe('AsDesired');
  });
});

describe('what is up and was never put to sleep in this night', () => {
  const created = { createdAt: DUSK + SECOND, createdBy: 'kubectl-create' };

  it('is respected where a person created or scaled it since dusk', () => {
    expect(textOf(workloadOf(created))).toBe('ChangedByPerson');
    expect(textOf(workloadOf({ ...created, createdBy: null }))).toBe('ChangedByPerson');
    expect(textOf(workloadOf({ changed: changeBy('kubectl') }))).toBe('ChangedByPerson');
    expect(textOf(workloadOf({ kind: 'CronJob', changed: changeBy('kubectl') }))).toBe('ChangedByPerson');
  });

  it('is scaled down where that was before, within the same second, or by somebody else', () => {
    expect(textOf(workloadOf({ ...created, createdAt: DUSK }))).toBe('Down 3→0');
    expect(textOf(workloadOf({ changed: changeBy('kubectl', DUSK) }))).toBe('Down 3→0');
    expect(textOf(workloadOf({ ...created, createdBy: 'argocd-controller' }))).toBe('Down 3→0');
    expect(textOf(workloadOf({ changed: ours }))).toBe('Down 3→0');
  });

  it('is scaled down before everything was down once, unless surely its replicas were changed', () => {
    const rollout = workloadOf({ changed: changeBy('kubectl', NIGHT - HOUR, false) });
    expect(textOf(rollout)).toBe('ChangedByPerson');
    expect(textOf(rollout, { completedAt: null })).toBe('Down 3→0');
    expect(textOf(workloadOf({ changed: changeBy('kubectl') }), { completedAt: null })).toBe('ChangedByPerson');
    expect(textOf(workloadOf(created), { completedAt: null })).toBe('ChangedByPerson');
  });

  it('is respected also where a person scaled it at a moment that nobody knows, once everything was down', () => {
    const changed: FieldChange = { manager: 'kubectl', at: null, isOnlyIt: true };
    expect(textOf(workloadOf({ changed }))).toBe('ChangedByPerson');
    expect(textOf(workloadOf({ changed }), { completedAt: null })).toBe('Down 3→0');
    expect(textOf(workloadOf({ changed: { ...changed, latest: NIGHT - HOUR } }))).toBe('ChangedByPerson');
    // It came into the scope with what it had before the night.
    expect(textOf(workloadOf({ changed: { ...changed, latest: DUSK - HOUR } }))).toBe('Down 3→0');
    expect(textOf(asleep({ replicas: 5, changed }))).toBe('ChangedByPerson');
    expect(textOf(asleep({ replicas: 5, changed: { ...changed, latest: DUSK - HOUR } }))).toBe('Down 5→0');
  });

  it('is scaled down again, with its present replicas saved, where GitOps scaled up what was at rest', () => {
    const put = workloadOf({ changed: changeBy('argocd-controller') });
    expect(textOf(put)).toBe('DownAgain 3→0');
    expect(patchOf(put)).toMatchObject({ metadata: { annotations: { [ORIGINAL_REPLICAS]: '3' } } });
    expect(textOf(put, { contested: { 'Deployment team-a/web': NIGHT + 1 } })).toBe('Contested');
    expect(textOf(put, { completedAt: null })).toBe('Down 3→0');
  });

  it('is left for a time of grace, whoever created it', () => {
    const spec = specOf({ newWorkloadGrace: '90m' });
    const fresh = workloadOf({ createdAt: NIGHT - HOUR, createdBy: 'argocd-controller' });
    expect(evaluated(fresh, { spec })).toEqual({
      kind: 'keep',
      reason: 'Grace',
      detail: 'it is new, and is put to sleep at 2026-11-20T22:30:00Z',
      until: NIGHT + HOUR / 2,
    });
    expect(textOf(fresh, { spec, now: NIGHT + HOUR / 2 })).toBe('Down 3→0');
    expect(textOf(workloadOf({ createdAt: DUSK - 1 }), { spec: specOf({ newWorkloadGrace: '24h' }) })).toBe('Down 3→0');
  });
});

describe('what people say', () => {
  const wake = { [WAKE_UNTIL]: '2026-11-20T23:00:00Z' };
  const sleep = { [SLEEP_UNTIL]: '2026-11-20T23:00:00Z' };
  const noted = (annotations: Readonly<Record<string, string>>) =>
    asleep({ annotations: { ...asleep().annotations, ...annotations } });

  it('of a workload goes before what is said of its namespace, and that before the schedule', () => {
    expect(textOf(noted(wake))).toBe('Up 0→3');
    expect(textOf(asleep(), {}, namespaceOf('team-a', { annotations: wake }))).toBe('Up 0→3');
    expect(textOf(noted(sleep), {}, namespaceOf('team-a', { annotations: wake }))).toBe('AsDesired');
    expect(textOf(asleep(), { overrides: [overrideOf()] })).toBe('Up 0→3');
    expect(textOf(asleep(), { overrides: [overrideOf({ namespace: 'team-a' })] })).toBe('Up 0→3');
    expect(textOf(asleep(), { overrides: [overrideOf({ namespace: 'team-b' })] })).toBe('AsDesired');
    expect(textOf(asleep(), { overrides: [overrideOf({ kind: 'sleep', namespace: 'team-a' }), overrideOf()] })).toBe(
      'AsDesired',
    );
  });

  it('is to wake where both are said on one level', () => {
    expect(textOf(noted({ ...wake, ...sleep }))).toBe('Up 0→3');
    const overrides = [overrideOf({ kind: 'sleep' }), overrideOf()];
    expect(textOf(asleep(), { overrides })).toBe('Up 0→3');
    expect(
      textOf(
        asleep(),
        { overrides: [overrideOf({ kind: 'sleep', namespace: 'team-a' })] },
        namespaceOf('team-a', { annotations: wake }),
      ),
    ).toBe('Up 0→3');
  });

  it('is over at its moment', () => {
    expect(textOf(noted({ [WAKE_UNTIL]: '2026-11-20T22:00:00Z' }))).toBe('AsDesired');
    expect(textOf(asleep(), { overrides: [overrideOf({ until: NIGHT })] })).toBe('AsDesired');
    expect(textOf(noted({ [WAKE_UNTIL]: 'tomorrow' }))).toBe('AsDesired');
  });

  it('puts to sleep by day, also what a person had scaled before', () => {
    const scaled = workloadOf({ changed: changeBy('kubectl', NIGHT + HOUR / 4) });
    const day = { period: { state: 'Up', since: NIGHT } as const, now: NIGHT + HOUR };
    const overrides = [overrideOf({ kind: 'sleep', since: NIGHT + HOUR / 2, until: NIGHT + 2 * HOUR })];
    expect(textOf(scaled, { ...day, overrides })).toBe('Down 3→0');
    expect(textOf({ ...scaled, changed: changeBy('kubectl', NIGHT + HOUR - SECOND) }, { ...day, overrides })).toBe(
      'ChangedByPerson',
    );
    const until = { [SLEEP_UNTIL]: '2026-11-21T01:00:00Z' };
    expect(textOf({ ...scaled, annotations: until }, day)).toBe('Down 3→0');
  });

  it('in an annotation holds from when that was written, as far as it is known', () => {
    const day = { period: { state: 'Up', since: NIGHT } as const, now: NIGHT + HOUR, completedAt: NIGHT };
    const annotations = { [SLEEP_UNTIL]: '2026-11-21T01:00:00Z' };
    const since = NIGHT + HOUR / 2;
    const unknown = namespaceOf('team-a', { annotations });
    const existing = namespaceOf('team-a', { annotations, sleepingSince: since });
    const created = workloadOf({ createdAt: since + SECOND, createdBy: 'kubectl-create' });
    expect(textOf(created, day, unknown)).toBe('Down 3→0');
    expect(textOf(created, day, existing)).toBe('ChangedByPerson');
    expect(textOf({ ...created, createdAt: since }, day, existing)).toBe('Down 3→0');
    const own = workloadOf({ annotations, sleepingSince: since, changed: changeBy('kubectl', since + SECOND) });
    expect(textOf(own, day)).toBe('ChangedByPerson');
    expect(textOf({ ...own, changed: changeBy('kubectl', since) }, day)).toBe('Down 3→0');
    // Of one that was over, the moment says nothing.
    expect(textOf(created, day, { ...existing, annotations: {} })).toBe('AsDesired');
  });

  it('counts as done once everything was down since, also by an override or after a wake', () => {
    const since = NIGHT - HOUR;
    const deployed = workloadOf({ changed: changeBy('kubectl', since + SECOND, false) });
    const textFor = (over: Partial<EvaluationContext>, namespace = namespaceOf()) => textOf(deployed, over, namespace);
    const sleep = (by: string) => [overrideOf({ kind: 'sleep', since, by })];
    for (const overrides of [sleep('alice'), [overrideOf({ until: since })]]) {
      expect(textFor({ overrides, completedAt: since - 1 })).toBe('Down 3→0');
      expect(textFor({ overrides, completedAt: since })).toBe('ChangedByPerson');
    }
    // Of an annotation the second alone is known: everything may have been as it should be before it was written.
    const namespace = namespaceOf('team-a', {
      annotations: { [SLEEP_UNTIL]: '2026-11-21T01:00:00Z' },
      sleepingSince: since,
    });
    for (const [over, where] of [
      [{ overrides: sleep('annotation') }, namespaceOf()],
      [{}, namespace],
    ] as const) {
      expect(textFor({ ...over, completedAt: since + 999 }, where)).toBe('Down 3→0');
      expect(textFor({ ...over, completedAt: since + SECOND }, where)).toBe('ChangedByPerson');
    }
  });

  it('puts to sleep what a person scaled while its namespace was awake, though the schedule was asleep before', () => {
    const scaled = workloadOf({ changed: changeBy('kubectl', NIGHT - 2 * HOUR) });
    const awake = overrideOf({ namespace: 'team-a', since: NIGHT - 3 * HOUR, until: NIGHT - HOUR });
    const asleepForAll = overrideOf({ kind: 'sleep', since: NIGHT - 4 * HOUR });
    expect(textOf(scaled, { overrides: [asleepForAll] })).toBe('ChangedByPerson');
    expect(textOf(scaled, { overrides: [asleepForAll, awake] })).toBe('Down 3→0');
  });

  it('takes a person to have woken only what was scaled after the last wake was over', () => {
    const scaled = workloadOf({ changed: changeBy('kubectl', NIGHT - 2 * HOUR) });
    const overrides = [overrideOf({ since: NIGHT - 3 * HOUR, until: NIGHT - HOUR })];
    expect(textOf(scaled)).toBe('ChangedByPerson');
    expect(textOf(scaled, { overrides })).toBe('Down 3→0');
    expect(textOf({ ...scaled, changed: changeBy('kubectl', NIGHT - HOUR + SECOND) }, { overrides })).toBe(
      'ChangedByPerson',
    );
    // A new image, by a person: taken for more only after everything was down again.
    const deployed = { ...scaled, changed: changeBy('kubectl', NIGHT - HOUR + SECOND, false) };
    expect(textOf(deployed, { overrides, completedAt: NIGHT - 2 * HOUR })).toBe('Down 3→0');
    expect(textOf(deployed, { overrides, completedAt: NIGHT - HOUR })).toBe('ChangedByPerson');
  });
});

describe('the priority of a workload', () => {
  const priorities = [
    { priority: 50, selector: { matchLabels: { tier: 'db' } } },
    { priority: 10, selector: { matchExpressions: [{ key: 'tier', operator: 'Exists' as const }] } },
  ];

  it('is its own annotation, else that of the first rule that matches, else 0', () => {
    expect(priorityOf(workloadOf({ labels: { tier: 'db' } }), { priorities })).toBe(50);
    expect(priorityOf(workloadOf({ labels: { tier: 'web' } }), { priorities })).toBe(10);
    expect(priorityOf(workloadOf(), { priorities })).toBe(0);
    const annotated = (text: string) => workloadOf({ labels: { tier: 'db' }, annotations: { [PRIORITY]: text } });
    expect(priorityOf(annotated('-7'), { priorities })).toBe(-7);
    expect(priorityOf(annotated('high'), { priorities })).toBe(50);
    expect(evaluated(annotated('3'))).toMatchObject({ item: { priority: 3 } });
  });
});
