import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { ScheduleRegistry, type WatchedSchedule } from '../../../starter/lights-out/schedule-registry.ts';
import { type WatchedWorkload, Resync } from '../../../starter/lights-out/resync.ts';
import { asleep, namespaceAs, scheduleAs, workloadAs } from './schedules.ts';

const night = { ...asleep, namespaces: ['team-a'] } as const;
const namespace = namespaceAs('team-a');

/** A resync over these, and what it found. */
function resyncOf(schedules: readonly WatchedSchedule[], workloads: readonly WatchedWorkload[]) {
  const found: string[] = [];
  const registry = new ScheduleRegistry({
    cluster: 'test',
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
    onWork: ({ name }, cause) => found.push(`${name}: ${cause}`),
    onOrphan: () => {},
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
