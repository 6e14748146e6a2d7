import { describe, expect, it } from 'vitest';
import {
  calendarDays,
  type Calendars,
  NO_CALENDARS,
  readCalendar,
} from '../../../domain/lights-out/schedule/calendar.ts';
import { evaluate } from '../../../domain/lights-out/workload/evaluate.ts';
import { MANAGED_BY, ORIGINAL_REPLICAS, WAKE_UNTIL } from '../../../domain/lights-out/schedule/names.ts';
import {
  selectsOtherwise,
  ScheduleRegistry,
  type WatchedSchedule,
} from '../../../starter/lights-out/schedule-registry.ts';
import { namespaceAs, scheduleAs, workloadAs } from './schedules.ts';

const at = (text: string): number => Date.parse(text);
const workdays = { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', namespaces: ['team-a'] } as const;
/** A Monday, 22:00 UTC. */
const MONDAY_NIGHT = at('2026-11-16T22:00:00Z');

function bookOf(...schedules: readonly WatchedSchedule[]): ScheduleRegistry {
  return new ScheduleRegistry({
    cluster: 'test',
    calendars: () => NO_CALENDARS,
    schedules: () => schedules,
    protectedNamespaces: ['temporal'],
    gitopsManagers: ['argocd-controller'],
  });
}

describe('the book of schedules', () => {
  it('has the period of a schedule at every moment, also after an earlier one is over', () => {
    const night = scheduleAs('night', workdays);
    const registry = bookOf(night);
    const states = ['2026-11-16T22:00:00Z', '2026-11-17T05:59:59Z', '2026-11-17T06:00:00Z', '2026-11-16T19:00:00Z'];
    expect(states.map((moment) => registry.periodOf(night, at(moment))?.state)).toEqual(['Down', 'Down', 'Up', 'Up']);
    expect(registry.periodOf(night, at('2026-11-17T06:00:00Z'))?.nextDownscale).toBe(at('2026-11-17T20:00:00Z'));
    expect(registry.periodOf(scheduleAs('broken', { ...workdays, upscale: 'never' }), MONDAY_NIGHT)).toBeNull();
  });

  it('evaluates by the schedule, by the commands of operators, and by what the other schedules select', () => {
    const wake = {
      kind: 'wake',
      since: '2026-11-16T21:00:00Z',
      until: '2026-11-16T23:00:00Z',
      by: 'alice',
    } as const;
    const night = scheduleAs('night', workdays, {
      status: {
        overrides: [
          { ...wake, namespace: 'team-a' },
          { ...wake, until: 'soon' },
        ],
      },
      metadata: { annotations: { [WAKE_UNTIL]: '2026-11-16T23:30:00Z' } },
    });
    const other = scheduleAs('other', { ...workdays, suspend: true });
    const context = bookOf(night, other).contextOf(night, MONDAY_NIGHT);
    expect(context).toMatchObject({
      schedule: 'night',
      now: MONDAY_NIGHT,
      period: { state: 'Down' },
      isRestoringAll: false,
      completedAt: null,
      protectedNamespaces: ['temporal'],
      gitopsManagers: ['argocd-controller'],
      others: [{ name: 'night' }, { name: 'other', isIdle: true }],
    });
    expect(context?.overrides.map(({ namespace, until }) => [namespace, until])).toEqual([
      ['team-a', at('2026-11-16T23:00:00Z')],
      [null, at('2026-11-16T23:30:00Z')],
    ]);
  });

  it('takes a schedule for complete since its workloads were last put to sleep, unless it is at work', () => {
    const contextWith = (status: object) => {
      const night = scheduleAs('night', workdays, { status });
      return bookOf(night).contextOf(night, MONDAY_NIGHT);
    };
    const tonight = { lastDownscaleTime: '2026-11-16T20:00:03Z' };
    const progress = { total: 3, completed: 1, failed: 0, inProgress: true };
    expect(contextWith(tonight)?.completedAt).toBe(at(tonight.lastDownscaleTime));
    expect(contextWith({ ...tonight, scalingProgress: progress })?.completedAt).toBeNull();
    expect(contextWith({})?.completedAt).toBeNull();
  });

  it('knows which schedules observed other calendars, and has their periods by the new ones', () => {
    let calendars: Calendars = NO_CALENDARS;
    const named = scheduleAs('named', { ...workdays, calendars: ['holidays'] });
    const registry = new ScheduleRegistry({
      cluster: 'test',
      calendars: () => calendars,
      schedules: () => [named, scheduleAs('plain', workdays)],
      protectedNamespaces: [],
      gitopsManagers: [],
    });
    const noon = at('2026-11-17T12:00:00Z');
    expect(registry.periodOf(named, noon)?.state).toBe('Up');
    expect(registry.withOtherCalendars(noon).map(({ name }) => name)).toEqual(['named']);
    calendars = new Map([['holidays', readCalendar('holidays', { days: '- {from: 11-17}' })]]);
    registry.calendarsChanged();
    expect(registry.periodOf(named, noon)?.state).toBe('Down');
    const calendarsDigest = calendarDays({ calendars: ['holidays'] }, calendars)?.digest ?? '';
    const seen = scheduleAs('named', { ...workdays, calendars: ['holidays'] }, { status: { calendarsDigest } });
    const later = new ScheduleRegistry({
      cluster: 'test',
      calendars: () => calendars,
      schedules: () => [seen],
      protectedNamespaces: [],
      gitopsManagers: [],
    });
    expect(later.withOtherCalendars(noon)).toEqual([]);
  });

  it('goes through the schedules once, however often workloads change, until one of them has changed', () => {
    const all = [scheduleAs('a', workdays), scheduleAs('b', workdays)];
    let asked = 0;
    const registry = new ScheduleRegistry({
      cluster: 'test',
      calendars: () => NO_CALENDARS,
      schedules: () => {
        asked += 1;
        return [...all];
      },
      protectedNamespaces: [],
      gitopsManagers: [],
    });
    const evaluators = [0, 1, 999].map((ms) => registry.evaluators(MONDAY_NIGHT + ms));
    const [a, b, later] = [evaluators[0]?.[0], evaluators[0]?.[1], evaluators[2]?.[0]];
    expect(asked).toBe(1);
    expect(a?.context.others).toBe(b?.context.others);
    expect(later?.context.overrides).toBe(a?.context.overrides);
    expect(later?.context.now).toBe(MONDAY_NIGHT + 999);
    expect(registry.evaluators(MONDAY_NIGHT + 1_000)[0]?.context.overrides).not.toBe(a?.context.overrides);
    all.push(scheduleAs('c', workdays));
    registry.changed();
    const names = registry.evaluators(MONDAY_NIGHT + 1_000).map(({ schedule }) => schedule.name);
    expect([names, registry.all.length, asked]).toEqual([['a', 'b', 'c'], 3, 2]);
  });

  it('evaluates by the next period from its very moment on', () => {
    const registry = bookOf(
      scheduleAs('night', workdays),
      scheduleAs('other', { ...workdays, downscale: '0 23 * * 1-5' }),
    );
    const transition = at('2026-11-17T06:00:00Z');
    const states = (now: number) => registry.evaluators(now).map(({ context }) => context.period.state);
    expect(states(transition - 1)).toEqual(['Down', 'Down']);
    expect(states(transition)).toEqual(['Up', 'Up']);
    expect(states(transition - 1)).toEqual(['Down', 'Down']);
  });

  it('takes no schedule for another one than itself', () => {
    const schedules = [
      scheduleAs('a', workdays),
      scheduleAs('b', workdays, { metadata: { creationTimestamp: '2019-01-01T00:00:00Z' } }),
      scheduleAs('c', { ...workdays, dryRun: true }, { metadata: { creationTimestamp: '2018-01-01T00:00:00Z' } }),
      scheduleAs(
        'd',
        { ...workdays, namespaces: ['team-b'] },
        { metadata: { creationTimestamp: '2017-01-01T00:00:00Z' } },
      ),
      scheduleAs('e', workdays, { metadata: { deletionTimestamp: '2026-11-16T21:00:00Z' } }),
    ];
    const marked = (owner: string) => ({ [MANAGED_BY]: owner, [ORIGINAL_REPLICAS]: '2' });
    const workloads = [
      workloadAs('unmarked'),
      ...['a', 'b', 'c', 'd', 'e', 'gone'].map((owner) =>
        workloadAs(owner, { annotations: marked(owner), replicas: 0 }),
      ),
      workloadAs('label', { annotations: { [ORIGINAL_REPLICAS]: '2' }, labels: { [MANAGED_BY]: 'a' }, replicas: 0 }),
    ];
    const evaluators = bookOf(...schedules).evaluators(MONDAY_NIGHT);
    expect(evaluators.map(({ schedule }) => schedule.name)).toEqual(['a', 'b', 'c', 'd', 'e']);
    const kinds = new Set<string>();
    for (const { schedule, context } of evaluators) {
      const others = context.others.filter(({ name }) => name !== schedule.name);
      for (const workload of workloads) {
        const evaluation = evaluate(workload, namespaceAs('team-a'), context);
        kinds.add(evaluation.kind === 'keep' ? evaluation.reason : evaluation.item.reason);
        expect(evaluation).toEqual(evaluate(workload, namespaceAs('team-a'), { ...context, others }));
      }
    }
    expect([...kinds]).toEqual(expect.arrayContaining(['OwnedByOther', 'Down', 'AsDesired', 'LeftScope']));
  });

  it('evaluates nothing for a schedule that writes nothing, unless it is being deleted or is a dry run', () => {
    const contextOf = (spec: object, metadata: object = {}, status: object = {}) => {
      const schedule = scheduleAs('night', { ...workdays, ...spec }, { metadata, status });
      return bookOf(schedule).contextOf(schedule, MONDAY_NIGHT);
    };
    expect(contextOf({ suspend: true })).toBeNull();
    expect(contextOf({ suspend: true, dryRun: true })).toBeNull();
    expect(contextOf({ requireApproval: true })).toBeNull();
    expect(contextOf({ downscale: 'never' })).toBeNull();
    expect(contextOf({ dryRun: true })).not.toBeNull();
    const approved = { approved: { by: 'alice', at: '2026-11-16T12:00:00Z' } };
    expect(contextOf({ requireApproval: true }, {}, approved)).not.toBeNull();
    const deleted = contextOf({ suspend: true }, { deletionTimestamp: '2026-11-16T21:00:00Z' });
    expect(deleted?.isRestoringAll).toBe(true);
  });

  it('finds the deleted schedule whose annotation is left on a workload', () => {
    const namespace = namespaceAs('team-a');
    const marked = (owner: string) => workloadAs('web', { annotations: { [MANAGED_BY]: owner } });
    const elsewhere = bookOf(scheduleAs('night', { ...workdays, namespaces: ['team-b'] }));
    expect(elsewhere.orphanedBy(marked('gone'), namespace)).toBe('gone');
    expect(elsewhere.orphanedBy(marked('night'), namespace)).toBeNull();
    expect(elsewhere.orphanedBy(workloadAs('web'), namespace)).toBeNull();
    expect(elsewhere.orphanedBy(marked('No such name/at all'), namespace)).toBeNull();
    expect(elsewhere.orphanedBy(marked('x'.repeat(254)), namespace)).toBeNull();
    expect(bookOf(scheduleAs('night', workdays)).orphanedBy(marked('gone'), namespace)).toBeNull();
    expect(bookOf(scheduleAs('night', { ...workdays, suspend: true })).orphanedBy(marked('gone'), namespace)).toBe(
      'gone',
    );
  });

  it('notices that a schedule selects other workloads or becomes idle, and ignores its status', () => {
    const night = scheduleAs('night', workdays);
    expect(selectsOtherwise(undefined, night)).toBe(true);
    expect(selectsOtherwise(night, scheduleAs('night', workdays, { status: { state: 'Down' } }))).toBe(false);
    expect(selectsOtherwise(night, scheduleAs('night', { ...workdays, namespaces: ['team-b'] }))).toBe(true);
    expect(selectsOtherwise(night, scheduleAs('night', { ...workdays, suspend: true }))).toBe(true);
  });
});
