/** Times and counts that people give their own workloads by annotations, within what the schedule that selects them allows. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { OWN_REPLICAS, OWN_TIMES } from '../../domain/lights-out/schedule/names.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';

vi.setConfig({ testTimeout: 240_000 });

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

const textOf = ({ upscale, downscale }: { upscale: string; downscale: string }): string =>
  `upscale: ${upscale}; downscale: ${downscale}`;
const [ALWAYS_UP, ALWAYS_DOWN] = [textOf(UP), textOf(DOWN)];

async function annotate(namespace: string, name: string, annotations: Readonly<Record<string, string | null>>) {
  await cluster.patchDeployment(namespace, name, { metadata: { annotations } });
}

async function reaches(namespace: string, replicas: Readonly<Record<string, number>>): Promise<void> {
  const wanted = JSON.stringify(replicas);
  let seen = '';
  await eventually(
    () => `${namespace} has ${wanted}: it has ${seen}`,
    async () => {
      const names = Object.keys(replicas);
      const found = await Promise.all(names.map(async (name) => [name, await cluster.replicas(namespace, name)]));
      seen = JSON.stringify(Object.fromEntries(found));
      return seen === wanted;
    },
  );
}

it('a workload and the workloads of a namespace go by times of their own, by day and by night', async () => {
  const name = 'own';
  await cluster.namespace(name);
  for (const deployment of ['early', 'late', 'web']) await cluster.deployment(name, deployment, 3);
  await annotate(name, 'early', { [OWN_TIMES]: ALWAYS_DOWN });
  await cluster.schedule(name, { ...UP, namespaces: [name] });
  await reaches(name, { early: 0, late: 3, web: 3 });
  // For all of the namespace, but for the one that says otherwise.
  await annotate(name, 'late', { [OWN_TIMES]: ALWAYS_UP });
  await cluster.patchNamespace(name, { annotations: { [OWN_TIMES]: ALWAYS_DOWN } });
  await reaches(name, { early: 0, late: 3, web: 0 });
  expect(await cluster.savedState(name, 'web')).toMatchObject({ 'original-replicas': '3', 'managed-by': name });
  await cluster.patchNamespace(name, { annotations: { [OWN_TIMES]: null } });
  await reaches(name, { early: 0, late: 3, web: 3 });
  await cluster.patchSchedule(name, { spec: DOWN });
  await reaches(name, { early: 0, late: 3, web: 0 });
  // The schedule takes it back.
  await cluster.patchSchedule(name, { spec: { ownTimes: 'ignore' } });
  await reaches(name, { early: 0, late: 0, web: 0 });
  await cluster.eventMatching(
    name,
    /^BadAnnotation: Deployment own\/late: .* is ignored: spec.ownTimes of the schedule/,
  );
  await cluster.patchSchedule(name, { spec: { ...UP, ownTimes: 'wakeLonger' } });
  await reaches(name, { early: 3, late: 3, web: 3 });
});

it('a workload keeps its own number at night, or that of its namespace', async () => {
  const name = 'counts';
  await cluster.namespace(name);
  for (const deployment of ['cache', 'queue', 'web']) await cluster.deployment(name, deployment, 5);
  await annotate(name, 'cache', { [OWN_REPLICAS]: '2' });
  await annotate(name, 'queue', { [OWN_REPLICAS]: '50%' });
  await cluster.schedule(name, { ...DOWN, namespaces: [name] });
  await reaches(name, { cache: 2, queue: 3, web: 0 });
  await cluster.patchNamespace(name, { annotations: { [OWN_REPLICAS]: '1' } });
  await reaches(name, { cache: 2, queue: 3, web: 1 });
  await annotate(name, 'cache', { [OWN_REPLICAS]: '0' });
  await reaches(name, { cache: 0, queue: 3, web: 1 });
  await cluster.patchSchedule(name, { spec: UP });
  await reaches(name, { cache: 5, queue: 5, web: 5 });
});

it('what cannot be followed is named with what would be right, and its workload is left alone until it is corrected', async () => {
  const name = 'wrong';
  await cluster.namespace(name);
  for (const deployment of ['api', 'web']) await cluster.deployment(name, deployment, 2);
  await annotate(name, 'api', { [OWN_TIMES]: 'Mon-Fri 07:30-18:30' });
  await annotate(name, 'web', { [OWN_REPLICAS]: 'some' });
  await cluster.schedule(name, { ...DOWN, namespaces: [name] });
  await cluster.reaches(name, 'Down', 'AsScheduled');
  await reaches(name, { api: 2, web: 2 });
  await cluster.eventMatching(
    name,
    /^BadAnnotation: Deployment wrong\/api: .* "Mon-Fri 07:30-18:30": expected "upscale: /,
  );
  await cluster.eventMatching(name, /^BadAnnotation: Deployment wrong\/web: .* "some": expected a number of replicas/);
  await cluster.factMatching(name, /wrong\/api/);
  await annotate(name, 'api', { [OWN_TIMES]: ALWAYS_DOWN });
  await annotate(name, 'web', { [OWN_REPLICAS]: '1' });
  await reaches(name, { api: 0, web: 1 });
});

it('annotations in a namespace that no schedule selects start nothing and put nothing to sleep', async () => {
  const [selected, other] = ['selected', 'unselected'];
  for (const name of [selected, other]) {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
  }
  await cluster.schedule(selected, { ...UP, namespaces: [selected] });
  await cluster.reaches(selected, 'Up', 'AsScheduled');
  await cluster.patchNamespace(other, { annotations: { [OWN_TIMES]: ALWAYS_DOWN, [OWN_REPLICAS]: '0' } });
  await annotate(other, 'web', { [OWN_TIMES]: ALWAYS_DOWN });
  const requests = async () => {
    const { events } = await cluster.handle(selected).fetchHistory();
    return (events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) =>
        signal?.input?.payloads?.map(({ data }) => Buffer.from(data ?? '').toString()).join() ?? [],
    );
  };
  // What is written after it is noticed after it, and its own schedule is rung.
  await annotate(selected, 'web', { [OWN_TIMES]: ALWAYS_DOWN });
  await reaches(selected, { web: 0 });
  expect(await cluster.replicas(other, 'web')).toBe(2);
  expect((await requests()).filter((request) => request.includes(other))).toEqual([]);
  expect(await cluster.writes(other)).toEqual([]);
  expect(await cluster.refused()).toEqual([]);
});
