import { describe, expect, it } from 'vitest';
import { freshSavings } from '../../../../domain/lights-out/decide/savings.ts';
import type { PauseScope } from '../../../../domain/kernel/pause.ts';
import { afterBatch } from '../../../../domain/lights-out/decide/run.ts';
import { decide } from '../../../../domain/lights-out/decide/decide.ts';
import {
  freshMemory,
  type LightsOutMemory,
  takeOver,
  upgradeMemory,
} from '../../../../domain/lights-out/decide/memory.ts';
import type { ScheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';
import { down, HOUR, itemOf, observationOf, NOON, planOf, scheduleOf, specOf, up } from '../observations.ts';

const existing: LightsOutMemory = { ...freshMemory, isTakenOver: true };
const decided = (observeInput: Parameters<typeof observationOf>[0], memory = existing) =>
  decide(observationOf(observeInput), memory)[1];
const pauseBy = (by: string, scope: PauseScope['kind']) =>
  ({ scope, by, reason: 'an incident', at: NOON, kept: 'a ConfigMap' }) as const;
const remembered = (observeInput: Parameters<typeof observationOf>[0], memory = existing) =>
  decide(observationOf(observeInput), memory)[0];

describe('a schedule that is followed', () => {
  it('is left asleep until the next transition where everything is as it wants it', () => {
    expect(decided({})).toMatchObject({
      kind: 'wait',
      phase: 'Down',
      reason: 'AsScheduled',
      until: NOON + 12 * HOUR,
      ready: { status: 'True', reason: 'ReconcileSucceeded' },
      detail: 'the schedule is asleep, and 0 workloads are asleep. It wakes at Sat 2026-11-21 00:00 +00:00',
    });
  });

  it('puts to sleep what is up', () => {
    const item = itemOf('web');
    expect(decided({ plan: planOf([item]) })).toMatchObject({ kind: 'scale', phase: 'ScalingDown', items: [item] });
  });

  it('puts the finalizer on before its first write', () => {
    expect(decided({ plan: planOf([itemOf('web')]), schedule: scheduleOf({ hasFinalizer: false }) })).toMatchObject({
      kind: 'finalizer',
      isPresent: true,
    });
  });

  it('needs no finalizer while it has nothing to write', () => {
    expect(decided({ schedule: scheduleOf({ hasFinalizer: false }) })).toMatchObject({ kind: 'wait' });
  });

  it('is observed once a day even where no transition is near, because time zones change', () => {
    const far = { ...up, next: { at: NOON + 90 * 24 * HOUR, state: 'Down', exception: null } as const };
    expect(decided({ period: far })).toMatchObject({ kind: 'wait', until: NOON + 24 * HOUR });
  });

  it('is observed when an override ends, and forgets it then', () => {
    const override = {
      kind: 'wake',
      namespace: null,
      since: NOON - HOUR,
      until: NOON + HOUR,
      by: 'alice',
      reason: '',
    } as const;
    const memory = {
      ...existing,
      overrides: [override],
      completed: { state: 'Down', since: down.since, at: NOON - HOUR } as const,
    };
    expect(decided({}, memory)).toMatchObject({ until: NOON + HOUR });
    expect(decided({}, memory).facts).toContain('awake until 2026-11-20T13:00:00Z (by alice)');
    const over = remembered({ at: NOON + HOUR }, memory);
    // For the rest of the night it is known since when everything is asleep again.
    expect(over.overrides).toEqual([override]);
    expect(decided({ at: NOON + HOUR }, memory).facts.join()).not.toContain('awake until');
    const inEffect = {
      state: 'Up',
      since: NOON + 12 * HOUR,
      from: NOON + 12 * HOUR,
      generation: 1,
      isActive: true,
    } as const;
    expect(remembered({ at: NOON + 12 * HOUR, period: up, inEffect }, over)).toMatchObject({
      overrides: [],
    });
  });

  it('is observed when an override of its annotations ends', () => {
    const overrides = [
      { kind: 'wake', namespace: null, since: NOON - HOUR, until: NOON + HOUR, by: 'annotation', reason: '' } as const,
    ];
    expect(decided({ schedule: scheduleOf({ overrides }) })).toMatchObject({ kind: 'wait', until: NOON + HOUR });
  });

  it('is observed when a workload of it is to be evaluated again, as when its grace period ends', () => {
    expect(decided({ plan: planOf([], { until: NOON + HOUR }) })).toMatchObject({ kind: 'wait', until: NOON + HOUR });
  });

  it('forgets an override to sleep as soon as it is over', () => {
    const override = { kind: 'sleep', namespace: null, since: NOON, until: NOON + 1, by: 'alice', reason: '' } as const;
    const memory = { ...existing, overrides: [override] };
    expect(remembered({}, memory).overrides).toEqual([override]);
    expect(remembered({ at: NOON + 1 }, memory).overrides).toEqual([]);
  });

  it('says what a dry run would do, writes nothing, and has one Event of it', () => {
    const observeInput = {
      plan: planOf([itemOf('web')]),
      schedule: scheduleOf({ spec: specOf({ dryRun: true }), hasFinalizer: false }),
    };
    const verdict = decided(observeInput);
    expect(verdict).toMatchObject({ kind: 'wait', phase: 'DryRun', detail: 'this dry run would change 1 workload' });
    expect(verdict.facts).toContain('Would be done: Deployment team-a/web 3 -> 0');
    const emitted = verdict.events.map(({ key }) => key);
    expect(emitted).toHaveLength(1);
    expect(decided(observeInput, { ...existing, emitted }).events).toEqual([]);
  });

  it('says what a dry run and a suspension leave asleep, and how to find each of it', () => {
    const stats = { ...planOf().stats, deploymentsScaled: 1, rolloutsScaled: 2 };
    const find = 'kubectl get deployments,rollouts -A -l lightsout.techsupport.mk/managed-by names what sleeps';
    const detailOf = (spec: Partial<ScheduleSpec>) =>
      decided({ plan: planOf([], { stats }), schedule: scheduleOf({ spec: specOf(spec) }) }).detail;
    expect(detailOf({ dryRun: true })).toBe(
      `this dry run would change nothing. 3 workloads that it put to sleep stay asleep until dryRun is removed. ${find}`,
    );
    expect(detailOf({ suspend: true })).toBe(
      `spec.suspend is true: nothing is put to sleep or woken. 3 workloads that it put to sleep stay asleep until suspend is removed. ${find}`,
    );
  });

  it('waits for an approval before it puts anything to sleep, and wakes without one', () => {
    const schedule = scheduleOf({ spec: specOf({ requireApproval: true }) });
    const waking = itemOf('old', { direction: 'Up', reason: 'LeftScope', from: 0, to: 2 });
    expect(decided({ schedule, plan: planOf([itemOf('web')]) })).toMatchObject({
      kind: 'wait',
      phase: 'AwaitingApproval',
    });
    expect(decided({ schedule, plan: planOf([waking, itemOf('web')]) })).toMatchObject({
      kind: 'scale',
      items: [waking],
    });
    const memory = { ...existing, approved: { by: 'alice', at: NOON } };
    expect(decided({ schedule, plan: planOf([itemOf('web')]) }, memory)).toMatchObject({ kind: 'scale' });
  });

  it.each([
    ['suspended', { schedule: scheduleOf({ spec: specOf({ suspend: true }) }) }, existing, 'Suspended'],
    ['paused by an operator', { pause: pauseBy('bob', 'target') }, existing, 'Paused'],
    [
      'invalid',
      {
        schedule: scheduleOf({ spec: null, problems: [{ field: 'spec.upscale', message: 'no' }] }),
        period: null,
        plan: null,
      },
      existing,
      'Invalid',
    ],
  ] as const)('writes nothing while it is %s', (_, observeInput, memory, phase) => {
    expect(decided({ plan: planOf([itemOf('web')]), ...observeInput }, memory)).toMatchObject({ kind: 'wait', phase });
  });

  it('says which field of an invalid one is wrong, once for each edit', () => {
    const schedule = scheduleOf({
      spec: null,
      generation: 7,
      problems: [{ field: 'spec.timezone', message: 'no zone' }],
    });
    const verdict = decided({ schedule, period: null, plan: null });
    expect(verdict.ready).toEqual({ status: 'False', reason: 'InvalidSchedule', message: 'spec.timezone: no zone.' });
    expect(verdict.events).toMatchObject([{ reason: 'InvalidSchedule', key: 'InvalidSchedule 7' }]);
  });

  it.each([
    [
      'everything',
      'GloballyPaused',
      'Headroom is paused in this cluster by ops',
      'Headroom is paused in this cluster by ops',
    ],
    ['controller', 'Paused', 'the controller is paused by ops', 'The controller is paused by ops'],
    ['target', 'Paused', 'paused by ops', 'Paused by ops'],
  ] as const)('writes nothing and shows the pause while the scope of one is %s', (scope, reason, detail, message) => {
    const beginning = (words: string) =>
      expect.stringMatching(new RegExp(`^${words} since 2026-11-20T12:00:00Z: an incident \\(`));
    for (const seen of [{ plan: planOf([itemOf('web')]) }, {}, { schedule: scheduleOf({ isDeleting: true }) }]) {
      expect(decided({ ...seen, pause: pauseBy('ops', scope) })).toMatchObject({
        kind: 'wait',
        phase: 'Paused',
        reason,
        detail: beginning(detail),
        until: null,
        ready: { status: 'Unknown', reason, message: beginning(message) },
      });
    }
  });

  it('lets what failed wait for its next try, shows it, and goes on with the others', () => {
    const [bad, good] = [itemOf('bad'), itemOf('good')];
    const memory: LightsOutMemory = {
      ...existing,
      failing: { 'Deployment team-a/bad': 'denied' },
      retry: { times: 1, at: NOON + 15_000, isMany: false },
    };
    expect(decided({ plan: planOf([bad, good]) }, memory)).toMatchObject({ kind: 'scale', items: [good] });
    expect(decided({ plan: planOf([bad]) }, memory)).toMatchObject({
      kind: 'wait',
      reason: 'ScalingFailed',
      until: NOON + 15_000,
      ready: {
        status: 'False',
        reason: 'ReconcileFailed',
        message:
          '1 workload cannot be written: Deployment team-a/bad: denied. Headroom tries again at 2026-11-20T12:00:15Z.',
      },
    });
    expect(decided({ at: NOON + 15_000, plan: planOf([bad]) }, memory)).toMatchObject({ kind: 'scale', items: [bad] });
  });

  it('says what the pause of a namespace withholds', () => {
    const [, { detail }] = decide(observationOf({ plan: planOf([], { total: 1, withheld: 1 }) }), existing);
    expect(detail).toMatch(/\. 1 workload waits for the end of the pause of its namespace$/);
  });

  it('forgets a failure that is not to be written any more', () => {
    const memory: LightsOutMemory = {
      ...existing,
      failing: { 'Deployment team-a/bad': 'denied' },
      retry: { times: 3, at: NOON + 1, isMany: false },
    };
    expect(remembered({}, memory)).toMatchObject({ failing: {}, retry: null });
    // Beyond the limit of a plan nobody knows.
    expect(remembered({ plan: planOf([], { total: 1_500 }) }, memory)).toMatchObject({ failing: memory.failing });
  });

  it('has one Event a night for each workload that a person keeps up, that another schedule owns, and that GitOps woke', () => {
    const plan = planOf([itemOf('web', { reason: 'DownAgain', manager: 'argocd-controller' })], {
      notes: [
        { workload: 'Deployment team-a/kept', reason: 'ChangedByPerson', detail: 'scaled by kubectl' },
        { workload: 'Deployment team-a/theirs', reason: 'OwnedByOther', detail: 'belongs to night' },
        { workload: 'Deployment team-a/young', reason: 'Grace', detail: 'is new' },
      ],
      notesTotal: 3,
    });
    const { events } = decided({ plan });
    expect(events.map(({ reason }) => reason)).toEqual(['KeptUp', 'OwnedByOther', 'PutDownAgain']);
    expect(events[2]?.message).toContain('/spec/replicas');
    const emitted = events.map(({ key }) => key);
    expect(decided({ plan }, { ...existing, emitted }).events).toEqual([]);
    const nextNight = { ...down, since: NOON + 24 * HOUR };
    expect(decided({ plan, period: nextNight }, { ...existing, emitted }).events).toHaveLength(3);
  });
});

describe('what people wrote and cannot be followed', () => {
  it('of a calendar is in Ready, in an Event and in the facts, and a failure goes before it', () => {
    const problems = ['ConfigMap holidays, days, entry 2: "2026-02-30" is not a day'];
    const schedule = scheduleOf({ calendars: { digest: 'a', problems } });
    const verdict = decided({ schedule });
    const message = `${problems[0]}. The schedule goes by its patterns and by what can be read.`;
    expect(verdict).toMatchObject({ kind: 'wait', reason: 'AsScheduled' });
    expect(verdict.ready).toEqual({ status: 'False', reason: 'CalendarInvalid', message });
    expect(verdict.events).toMatchObject([
      { type: 'Warning', reason: 'CalendarInvalid', message: expect.stringContaining(problems[0] ?? '') },
    ]);
    expect(verdict.facts).toContain(`Calendar: ${problems[0]}`);
    const emitted = { ...existing, emitted: ['CalendarInvalid a'] };
    expect(decided({ schedule }, emitted).events).toEqual([]);
    const failed = { ...emitted, failing: { 'Deployment team-a/web': 'refused' } };
    const failing = decided(
      { schedule, plan: planOf([itemOf('web')]) },
      { ...failed, retry: { times: 1, at: NOON + HOUR, isMany: false } },
    );
    expect(failing.ready).toMatchObject({ reason: 'ReconcileFailed' });
  });

  it('of one workload is an Event for each thing that is wrong, and another after another slip', () => {
    const note = (detail: string) => ({ workload: 'Deployment team-a/web', reason: 'BadAnnotation' as const, detail });
    const plan = planOf([], { notes: [note('its times are wrong'), note('its priority is wrong')], notesTotal: 2 });
    const keys = decided({ plan }).events.map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
    const corrected = planOf([], { notes: [note('its times are wrong in another way')], notesTotal: 1 });
    expect(decided({ plan: corrected }, { ...existing, emitted: keys }).events).toHaveLength(1);
  });
});

describe('a schedule with windows', () => {
  it('says what it keeps, and what it keeps next', () => {
    const level = { percent: 50, ofWindow: true, runsCronJobs: true, since: NOON - HOUR } as const;
    const night = { at: NOON + HOUR, state: 'Down', exception: null, level: { replicas: 0 } } as const;
    const local = { next: 'Fri 14:00', nextUpscale: null, nextDownscale: null };
    expect(decided({ period: { ...down, level, next: night }, local }).detail).toBe(
      'the schedule is asleep and keeps 50 %, and 0 workloads are asleep. It goes on to keep nothing at Fri 14:00',
    );
    const evening = { ...night, level: { replicas: 1 } };
    expect(decided({ period: { ...up, next: evening }, local }).detail).toContain(
      'It goes to sleep and keeps 1 replica at Fri 14:00',
    );
  });
});

describe('more failures than are remembered by name', () => {
  const many = Array.from({ length: 150 }, (_, index) => itemOf(`web-${index}`));
  const memory: LightsOutMemory = {
    ...existing,
    failing: Object.fromEntries(
      many.slice(0, 100).map(({ workload }) => [`Deployment team-a/${workload.name}`, 'denied']),
    ),
    retry: { times: 1, at: NOON + 15_000, isMany: true },
  };

  it('are all tried again at their time, and nothing before', () => {
    expect(decided({ plan: planOf(many) }, memory)).toMatchObject({
      kind: 'wait',
      reason: 'ScalingFailed',
      until: NOON + 15_000,
      detail: expect.stringMatching(/^More than 100 workloads cannot be written: /),
    });
    expect(decided({ at: NOON + 15_000, plan: planOf(many) }, memory)).toMatchObject({ kind: 'scale', items: many });
  });

  it('of the night do not hold up the morning, also where it has more workloads than one plan', () => {
    const woken = Array.from({ length: 1_000 }, (_, index) =>
      itemOf(`web-${index}`, { direction: 'Up', reason: 'Up', from: 0, to: 3 }),
    );
    const retry = { times: 9, at: NOON + 600_000, isMany: true, direction: 'Down' } as const;
    const plan = planOf(woken, { total: 1_200 });
    expect(decided({ plan, period: up }, { ...memory, retry })).toMatchObject({ kind: 'scale', items: woken });
    // What cannot be woken begins its own row of tries.
    const [first = itemOf('none')] = woken;
    const outcomes = [{ workload: 'Deployment team-a/web-0', kind: 'failed', detail: 'denied' } as const];
    const failed = afterBatch({ ...memory, retry }, [first], outcomes, { now: NOON, timings: observationOf().timings });
    expect(failed.retry).toEqual({ times: 1, at: NOON + 15_000, isMany: false, direction: 'Up' });
  });
});

describe('a schedule that is deleted', () => {
  const schedule = scheduleOf({ isDeleting: true });
  const waking = itemOf('web', { direction: 'Up', reason: 'ScheduleDeleted', from: 0, to: 3 });

  it('wakes everything, and only then takes the finalizer off', () => {
    expect(decided({ schedule, plan: planOf([waking]) })).toMatchObject({ kind: 'scale', phase: 'CleaningUp' });
    expect(decided({ schedule })).toMatchObject({
      kind: 'finalizer',
      isPresent: false,
      events: [{ reason: 'CleanupComplete' }],
    });
    expect(decided({ schedule: scheduleOf({ isDeleting: true, hasFinalizer: false }) })).toMatchObject({ kind: 'end' });
  });

  it('stays while something cannot be woken, and says what', () => {
    const memory: LightsOutMemory = {
      ...existing,
      failing: { 'Deployment team-a/web': 'denied' },
      retry: { times: 1, at: NOON + 15_000, isMany: false },
    };
    expect(decided({ schedule, plan: planOf([waking]) }, memory)).toMatchObject({
      kind: 'wait',
      reason: 'CleanupFailed',
      until: NOON + 15_000,
      events: [{ reason: 'CleanupPartialFailure' }],
    });
  });

  it('waits for the end of the pause of a namespace, which is no failure', () => {
    expect(decided({ schedule, plan: planOf([], { total: 2, withheld: 2 }) })).toMatchObject({
      kind: 'wait',
      phase: 'CleaningUp',
      reason: 'Paused',
      detail: expect.stringContaining('2 workloads wait for the end of the pause of their namespaces'),
      events: [],
    });
  });

  it('is cleaned up also when it is invalid or suspended', () => {
    expect(
      decided({ schedule: scheduleOf({ isDeleting: true, spec: null }), period: null, plan: planOf([waking]) }),
    ).toMatchObject({ kind: 'scale' });
    expect(
      decided({ schedule: scheduleOf({ isDeleting: true, spec: specOf({ suspend: true }) }), plan: planOf([waking]) }),
    ).toMatchObject({ kind: 'scale' });
  });

  it('waits for the end of a pause', () => {
    expect(decided({ schedule, plan: planOf([waking]), pause: pauseBy('bob', 'target') })).toMatchObject({
      kind: 'wait',
      phase: 'Paused',
    });
  });

  it('is cleaned up also when its object is gone already, and the workflow ends', () => {
    expect(decided({ schedule: null, period: null, plan: planOf([waking]) })).toMatchObject({ kind: 'scale' });
    expect(decided({ schedule: null, period: null, pause: pauseBy('bob', 'target') })).toMatchObject({
      kind: 'end',
      reason: 'ScheduleGone',
    });
  });
});

describe('the memory', () => {
  it('adds up the saved replica-hours from one observation to the next', () => {
    const first = remembered({ plan: planOf([], { idle: { 'team-a': [4, 0, 0] } }) });
    expect(first.savings).toMatchObject({ namespaces: {}, at: NOON });
    const second = remembered({ at: NOON + 2 * HOUR, plan: planOf([], { idle: { 'team-a': [1, 0, 0] } }) }, first);
    expect(second.savings).toMatchObject({ namespaces: { 'team-a': [8, 0, 0] }, at: NOON + 2 * HOUR });
    const unreadable = remembered({ at: NOON + 3 * HOUR, plan: null, period: null }, second);
    expect(unreadable.savings).toMatchObject({ namespaces: { 'team-a': [9, 0, 0] }, at: NOON + 3 * HOUR });
  });

  it('takes over from the status what a terminated run knew, once', () => {
    const status = {
      savedReplicaHours: '12.5',
      approved: { by: 'alice', at: '2026-11-01T10:00:00Z' },
      lastDownscaleTime: '2026-11-19T18:00:00Z',
      overrides: [
        {
          kind: 'wake' as const,
          namespace: 'team-a',
          since: '2026-11-20T11:00:00Z',
          until: '2026-11-20T14:00:00Z',
          by: 'bob',
        },
      ],
    };
    const memory = takeOver(freshMemory, status);
    expect(memory).toMatchObject({
      isTakenOver: true,
      approved: { by: 'alice' },
      savings: { namespaces: { '(others)': [12.5, 0, 0] } },
      lastDownscale: Date.parse('2026-11-19T18:00:00Z'),
      overrides: [{ namespace: 'team-a', until: Date.parse('2026-11-20T14:00:00Z') }],
    });
    expect(takeOver(memory, status)).toBe(memory);
  });

  it('knows when everything was asleep', () => {
    const asleep = {
      state: 'Down' as const,
      stateSince: '2026-11-19T18:00:00Z',
      lastDownscaleTime: '2026-11-19T18:05:00Z',
    };
    expect(takeOver(freshMemory, asleep)).toMatchObject({
      completed: { state: 'Down', at: Date.parse('2026-11-19T18:05:00Z') },
    });
    const underWay = { total: 9, completed: 3, failed: 0, inProgress: true };
    expect(takeOver(freshMemory, { ...asleep, scalingProgress: underWay }).completed).toBeNull();
    expect(takeOver(freshMemory, { ...asleep, lastDownscaleTime: '2026-11-18T18:05:00Z' }).completed).toBeNull();
  });

  it('keeps which schedule it is about', () => {
    expect(remembered({}).uid).toBe('uid-1');
  });

  it('prefers a command that this run took to one in the status for the same namespace', () => {
    const override = {
      kind: 'sleep',
      namespace: null,
      since: NOON,
      until: NOON + HOUR,
      by: 'carol',
      reason: '',
    } as const;
    const status = {
      overrides: [{ kind: 'wake' as const, since: '2026-11-20T11:00:00Z', until: '2026-11-20T14:00:00Z', by: 'bob' }],
    };
    expect(takeOver({ ...freshMemory, overrides: [override] }, status).overrides).toEqual([override]);
  });

  it('forgets at the end of the night which workloads GitOps scaled up in it', () => {
    const memory: LightsOutMemory = {
      ...existing,
      completed: { state: 'Down', since: down.since, at: NOON - HOUR },
      contested: { 'Deployment team-a/web': { times: 2, until: NOON + HOUR } },
    };
    expect(remembered({}, memory).contested).toEqual(memory.contested);
    expect(remembered({ period: up }, memory).contested).toEqual({});
    // The next night, where nobody looked by day.
    const nextNight = { ...down, since: (down.since ?? 0) + 24 * HOUR };
    expect(remembered({ period: nextNight }, memory).contested).toEqual({});
  });

  it('lacks what was added later, as a fresh one has it, and has hours of one sum where replicas alone were counted', () => {
    expect(upgradeMemory(JSON.parse('{ "version": 2, "uid": "u1" }') as LightsOutMemory)).toEqual({
      ...freshMemory,
      uid: 'u1',
    });
    const carried = '{ "version": 2, "savings": { "replicaMs": 5400000, "replicas": 2, "at": 8 } }';
    expect(upgradeMemory(JSON.parse(carried) as LightsOutMemory)).toEqual({
      ...freshMemory,
      savings: { ...freshSavings, idle: { '(others)': [2, 0, 0] }, namespaces: { '(others)': [1.5, 0, 0] }, at: 8 },
    });
  });

  it('of this version is as it was carried, of none is fresh, and of another one is refused', () => {
    const full: LightsOutMemory = { ...existing, emitted: ['DryRun'], completed: { state: 'Up', since: null, at: 5 } };
    expect(upgradeMemory(JSON.parse(JSON.stringify(full)) as LightsOutMemory)).toEqual(full);
    expect(upgradeMemory(undefined)).toEqual(freshMemory);
    expect(() => upgradeMemory(JSON.parse('{ "version": 3 }') as LightsOutMemory)).toThrow(
      'the memory of the schedule has version 3: run a worker of the newer release',
    );
    expect(() => upgradeMemory(JSON.parse('{ "version": 1 }') as LightsOutMemory)).toThrow(
      'the memory of the schedule has version 1: it is older than the first release; terminate the workflow, and its next run begins anew',
    );
  });
});
