import { describe, expect, it } from 'vitest';
import { eventsOfNotes } from '../../../../domain/lights-out/decide/events.ts';
import { freshMemory } from '../../../../domain/lights-out/decide/memory.ts';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import { KEDA_PAUSED_REPLICAS, MANAGED_BY } from '../../../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  autoscaler,
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

const up = { period: { state: 'Up', since: NIGHT }, now: NIGHT + HOUR } as const;
const full = { annotationRoom: 20 };
/** `original-replicas` of 3, `managed-by` of `nights` and `down-since`. */
const MARKS_BYTES = 43 + 41 + 55;

describe('a workload whose annotations leave no room for marks', () => {
  it('stays up and says why', () => {
    expect(evaluate(workloadOf(full), namespaceOf(), contextOf())).toEqual({
      kind: 'keep',
      reason: 'AnnotationsFull',
      detail:
        'it stays up: its annotations leave no room for those by which Headroom wakes it again (Kubernetes takes 256 KiB of an object). Take some away, or shorten them',
    });
    for (const kind of ['StatefulSet', 'CronJob', 'Rollout', 'ScaledJob'] as const) {
      expect(textOf(workloadOf({ kind, ...full }))).toBe('AnnotationsFull');
    }
  });

  it('sleeps where they fit to the byte', () => {
    expect(textOf(workloadOf({ annotationRoom: MARKS_BYTES }))).toBe('Down 3→0');
    expect(textOf(workloadOf({ annotationRoom: MARKS_BYTES - 1 }))).toBe('AnnotationsFull');
    // What is replaced makes room.
    const annotations = { [MANAGED_BY]: 'a-schedule-that-is-gone' };
    const room = MARKS_BYTES - MANAGED_BY.length - annotations[MANAGED_BY].length;
    expect(textOf(workloadOf({ annotations, annotationRoom: room }))).toBe('Down 3→0');
    expect(textOf(workloadOf({ annotations, annotationRoom: room - 1 }))).toBe('Released 3→3');
  });

  it('is like any other where nothing is written to it, or less than before', () => {
    expect(textOf(workloadOf(full), up)).toBe('AsDesired');
    expect(textOf(workloadOf({ replicas: 0, ...full }))).toBe('AtRest');
    expect(textOf(asleep(full))).toBe('AsDesired');
    expect(textOf(asleep({ annotationRoom: -100 }), up)).toBe('Up 0→3');
    expect(textOf(asleep(full), { spec: specOf({ downscaleReplicas: 2 }) })).toBe('DownTo 0→2');
    // It has its marks.
    const again = { replicas: 3, changed: changeBy('argocd-controller'), annotationRoom: -1 };
    expect(textOf(asleep(again))).toBe('DownAgain 3→0');
  });

  it('is given back whole where it sleeps with a part of the marks', () => {
    const { annotations } = asleep();
    const ofEarlierTool = Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== MANAGED_BY));
    expect(textOf(asleep({ annotations: ofEarlierTool, ...full }))).toBe('Up 0→3');
  });

  it('is named to the people of the schedule, with an Event', () => {
    const plan = planSchedule({ context: contextOf(), namespaces: [namespaceOf()], workloads: [workloadOf(full)] });
    expect(plan).toMatchObject({
      items: [],
      leftAlone: { AnnotationsFull: 1 },
      scope: { workloads: 1 },
      notes: [{ workload: 'Deployment team-a/web', reason: 'AnnotationsFull' }],
    });
    expect(eventsOfNotes(plan, freshMemory, DUSK)).toMatchObject([{ type: 'Warning', reason: 'AnnotationsFull' }]);
  });
});

describe('a workload with an autoscaler whose annotations leave no room', () => {
  const keda = { ...scaledObject(), ...full };

  it('stays up, and nothing of it is written', () => {
    expect(evaluate(workloadOf({ autoscalers: [keda] }), namespaceOf(), contextOf())).toMatchObject({
      kind: 'keep',
      reason: 'AnnotationsFull',
      detail: expect.stringContaining('it stays up: the annotations of its ScaledObject web leave no room'),
    });
    const horizontal = { ...autoscaler(2, 5), ...full };
    expect(textOf(workloadOf({ autoscalers: [horizontal] }), { spec: specOf({ downscaleReplicas: 1 }) })).toBe(
      'AnnotationsFull',
    );
  });

  it('sleeps where nothing is written to the autoscaler', () => {
    // It ignores a workload without replicas.
    expect(textOf(workloadOf({ autoscalers: [{ ...autoscaler(2, 5), ...full }] }))).toBe('Down 3→0');
    const held = { ...keda, annotations: { [KEDA_PAUSED_REPLICAS]: '0', [MANAGED_BY]: 'nights' } };
    expect(textOf(asleep({ autoscalers: [held] }))).toBe('AsDesired');
  });

  it('is woken where that came to it in the night, and stays up from then on', () => {
    expect(textOf(asleep({ autoscalers: [keda] }))).toBe('Up 0→3');
  });

  it('has the replicas that a person gave it in the night, and only the mark of the autoscaler is left out', () => {
    const byPerson = { replicas: 2, changed: changeBy('kubectl') };
    expect(evaluate(asleep({ ...byPerson, autoscalers: [keda] }), namespaceOf(), contextOf())).toMatchObject({
      kind: 'keep',
      reason: 'AnnotationsFull',
      detail: expect.stringContaining('the annotations of its ScaledObject web leave no room'),
    });
    const other = { ...scaledObject(), name: 'other' };
    expect(evaluate(asleep({ ...byPerson, autoscalers: [keda, other] }), namespaceOf(), contextOf())).toMatchObject({
      item: { reason: 'Released', from: 2, to: 2 },
      writes: [{ kind: 'ScaledObject', name: 'other' }],
    });
  });
});
