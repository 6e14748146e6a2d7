import { describe, expect, it } from 'vitest';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import { DELETES_VOLUMES, ORIGINAL_REPLICAS } from '../../../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  changeBy,
  contextOf,
  DUSK,
  HOUR,
  namespaceOf,
  NIGHT,
  scaledObject,
  specOf,
  textOfEvaluation,
  workloadOf,
} from '../planned.ts';

/** `Up 0→3`, or why it is left. */
function textOf(workload: Workload, over: Partial<EvaluationContext> = {}): string {
  return textOfEvaluation(evaluate(workload, namespaceOf(), contextOf(over)));
}

const database = (over: Partial<Workload> = {}) =>
  workloadOf({ kind: 'StatefulSet', name: 'db', deletesVolumes: true, ...over });
/** One whose policy changed in the night. */
const sleeping = (over: Partial<Workload> = {}) =>
  asleep({ kind: 'StatefulSet', name: 'db', deletesVolumes: true, ...over });
const keeping = (downscaleReplicas: number) => ({ spec: specOf({ downscaleReplicas }) });
const allowed = { annotations: { [DELETES_VOLUMES]: 'true' } };
const up = { period: { state: 'Up', since: NIGHT }, now: NIGHT + HOUR } as const;
const windowed = (percent: number) =>
  ({ period: { state: 'Down', since: DUSK, level: { percent, ofWindow: true, since: DUSK } } }) as const;

describe('a StatefulSet whose volumes go with its pods', () => {
  it('stays up wherever fewer replicas would be kept, and says why', () => {
    expect(evaluate(database(), namespaceOf(), contextOf())).toEqual({
      kind: 'keep',
      reason: 'DeletesVolumes',
      detail: `it stays up: scaled down, Kubernetes would delete its volumes (persistentVolumeClaimRetentionPolicy.whenScaled is Delete). The annotation ${DELETES_VOLUMES}: "true" lets it sleep all the same`,
    });
    expect(textOf(database(), keeping(2))).toBe('DeletesVolumes');
    expect(textOf(database(), windowed(50))).toBe('DeletesVolumes');
    const own = { annotations: { 'lightsout.techsupport.mk/downscale-replicas': '1' } };
    expect(textOf(database(own), keeping(3))).toBe('DeletesVolumes');
    const until = { annotations: { 'lightsout.techsupport.mk/sleep-until': '2026-11-21T22:00:00Z' } };
    expect(textOf(database(until), up)).toBe('DeletesVolumes');
    // Whoever changed it, and also where it is new.
    expect(textOf(database({ changed: changeBy('argocd-controller') }))).toBe('DeletesVolumes');
    const spec = specOf({ newWorkloadGrace: '6h' });
    const made = { createdAt: DUSK + HOUR, createdBy: 'argocd-controller' };
    expect(textOf(database(made), { spec })).toBe('DeletesVolumes');
  });

  it('is like any other where nothing is taken away from it', () => {
    expect(textOf(database(), keeping(3))).toBe('AtRest');
    expect(textOf(database(), windowed(100))).toBe('AtRest');
    expect(textOf(database({ replicas: 0 }))).toBe('AtRest');
    expect(textOf(database(), up)).toBe('AsDesired');
    expect(textOf(workloadOf({ kind: 'StatefulSet' }))).toBe('Down 3→0');
  });

  it('sleeps where its annotation lets it', () => {
    expect(textOf(database(allowed))).toBe('Down 3→0');
    expect(textOf(database(allowed), keeping(2))).toBe('Down 3→2');
    expect(textOf(database({ annotations: { [DELETES_VOLUMES]: 'false' } }))).toBe('DeletesVolumes');
    expect(textOf(database({ annotations: { [DELETES_VOLUMES]: 'yes' } }))).toBe('DeletesVolumes');
  });

  it('that sleeps already stays asleep, and is woken as ever: what is gone takes no more with it', () => {
    expect(textOf(sleeping())).toBe('AsDesired');
    expect(textOf(sleeping(), up)).toBe('Up 0→3');
    expect(textOf(sleeping(), { isRestoringAll: true })).toBe('ScheduleDeleted 0→3');
    expect(textOf(sleeping(), { spec: specOf({ namespaces: [] }) })).toBe('LeftScope 0→3');
    expect(textOf(sleeping(), keeping(2))).toBe('DownTo 0→2');
  });

  it('that something keeps above its night is given back whole, with its autoscalers, and then left', () => {
    expect(textOf(sleeping({ replicas: 2 }))).toBe('Up 2→3');
    expect(textOf(sleeping({ replicas: 3, changed: changeBy('argocd-controller') }))).toBe('Released 3→3');
    const paused = scaledObject({
      'autoscaling.keda.sh/paused-replicas': '0',
      'lightsout.techsupport.mk/managed-by': 'nights',
    });
    const evaluation = evaluate(database({ autoscalers: [paused] }), namespaceOf(), contextOf());
    expect(evaluation).toMatchObject({ kind: 'change', item: { direction: 'Up' }, writes: [{ kind: 'ScaledObject' }] });
    // Five now, of three before: never fewer.
    expect(
      textOf(sleeping({ replicas: 5, annotations: { ...sleeping().annotations, [ORIGINAL_REPLICAS]: '3' } })),
    ).toBe('Released 5→5');
  });

  it('is said to the people of the schedule, which has it in its scope', () => {
    const plan = planSchedule({ context: contextOf(), namespaces: [namespaceOf()], workloads: [database()] });
    expect(plan).toMatchObject({
      items: [],
      leftAlone: { DeletesVolumes: 1 },
      scope: { workloads: 1 },
      notes: [{ workload: 'StatefulSet team-a/db', reason: 'DeletesVolumes' }],
    });
  });
});
