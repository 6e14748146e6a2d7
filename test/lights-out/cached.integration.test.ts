/** Observations from the starters' caches: what they spare the API server, and what holds where no starter answers. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { MANAGED_BY, ORIGINAL_REPLICAS } from '../../domain/lights-out/schedule/names.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, merge, startLightsOutPlane, UP } from './cluster.ts';

// The starter ends and begins again, and for some seconds nobody answers from its caches.
vi.setConfig({ testTimeout: 240_000 });

let plane: HeadroomPlane;
let cluster: LightsOutCluster;
let starter: SupervisedProcess;
beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  [, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

/** What the worker has listed since a moment, by resource. */
async function listed(since: number): Promise<readonly string[]> {
  return (await plane.plane.auditEvents())
    .filter(({ user, verb }) => user.username === 'headroom-worker' && verb === 'list')
    .filter(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp) >= since)
    .map(({ objectRef }) => objectRef?.resource ?? '');
}

/** The signals that the workflow of a schedule has got. */
async function signals(schedule: string): Promise<number> {
  const { events } = await cluster.handle(schedule).fetchHistory();
  return (events ?? []).filter(({ workflowExecutionSignaledEventAttributes: got }) => got).length;
}

const WORKLOADS = ['deployments', 'statefulsets', 'cronjobs', 'horizontalpodautoscalers'];

it('a night and a morning are observed without a list of workloads', async () => {
  const name = 'cached';
  await cluster.namespace(name);
  await cluster.deployment(name, 'web', 3);
  await cluster.schedule(name, { ...UP, namespaces: [name] });
  await cluster.reaches(name, 'Up', 'AsScheduled');
  const since = Date.now();
  for (const [spec, phase, replicas] of [
    [DOWN, 'Down', 0],
    [UP, 'Up', 3],
  ] as const) {
    await cluster.patchSchedule(name, { spec });
    await cluster.reaches(name, phase, 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(replicas);
  }
  expect((await listed(since)).filter((resource) => WORKLOADS.includes(resource))).toEqual([]);
});

it('while no starter answers, the worker lists for itself, and a command acts all the same', async () => {
  const name = 'alone';
  await cluster.namespace(name);
  await cluster.deployment(name, 'web', 3);
  await cluster.asleep(name, { namespaces: [name] });
  await starter.stop();
  const since = Date.now();
  await cluster.command(name, 'wake', { for: '1h' });
  await eventually('it is awake', async () => (await cluster.replicas(name, 'web')) === 3);
  expect(await listed(since)).toContain('deployments');
  starter = await plane.startStarter();
});

it('a starter that begins wakes whoever has something to do, and nobody else, and no name that somebody wrote', async () => {
  for (const name of ['at-rest', 'sentinel']) {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.asleep(name, { namespaces: [name] });
  }
  await starter.stop();
  const before = await signals('at-rest');
  await cluster.scale('sentinel', 'web', 2, 'argocd-controller');
  await cluster.namespace('unselected');
  await cluster.deployment('unselected', 'web', 0);
  const annotations = { [MANAGED_BY]: 'made-up', [ORIGINAL_REPLICAS]: '5' };
  const body = { metadata: { annotations } };
  await cluster.apps.patchNamespacedDeployment({ namespace: 'unselected', name: 'web', body }, merge);
  starter = await plane.startStarter();
  await eventually('it is put to sleep again', async () => (await cluster.replicas('sentinel', 'web')) === 0);
  await eventually('the name is refused', async () =>
    (await readFile(starter.logFile, 'utf8')).includes('nothing is woken for a schedule that never had a workflow'),
  );
  await expect(cluster.handle('made-up').describe()).rejects.toThrow(/not found/i);
  expect(await signals('at-rest')).toBe(before);
});
