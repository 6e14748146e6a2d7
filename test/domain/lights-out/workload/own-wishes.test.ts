import { describe, expect, it } from 'vitest';
import { planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import { OWN_REPLICAS, OWN_TIMES, WAKE_UNTIL } from '../../../../domain/lights-out/schedule/names.ts';
import { ownTimesReader } from '../../../../domain/lights-out/schedule/own-times.ts';
import type { ScheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';
import { evaluate } from '../../../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import type { ScopedNamespace, Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  changeBy,
  contextOf,
  DUSK,
  HOUR,
  namespaceOf,
  NIGHT,
  overrideOf,
  specOf,
  textOfEvaluation,
  workloadOf,
} from '../planned.ts';

/** Up until midnight: the schedule of these tests sleeps since 18:00, and it is 22:00. */
const MIDNIGHT = 'upscale: 0 8 * * *; downscale: 0 0 * * *';
/** Down since 20:00. */
const EIGHT = 'upscale: 0 8 * * *; downscale: 0 20 * * *';

function contextWith(spec: Partial<ScheduleSpec> = {}, over: Partial<EvaluationContext> = {}): EvaluationContext {
  const whole = specOf(spec);
  return contextOf({ spec: whole, ownTimes: ownTimesReader(whole, whole.ownTimes), ...over });
}

function textOf(workload: Workload, context = contextWith(), namespace: ScopedNamespace = namespaceOf()): string {
  return textOfEvaluation(evaluate(workload, namespace, context));
}

const withTimes = (text: string) => ({ annotations: { [OWN_TIMES]: text } });
const withCount = (text: string) => ({ annotations: { [OWN_REPLICAS]: text } });
const day = { period: { state: 'Up', since: NIGHT - HOUR } } as const;

describe('a workload with times of its own', () => {
  it('goes by them, before those of its namespace, and those before the schedule', () => {
    expect(textOf(workloadOf())).toBe('Down 3→0');
    expect(textOf(workloadOf(withTimes(MIDNIGHT)))).toBe('AsDesired');
    expect(textOf(workloadOf(), contextWith(), namespaceOf('team-a', withTimes(MIDNIGHT)))).toBe('AsDesired');
    expect(textOf(workloadOf(withTimes(EIGHT)), contextWith(), namespaceOf('team-a', withTimes(MIDNIGHT)))).toBe(
      'Down 3→0',
    );
    expect(textOf(workloadOf(withTimes(EIGHT)), contextWith({}, day))).toBe('Down 3→0');
    const sleeper = asleep();
    expect(textOf({ ...sleeper, annotations: { ...sleeper.annotations, ...withTimes(MIDNIGHT).annotations } })).toBe(
      'Up 0→3',
    );
  });

  it('is awake by an override all the same', () => {
    const woken = { annotations: { ...withTimes(EIGHT).annotations, [WAKE_UNTIL]: '2026-11-20T23:00:00Z' } };
    expect(textOf(workloadOf(woken))).toBe('AsDesired');
    expect(textOf(workloadOf(withTimes(EIGHT)), contextWith({}, { overrides: [overrideOf()] }))).toBe('AsDesired');
  });

  it('is left where a person scaled it up since its own night began, and not where that was before', () => {
    const changed = (at: number) => workloadOf({ ...withTimes(EIGHT), changed: changeBy('kubectl', at) });
    expect(textOf(changed(NIGHT - HOUR))).toBe('ChangedByPerson');
    expect(textOf(changed(DUSK + HOUR))).toBe('Down 3→0');
  });

  it('sleeps from when its schedule was resumed, since what people did before was not against that', () => {
    const changed = changeBy('kubectl', NIGHT - HOUR);
    const workload = workloadOf({ ...withTimes(EIGHT), changed });
    expect(textOf(workload, contextWith({}, { ...day, completedAt: null }))).toBe('ChangedByPerson');
    expect(textOf(workload, contextWith({}, { ...day, completedAt: null, actsFrom: NIGHT }))).toBe('Down 3→0');
  });

  it('sleeps from when they were written, and in the night of the schedule from its beginning', () => {
    const changed = changeBy('kubectl', DUSK + 3 * HOUR);
    const late = workloadOf({ ...withTimes(EIGHT), changed, timesSince: NIGHT });
    expect(textOf(late, contextWith({}, day))).toBe('Down 3→0');
    expect(textOf(late)).toBe('ChangedByPerson');
  });

  it('is out of them where the schedule ignores them, which is named', () => {
    const workload = workloadOf(withTimes(MIDNIGHT));
    const context = contextWith({ ownTimes: 'ignore' });
    expect(textOf(workload, context)).toBe('Down 3→0');
    const { notes } = planSchedule({ context, namespaces: [namespaceOf()], workloads: [workload] });
    expect(notes).toEqual([
      expect.objectContaining({
        reason: 'BadAnnotation',
        detail: expect.stringContaining('spec.ownTimes of the schedule allows none'),
      }),
    ]);
  });

  it('is looked at again when they change', () => {
    const workload = workloadOf(withTimes(MIDNIGHT));
    const { until } = planSchedule({ context: contextWith(), namespaces: [namespaceOf()], workloads: [workload] });
    expect(until).toBe(Date.parse('2026-11-21T00:00:00Z'));
  });

  it('is nothing to a schedule that does not select it', () => {
    const other = namespaceOf('team-z', withTimes(EIGHT));
    const context = contextWith({}, day);
    expect(textOf(workloadOf({ ...withTimes(EIGHT), namespace: 'team-z' }), context, other)).toBe('AsDesired');
    const plan = planSchedule({ context, namespaces: [other], workloads: [workloadOf({ namespace: 'team-z' })] });
    expect([plan.total, plan.notesTotal, plan.until]).toEqual([0, 0, null]);
  });
});

describe('a workload with a count of its own', () => {
  it('keeps it at night, or what its namespace says, also where the schedule keeps another', () => {
    expect(textOf(workloadOf(withCount('2')))).toBe('Down 3→2');
    expect(textOf(workloadOf(withCount('50%')))).toBe('Down 3→2');
    expect(textOf(workloadOf(withCount('9')))).toBe('AtRest');
    expect(textOf(workloadOf(withCount('0')), contextWith({ downscaleReplicas: 2 }))).toBe('Down 3→0');
    expect(textOf(workloadOf(), contextWith(), namespaceOf('team-a', withCount('1')))).toBe('Down 3→1');
    expect(textOf(workloadOf(withCount('2')), contextWith(), namespaceOf('team-a', withCount('1')))).toBe('Down 3→2');
    expect(textOf(workloadOf({ kind: 'CronJob' }), contextWith(), namespaceOf('team-a', withCount('1')))).toBe('Down');
  });

  it('keeps in a window what that keeps', () => {
    const level = { replicas: 1, ofWindow: true, runsCronJobs: true, since: DUSK } as const;
    const context = contextWith({}, { period: { state: 'Down', since: DUSK, level } });
    expect(textOf(workloadOf(withCount('2')), context)).toBe('Down 3→1');
  });

  it('counts as asleep at its own number', () => {
    const sleeper = asleep({ replicas: 2 });
    const workload = { ...sleeper, annotations: { ...sleeper.annotations, ...withCount('2').annotations } };
    const { stats, total } = planSchedule({
      context: contextWith(),
      namespaces: [namespaceOf()],
      workloads: [workload],
    });
    expect([total, stats.deploymentsScaled]).toEqual([0, 1]);
  });
});

describe('an annotation that cannot be followed', () => {
  it.each([
    [
      withTimes('Mon-Fri 07:30-18:30'),
      'the annotation lightsout.techsupport.mk/schedule is wrong: "Mon-Fri 07:30-18:30": expected',
    ],
    [
      withCount('half'),
      'the annotation lightsout.techsupport.mk/downscale-replicas is "half": expected a number of replicas',
    ],
    [withCount('101%'), 'is "101%": expected'],
    [withCount('10001'), 'is "10001": expected'],
    [withCount('-1'), 'is "-1": expected'],
  ])('leaves the workload alone and is named: %j', (bad, sentence) => {
    const workload = workloadOf(bad);
    expect(textOf(workload)).toBe('BadAnnotation');
    const sleeper = asleep();
    // Nobody knows when it is to be woken.
    expect(textOf({ ...sleeper, annotations: { ...sleeper.annotations, ...bad.annotations } })).toBe('Up 0→3');
    const { notes } = planSchedule({ context: contextWith(), namespaces: [namespaceOf()], workloads: [workload] });
    expect(notes).toEqual([
      { workload: 'Deployment team-a/web', reason: 'BadAnnotation', detail: expect.stringContaining(sentence) },
    ]);
  });

  it('is a count on a CronJob, which has no replicas', () => {
    expect(textOf(workloadOf({ kind: 'CronJob', ...withCount('1') }))).toBe('BadAnnotation');
  });

  it('of a namespace is nothing to a workload that has one of its own, or none to have', () => {
    const wrong = namespaceOf('team-a', { annotations: { [OWN_REPLICAS]: 'x', [OWN_TIMES]: 'y' } });
    const own = workloadOf({ annotations: { [OWN_REPLICAS]: '1', [OWN_TIMES]: EIGHT } });
    expect(textOf(own, contextWith(), wrong)).toBe('Down 3→1');
    expect(textOf(workloadOf(withTimes(EIGHT)), contextWith(), wrong)).toBe('Excluded');
    expect(textOf(workloadOf({ kind: 'CronJob', ...withTimes(EIGHT) }), contextWith(), wrong)).toBe('Down');
  });

  it('of a namespace leaves its workloads alone, and is named once', () => {
    const namespace = namespaceOf('team-a', withCount('x'));
    const workloads = [workloadOf(), workloadOf({ name: 'api', uid: 'uid-api' })];
    const { notes, items } = planSchedule({ context: contextWith(), namespaces: [namespace], workloads });
    expect(items).toEqual([]);
    expect(notes.map(({ workload, reason }) => `${workload} ${reason}`)).toEqual([
      'Namespace team-a BadAnnotation',
      'Deployment team-a/api Excluded',
      'Deployment team-a/web Excluded',
    ]);
  });
});
