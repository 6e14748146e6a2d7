import { describe, expect, it } from 'vitest';
import { excludeAdvice } from '../../../../domain/lights-out/workload/sentences.ts';
import {
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  PRIORITY,
  SLEEP_UNTIL,
  WAKE_UNTIL,
} from '../../../../domain/lights-out/schedule/names.ts';
import type { EvaluationContext } from '../../../../domain/lights-out/workload/evaluation.ts';
import { packItems } from '../../../../domain/lights-out/decide/packed.ts';
import { NOTES_LIMIT } from '../../../../domain/lights-out/decide/notes.ts';
import { PLAN_LENGTH, PLAN_LIMIT, planSchedule } from '../../../../domain/lights-out/decide/plan.ts';
import type { ScopedNamespace, Workload } from '../../../../domain/lights-out/workload/workload.ts';
import {
  asleep,
  changeBy,
  contextOf,
  HOUR,
  namespaceOf,
  NIGHT,
  otherOf,
  overrideOf,
  scaledObject,
  specOf,
  suspended,
  workloadOf,
} from '../planned.ts';

const both = [namespaceOf('team-b'), namespaceOf('team-a')];
const plan = (
  workloads: readonly Workload[],
  over: Partial<EvaluationContext> = {},
  namespaces: readonly ScopedNamespace[] = both,
) => planSchedule({ context: contextOf(over), namespaces, workloads });

