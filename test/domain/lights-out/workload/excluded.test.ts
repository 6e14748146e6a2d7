import { describe, expect, it } from 'vitest';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import { EXCLUDE_UNTIL, SLEEP_UNTIL } from '../../../../domain/lights-out/schedule/names.ts';
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
  overrideOf,
  scaledObject,
  specOf,
  suspended,
  textOfEvaluation,
  workloadOf,
} from '../planned.ts';

const later = { [EXCLUDE_UNTIL]: '2026-11-20T23:00:00Z' };
const past = { [EXCLUDE_UNTIL]: '2026-11-20T21:30:00Z' };
const unreadable = { [EXCLUDE_UNTIL]: 'after the release' };
const named = (annotations: Readonly<Record<string, string>>) => namespaceOf('team-a', { annotations });

/** `Up 0→3`, or why it is left. */
function textOf(workload: Workload, over: Partial<EvaluationContext> = {}, namespace = namespaceOf()): string {
  return textOfEvaluation(evaluate(workload, namespace, contextOf(over)));
}

const noted = (workload: Workload, annotations: Readonly<Record<string, string>>): Workload => ({
  ...workload,
  annotations: { ...workload.annotations, ...annotations },
});

describe('what people exclude until a moment', () => {
  it('is not put to sleep, and is named with the moment, also by its namespace and by day', () => {
    const web = noted(workloadOf(), later);
    expect(evaluate(web, namespaceOf(), contextOf())).toEqual({
      kind: 'keep',
      reason: 'Excluded',
      detail: `it is left alone until 2026-11-20T23:00:00Z, by its annotation ${EXCLUDE_UNTIL}`,
      until: NIGHT + HOUR,
    });
    expect(evaluate(workloadOf(), named(later), contextOf())).toMatchObject({
      reason: 'Excluded',
      detail: expect.stringContaining('by the annotation of its namespace'),
    });
    expect(textOf(web, { period: { state: 'Up', since: DUSK } })).toBe('Excluded');
    expect(textOf(noted(workloadOf({ autoscalers: [scaledObject()] }), later))).toBe('Excluded');
  });

  it('goes before commands and other annotations, and the longer one counts', () => {
    const overrides = [overrideOf({ kind: 'sleep' })];
    expect(textOf(noted(workloadOf(), { ...later, [SLEEP_UNTIL]: '2026-11-21T12:00:00Z' }), { overrides })).toBe(
      'Excluded',
    );
    const longer = { [EXCLUDE_UNTIL]: '2026-11-21T12:00:00Z' };
    const evaluation = evaluate(noted(workloadOf(), later), named(longer), contextOf());
    expect(evaluation).toMatchObject({ until: NIGHT + 14 * HOUR });
  });

  it('is woken once where it sleeps, and is woken by a deletion, and left by a suspended schedule, like any other', () => {
    expect(textOf(noted(asleep(), later))).toBe('Up 0→3');
    expect(textOf(noted(suspended(), later))).toBe('Up');
    expect(textOf(noted(asleep(), later), { isRestoringAll: true })).toBe('ScheduleDeleted 0→3');
    expect(textOf(noted(asleep(), later), { spec: specOf({ suspend: true }) })).toBe('AsDesired');
  });

  it('sleeps from the moment on, also where a person had scaled it before', () => {
    const scaled = workloadOf({ changed: changeBy('kubectl', NIGHT - HOUR) });
    expect(textOf(scaled, { completedAt: DUSK + HOUR })).toBe('ChangedByPerson');
    expect(textOf(noted(scaled, past), { completedAt: DUSK + HOUR })).toBe('Down 3→0');
    expect(textOf(scaled, { completedAt: DUSK + HOUR }, named(past))).toBe('Down 3→0');
    const since = workloadOf({ changed: changeBy('kubectl', NIGHT - HOUR / 4) });
    expect(textOf(noted(since, past), { completedAt: NIGHT - HOUR / 3 })).toBe('ChangedByPerson');
  });

  it('stays up where nobody can read until when, and that is said once', () => {
    expect(textOf(noted(workloadOf(), unreadable))).toBe('BadAnnotation');
    expect(textOf(noted(asleep(), unreadable))).toBe('Up 0→3');
    expect(textOf(workloadOf(), {}, named(unreadable))).toBe('Excluded');
    const made = planSchedule({
      context: contextOf(),
      namespaces: [namespaceOf(), namespaceOf('team-b', { annotations: unreadable })],
      workloads: [noted(workloadOf(), unreadable), workloadOf({ namespace: 'team-b', name: 'api' })],
    });
    expect(made.items).toEqual([]);
    expect(made.notes.map(({ workload, reason }) => `${reason} ${workload}`)).toEqual([
      'BadAnnotation Deployment team-a/web',
      'BadAnnotation Namespace team-b',
      'Excluded Deployment team-b/api',
    ]);
    expect(made.notes[0]?.detail).toBe(
      `the annotation ${EXCLUDE_UNTIL} is "after the release", which cannot be read, so nothing is put to sleep: expected a moment with its zone, such as 2026-11-20T22:00:00Z`,
    );
  });

  it('is looked at again when the moment comes', () => {
    const plan = (workloads: readonly Workload[], namespace = namespaceOf()) =>
      planSchedule({ context: contextOf(), namespaces: [namespace], workloads });
    const { until, scope, leftAlone } = plan([noted(workloadOf(), later)]);
    expect(until).toBe(NIGHT + HOUR);
    // It is the schedule's all the same: whoever approves sees it.
    expect(scope?.workloads).toBe(1);
    expect(leftAlone).toEqual({ Excluded: 1 });
    expect(plan([noted(asleep(), later)]).until).toBe(NIGHT + HOUR);
    expect(plan([], named(later)).until).toBe(NIGHT + HOUR);
    expect(plan([noted(asleep(), past)]).until).toBeNull();
  });
});
