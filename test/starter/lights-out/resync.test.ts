import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { ScheduleRegistry, type WatchedSchedule } from '../../../starter/lights-out/schedule-registry.ts';
import { type ResyncOptions, type WatchedWorkload, Resync } from '../../../starter/lights-out/resync.ts';
import { asleep, namespaceAs, scheduleAs, workloadAs } from './schedules.ts';

const night = { ...asleep, namespaces: ['team-a'] } as const;
const namespace = namespaceAs('team-a');

/** A resync over these, and what it found. */
function resyncOf(
  schedules: readonly WatchedSchedule[],
  workloads: readonly WatchedWorkload[],
  memory: ResyncOptions['memory'] = async () => await Promise.resolve({ approved: null }),
) {
  const found: string[] = [];
  const registry = new ScheduleRegistry({
    cluster: 'test',
    calendars: () => NO_CALENDARS,
    schedules: () => schedules,
    protectedNamespaces: [],
    gitopsManagers: [],
  });
  const resync = new Resync({
    evaluators: () =>
      schedules.flatMap((schedule) => {
        const context = registry.contextOf(schedule, Date.now());
        return context === null ? [] : [{ schedule, context }];
      }),
    workloads: () => workloads,
    orphanedBy: () => null,
    onBegin: () => {},
    onWork: ({ name }, cause) => found.push(`${name}: ${cause}`),
    onOrphan: () => {},
    memory,
    log: pino({ level: 'silent' }),
  });
  onTestFinished(async () => await resync.stop());
  return { resync, found };
}

it('finds one workload for each schedule that has something to do, however many there are', async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => ({
    workload: workloadAs(`w-${n}`, { replicas: 0 }),
    namespace,
  }));
  const { resync, found } = resyncOf(
    [scheduleAs('a', night), scheduleAs('b', { ...night, namespaces: ['team-b'] })],
    [...many, { workload: workloadAs('last'), namespace }, { workload: workloadAs('one-more'), namespace }],
  );
  await resync.run(new Set());
  expect(found).toEqual(['a: Deployment team-a/last: Down']);
});

it('skips schedules that were asked to observe everything, that are scaling, or that are dry runs', async () => {
  const progress = { total: 2, completed: 1, failed: 0, inProgress: true };
  const elsewhere = (name: string, more: object = {}) => ({ ...night, namespaces: [name], ...more });
  const schedules = [
    scheduleAs('told', elsewhere('told')),
    scheduleAs('at-work', elsewhere('at-work'), { status: { scalingProgress: progress } }),
    scheduleAs('dry', elsewhere('dry', { dryRun: true })),
    scheduleAs('at-rest', elsewhere('at-rest')),
  ];
  const workloads = schedules.map(({ name }) => ({
    workload: workloadAs('web', { namespace: name }),
    namespace: namespaceAs(name),
  }));
  const { resync, found } = resyncOf(schedules, workloads);
  await resync.run(new Set(['told']));
  expect(found).toEqual(['at-rest: Deployment at-rest/web: Down']);
});

it('gives every other piece of work its turn in between, and ends when it is stopped', async () => {
  const many = Array.from({ length: 2_000 }, (_, n) => ({
    workload: workloadAs(`w-${n}`, { replicas: 0 }),
    namespace,
  }));
  const { resync, found } = resyncOf([scheduleAs('a', night)], [...many, { workload: workloadAs('last'), namespace }]);
  const running = resync.run(new Set());
  setImmediate(() => void resync.stop());
  await running;
  expect(found).toEqual([]);
});

const at = '2020-01-01T00:00:00Z';
const bound = scheduleAs(
  'a',
  { ...night, requireApproval: true },
  { status: { approved: { by: 'alice', at, digest: 'of-web', workloads: 1 } } },
);

it('finds nothing to do where only what nobody has approved is up, and reads what is approved once at most', async () => {
  let reads = 0;
  const memory: ResyncOptions['memory'] = async () => {
    reads += 1;
    return await Promise.resolve({ approved: new Map([['Deployment team-a/web', Date.parse(at)]]) });
  };
  const joined = ['api', 'jobs'].map((name) => ({ workload: workloadAs(name), namespace }));
  const atRest = resyncOf([bound], joined, memory);
  await atRest.resync.run(new Set());
  expect(atRest.found).toEqual([]);
  expect(reads).toBe(1);
  const woken = resyncOf([bound], [...joined, { workload: workloadAs('web'), namespace }], memory);
  await woken.resync.run(new Set());
  expect(woken.found).toEqual(['a: Deployment team-a/web: Down']);
  const down = resyncOf([bound], [{ workload: workloadAs('web', { replicas: 0 }), namespace }], memory);
  await down.resync.run(new Set());
  expect(reads).toBe(2);
});

it('finds something to do where what is approved cannot be read', async () => {
  const refused = async () => await Promise.reject(new Error('forbidden'));
  const { resync, found } = resyncOf([bound], [{ workload: workloadAs('api'), namespace }], refused);
  await resync.run(new Set());
  expect(found).toEqual(['a: Deployment team-a/api: Down']);
});

it('asks about what is left as it is where another schedule may have given it up, and nowhere else', async () => {
  const woken = workloadAs('web', { changed: { manager: 'kubectl-scale', at: Date.now(), isOnlyIt: true } });
  const old = scheduleAs('old', night);
  const { resync, found } = resyncOf([scheduleAs('new', night)], [{ workload: woken, namespace }]);
  await resync.run(new Set());
  await resync.run(new Set(), [scheduleAs('new', night).seenByOthers]);
  await resync.run(new Set(), [scheduleAs('old', { ...night, namespaces: ['team-b'] }).seenByOthers]);
  expect(found).toEqual([]);
  await resync.run(new Set(), [old.seenByOthers]);
  expect(found).toEqual(['new: Deployment team-a/web: another schedule may have given it up']);
});