describe('a plan', () => {
  it('says which namespaces are in scope, what is to be done in order, and what is left', () => {
    const made = plan([
      workloadOf({ name: 'web' }),
      workloadOf({ name: 'db', annotations: { [PRIORITY]: '100' } }),
      workloadOf({ name: 'api', namespace: 'team-b' }),
      workloadOf({ name: 'shop', namespace: 'shop' }),
      asleep({ name: 'left', namespace: 'gone' }),
      asleep({ name: 'night', replicas: 2, changed: changeBy('kubectl') }),
    ]);
    expect(made.namespaces).toEqual(['team-a', 'team-b']);
    expect(made.items.map(({ workload, reason }) => `${reason} ${workload.name}`)).toEqual([
      'LeftScope left',
      'Down web',
      'Down api',
      'Down db',
    ]);
    expect(made.total).toBe(4);
    expect(made.notes).toEqual([
      { workload: 'Deployment team-a/night', reason: 'ChangedByPerson', detail: expect.stringContaining('kubectl') },
    ]);
  });

  it('has the places of what a pause withholds for the others', () => {
    const first = Array.from({ length: PLAN_LIMIT }, (_, index) => workloadOf({ name: `web-${index}` }));
    const last = workloadOf({ name: 'db', namespace: 'team-b', annotations: { [PRIORITY]: '100' } });
    const made = planSchedule({
      context: contextOf(),
      namespaces: both,
      workloads: [...first, last],
      isPaused: (namespace) => namespace === 'team-a',
    });
    expect(made.items.map(({ workload }) => workload.name)).toEqual(['db']);
    expect(made).toMatchObject({ total: PLAN_LIMIT + 1, withheld: PLAN_LIMIT });
  });

  it('counts what is in scope and its own, and what it put to sleep', () => {
    const { stats, idle } = plan(
      [
        workloadOf({ name: 'a' }),
        workloadOf({ name: 'rest', replicas: 0 }),
        asleep({ name: 'b', present: 1, requests: { cpu: 100, memory: 2 } }),
        asleep({ name: 'c', replicas: 2, present: 2, changed: changeBy('kubectl') }),
        asleep({ name: 'd', kind: 'StatefulSet' }),
        asleep({
          name: 'others',
          annotations: { ...asleep().annotations, 'lightsout.techsupport.mk/managed-by': 'other' },
        }),
        suspended(),
        suspended({ name: 'resumed', isSuspended: false, changed: changeBy('kubectl') }),
        workloadOf({ name: 'shop', namespace: 'shop' }),
      ],
      { others: [otherOf({ isIdle: true })] },
    );
    expect(stats).toEqual({
      deploymentsManaged: 4,
      deploymentsScaled: 1,
      statefulsetsManaged: 1,
      statefulsetsScaled: 1,
      cronjobsManaged: 2,
      cronjobsSuspended: 1,
      rolloutsManaged: 0,
      rolloutsScaled: 0,
      scaledjobsManaged: 0,
      scaledjobsPaused: 0,
    });
    // Of b and d all 3, also while one of the pods is still ending, and of c 3 - 2.
    expect(idle).toEqual({ 'team-a': [3 + 1 + 3, 300, 6] });
  });

  it('counts what it put to sleep also where that has left its scope', () => {
    const { stats, idle } = plan([asleep({ namespace: 'shop' })]);
    expect(stats).toMatchObject({ deploymentsManaged: 1, deploymentsScaled: 1 });
    expect(idle).toEqual({ shop: [3, 0, 0] });
  });

  it('says until when it holds at the longest', () => {
    expect(plan([workloadOf()]).until).toBeNull();
    const grace = workloadOf({ createdAt: NIGHT - HOUR, createdBy: 'argocd-controller' });
    expect(plan([grace], { spec: specOf({ newWorkloadGrace: '2h' }) }).until).toBe(NIGHT + HOUR);
    expect(plan([], { overrides: [overrideOf(), overrideOf({ until: NIGHT })] }).until).toBe(NIGHT + HOUR);
    const put = asleep({ replicas: 4, changed: changeBy('argocd-controller') });
    expect(plan([put], { contested: { 'Deployment team-a/web': NIGHT + 5 } }).until).toBe(NIGHT + 5);
    const woken = { [WAKE_UNTIL]: '2026-11-20T22:30:00Z', [SLEEP_UNTIL]: '2026-11-20T22:10:00Z' };
    expect(plan([workloadOf({ annotations: woken })]).until).toBe(NIGHT + HOUR / 6);
    expect(plan([], {}, [namespaceOf('team-a', { annotations: woken })]).until).toBe(NIGHT + HOUR / 6);
    expect(plan([], {}, [namespaceOf('shop', { annotations: woken })]).until).toBeNull();
  });

  it('says which annotations cannot be read, and does what it would do without them', () => {
    const made = plan([workloadOf({ annotations: { [WAKE_UNTIL]: 'noon', [PRIORITY]: 'high' } })], {}, [
      namespaceOf('team-a', { annotations: { [SLEEP_UNTIL]: 'long' } }),
      namespaceOf('shop', { annotations: { [SLEEP_UNTIL]: 'long' } }),
    ]);
    expect(made.items).toHaveLength(1);
    expect(made.notes.map(({ workload, reason }) => `${reason} ${workload}`)).toEqual([
      'BadAnnotation Deployment team-a/web',
      'BadAnnotation Deployment team-a/web',
      'BadAnnotation Namespace team-a',
    ]);
    expect(made.notes.every(({ detail }) => detail.length <= 300)).toBe(true);
  });

  it('has so many items and notes at the most, and says how many there are', () => {
    const many = (count: number, over: Partial<Workload>) =>
      Array.from({ length: count }, (_, index) => workloadOf({ name: `w${index}`, ...over }));
    const made = plan(many(PLAN_LIMIT + 5, {}));
    expect([made.items.length, made.total]).toEqual([PLAN_LIMIT, PLAN_LIMIT + 5]);
    const noted = plan(many(NOTES_LIMIT + 5, { changed: changeBy('kubectl') }));
    expect([noted.notes.length, noted.notesTotal]).toEqual([NOTES_LIMIT, NOTES_LIMIT + 5]);
  });

  it('counts what is left alone by reason, and has what a person did before fifty others', () => {
    const controller = { group: 'postgresql.cnpg.io', kind: 'Cluster', name: 'main' };
    const operators = Array.from({ length: NOTES_LIMIT + 5 }, (_, index) =>
      workloadOf({ name: `a${index}`, uid: `a${index}`, controller }),
    );
    const made = plan([
      ...operators,
      workloadOf({ name: 'zero', replicas: 0 }),
      workloadOf({ name: 'web', changed: changeBy('kubectl') }),
    ]);
    expect(made.leftAlone).toEqual({ ControllerOwned: NOTES_LIMIT + 5, AtRest: 1, ChangedByPerson: 1 });
    expect(made.notes[0]).toMatchObject({ workload: 'Deployment team-a/web', reason: 'ChangedByPerson' });
    expect(made.scope).toMatchObject({ workloads: 2 });
  });

  it('has one text for the same workloads in any order, and another where one joins', () => {
    const [web, api] = [workloadOf({ name: 'web' }), workloadOf({ name: 'api' })];
    const digest = (workloads: readonly Workload[]) => plan(workloads).scope?.digest;
    expect(digest([web, api])).toBe(digest([api, { ...web, replicas: 9 }]));
    expect(digest([web])).not.toBe(digest([web, api]));
    expect(digest([web])).not.toBe(digest([workloadOf({ name: 'web', kind: 'StatefulSet' })]));
  });

  it('fits into the answer of an activity however long the names are', () => {
    const long = (index: number) => `${index}-`.padEnd(240, 'x');
    const made = plan(
      Array.from({ length: PLAN_LIMIT }, (_, index) => workloadOf({ name: long(index) })),
      { schedule: long(0) },
    );
    const { length } = JSON.stringify(packItems(made.items));
    expect(length).toBeGreaterThan(PLAN_LENGTH / 2);
    expect(length).toBeLessThan(PLAN_LENGTH + PLAN_LIMIT);
    expect(made.total).toBe(PLAN_LIMIT);
  });

  it('lets go of autoscalers whose workload is not there, once that would be woken', () => {
    const held = scaledObject({ [MANAGED_BY]: 'nights', [KEDA_PAUSED_REPLICAS]: '0' });
    const missing = [workloadOf({ uid: '', replicas: 0, createdAt: 0, createdBy: null, autoscalers: [held] })];
    const planned = (over: Partial<EvaluationContext>) =>
      planSchedule({ context: contextOf(over), namespaces: both, workloads: [], missing });
    const reasons = (over: Partial<EvaluationContext>) => planned(over).items.map(({ reason }) => reason);
    const morning = planned({ period: { state: 'Up', since: NIGHT } });
    expect(morning.items).toMatchObject([
      {
        workload: { kind: 'Deployment', namespace: 'team-a', name: 'web' },
        direction: 'Up',
        autoscalers: [{ kind: 'ScaledObject', name: 'web' }],
      },
    ]);
    expect(morning.stats.deploymentsManaged).toBe(0);
    expect(reasons({ isRestoringAll: true, spec: specOf({ namespaces: [] }) })).toEqual(['ScheduleDeleted']);
    expect(reasons({ spec: specOf({ namespaces: ['team-b'] }) })).toEqual(['LeftScope']);
    expect(reasons({})).toEqual([]);
    // Nothing is held for another schedule's sake either.
    expect(reasons({ schedule: 'heir' })).toEqual([]);
    expect(reasons({ schedule: 'other', others: [otherOf({ name: 'nights' })], isRestoringAll: true })).toEqual([]);
  });

  it('of a deleted schedule wakes what it put to sleep, wherever that is, and nothing else', () => {
    const made = plan(
      [
        asleep(),
        asleep({ name: 'far', namespace: 'shop' }),
        suspended({ namespace: 'nowhere' }),
        workloadOf({ name: 'up' }),
      ],
      { isRestoringAll: true, spec: specOf({ namespaces: [] }) },
      [namespaceOf('shop')],
    );
    expect(
      made.items.map(({ reason, workload }) => `${reason} ${workload.namespace}/${workload.name}`).toSorted(),
    ).toEqual(['ScheduleDeleted nowhere/report', 'ScheduleDeleted shop/far', 'ScheduleDeleted team-a/web']);
  });
});

describe('the advice about a manager that wakes workloads again', () => {
  it.each([
    ['argocd-controller', /ignoreDifferences.*\/spec\/replicas.*RespectIgnoreDifferences=true/],
    ['kustomize-controller', /leave replicas .*out of the manifest/],
    ['helm-controller', /driftDetection\.ignore of the HelmRelease/],
    ['rancher', /excludeLabels/],
  ])('for %s says how the field is left out', (manager, expected) => {
    expect(excludeAdvice(manager)).toMatch(expected);
    expect(excludeAdvice(manager).length).toBeLessThan(200);
    expect(excludeAdvice(manager)).not.toMatch(/\.$/);
  });
});
