/** Windows with counts of their own: what is kept changes from one to the next, and the morning brings back what there was. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CALENDAR, MANAGED_BY, ORIGINAL_REPLICAS } from '../../domain/lights-out/schedule/names.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, merge, startLightsOutPlane, UP } from './cluster.ts';

vi.setConfig({ testTimeout: 240_000 });

const systemNamespace = 'namespace-resizer-system';
const DAY_MS = 86_400_000;

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

const dayFrom = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** A calendar that says from now on that the schedule sleeps as at night, or that says nothing of these days. */
async function nightNow(name: string, isNight: boolean): Promise<void> {
  const days = isNight ? `- {from: ${dayFrom(-1)}, to: ${dayFrom(2)}}` : `- {from: ${dayFrom(20)}}`;
  const body = { metadata: { name, labels: { [CALENDAR]: '' } }, data: { days } };
  await cluster.core
    .createNamespacedConfigMap({ namespace: systemNamespace, body })
    .catch(async () => await cluster.core.patchNamespacedConfigMap({ namespace: systemNamespace, name, body }, merge));
}

const windowOf = (part: object): object => ({ ...UP, windows: [{ ...DOWN, ...part }] });

it('half of each is kept in a window and nothing in the night that follows, and every one is what it was in the morning', async () => {
  const name = 'shifts';
  await cluster.namespace(name);
  for (const [deployment, replicas] of [
    ['web', 5],
    ['small', 1],
    ['touched', 4],
    ['stripped', 4],
  ] as const)
    await cluster.deployment(name, deployment, replicas);
  await cluster.cronJob(name, 'report');
  await nightNow(name, false);
  await cluster.schedule(name, { ...windowOf({ percent: 50 }), namespaces: [name], calendars: [name] });
  const { detail } = await cluster.reaches(name, 'Down', 'AsScheduled');
  expect(detail).toContain('is asleep and keeps 50 %');
  const all = async () =>
    await Promise.all(['web', 'small', 'touched', 'stripped'].map(async (each) => await cluster.replicas(name, each)));
  expect(await all()).toEqual([3, 1, 2, 2]);
  // What keeps all of its replicas is at rest, and gets no marks.
  expect(await cluster.savedState(name, 'small')).toEqual({});
  expect(await cluster.suspended(name, 'report')).toBe(false);

  await cluster.wellInto(name);
  await cluster.scale(name, 'touched', 3);
  await eventually('it is left', async () =>
    (await cluster.status(name)).facts.some((fact) => fact.includes('touched')),
  );
  await nightNow(name, true);
  await eventually('nothing is kept', async () => (await all()).join() === '0,0,3,0');
  await cluster.reaches(name, 'Down', 'AsScheduled');
  expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '5' });
  expect(await cluster.suspended(name, 'report')).toBe(true);
  await cluster.eventMatching(name, /^Resized: Headroom changed how much 2 workloads in 1 namespace keep while asleep/);
  // The memory knows at what number it sleeps by now.
  const marks = { [MANAGED_BY]: null, [ORIGINAL_REPLICAS]: null };
  await cluster.patchDeployment(name, 'stripped', { metadata: { annotations: marks, labels: marks } });
  // Nobody is rung for marks that are taken off: a look finds it.
  await eventually('the lost marks are named', async () => {
    await cluster.command(name, 'reconcileNow');
    return (await cluster.events(name)).some((event) => /^MarkLost: .*stripped/.test(event));
  });

  await nightNow(name, false);
  await eventually('half is kept again', async () => (await cluster.replicas(name, 'web')) === 3);
  await cluster.reaches(name, 'Down', 'AsScheduled');
  expect(await cluster.suspended(name, 'report')).toBe(false);
  await cluster.patchSchedule(name, { spec: { windows: [] } });
  await cluster.reaches(name, 'Up', 'AsScheduled');
  expect(await all()).toEqual([5, 1, 4, 4]);
  expect(await cluster.savedState(name, 'web')).toEqual({});
});

it('an autoscaler is held at what a window keeps, and let go in the morning', async () => {
  const name = 'scaled';
  await cluster.namespace(name);
  await cluster.deployment(name, 'web', 6);
  await cluster.horizontalScaler(name, 'web', 4, 9);
  await nightNow(name, false);
  await cluster.schedule(name, { ...windowOf({ replicas: 2 }), namespaces: [name], calendars: [name] });
  await cluster.reaches(name, 'Down', 'AsScheduled');
  const bounds = async () => {
    const { spec } = await cluster.readHorizontalScaler(name, 'web');
    return [spec?.minReplicas, spec?.maxReplicas];
  };
  expect([await cluster.replicas(name, 'web'), ...(await bounds())]).toEqual([2, 2, 2]);
  await nightNow(name, true);
  await eventually('nothing is kept', async () => (await cluster.replicas(name, 'web')) === 0);
  await cluster.reaches(name, 'Down', 'AsScheduled');
  await cluster.patchSchedule(name, { spec: { windows: [], calendars: [] } });
  await cluster.reaches(name, 'Up', 'AsScheduled');
  expect([await cluster.replicas(name, 'web'), ...(await bounds())]).toEqual([6, 4, 9]);
  expect(await cluster.refused()).toEqual([]);
});
