/** Calendars that several schedules share: a change of one takes effect at once, and what is wrong with one is never silent. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { CALENDAR } from '../../domain/lights-out/schedule/names.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { LightsOutCluster, merge, startLightsOutPlane, UP } from './cluster.ts';

// Starters end and begin again, and for some seconds nobody answers from their caches.
vi.setConfig({ testTimeout: 240_000 });

const namespace = 'namespace-resizer-system';
const DAY_MS = 86_400_000;

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

const dayFrom = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
/** Now and for two days more. */
const now = (reason: string): string => `- {from: ${dayFrom(-1)}, to: ${dayFrom(2)}, reason: ${reason}}\n`;
/** Not now. */
const later = `- {from: ${dayFrom(20)}, reason: later}\n`;

async function createCalendar(
  name: string,
  days: string,
  labels: Readonly<Record<string, string>> = { [CALENDAR]: '' },
): Promise<void> {
  await cluster.core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels }, data: { days } } });
}

async function changeCalendar(name: string, days: string): Promise<void> {
  await cluster.core.patchNamespacedConfigMap({ namespace, name, body: { data: { days } } }, merge);
}

async function following(name: string, calendars: readonly string[]): Promise<void> {
  await cluster.namespace(name);
  await cluster.deployment(name, 'web', 3);
  await cluster.schedule(name, { ...UP, namespaces: [name], calendars });
}

it('a holiday that is written into a calendar puts every schedule of it to sleep, and takes it back when it is taken out', async () => {
  await createCalendar('shared', later);
  for (const name of ['north', 'south']) await following(name, ['shared']);
  for (const name of ['north', 'south']) await cluster.reaches(name, 'Up', 'AsScheduled');
  // Before the holiday was known: nobody who scaled up on this day did so against it.
  await cluster.scale('north', 'web', 4);
  await changeCalendar('shared', now('strike'));
  for (const name of ['north', 'south']) await cluster.reaches(name, 'Down', 'AsScheduled');
  expect(await cluster.replicas('north', 'web')).toBe(0);
  expect(await cluster.savedState('north', 'web')).toMatchObject({ 'original-replicas': '4' });
  expect((await cluster.status('south')).detail).toContain('asleep (strike (shared))');
  await cluster.core.deleteNamespacedConfigMap({ namespace, name: 'shared' });
  for (const name of ['north', 'south']) await cluster.reaches(name, 'Up', 'AsScheduled');
  expect([await cluster.replicas('north', 'web'), await cluster.replicas('south', 'web')]).toEqual([4, 3]);
  expect(await cluster.ready('north')).toContain('CalendarInvalid');
});

it('what cannot be read of a calendar is named in Ready, in an Event and in the facts, and the rest of it holds', async () => {
  await createCalendar('slips', `${now('strike')}- {from: 2026-02-30}\n`);
  await following('slips', ['slips']);
  await cluster.reaches('slips', 'Down', 'AsScheduled');
  expect(await cluster.replicas('slips', 'web')).toBe(0);
  const problem = /ConfigMap slips, days, entry 2: "2026-02-30" is not a day/;
  await eventually('Ready names it', async () => problem.test(await cluster.ready('slips')));
  expect(await cluster.ready('slips')).toMatch(/^False CalendarInvalid/);
  await cluster.eventMatching('slips', problem);
  await cluster.factMatching('slips', problem);
  await changeCalendar('slips', now('strike'));
  await eventually('Ready is True again', async () => (await cluster.ready('slips')).startsWith('True'));
});

it('a calendar without its label, or that is not there, is named, and the schedule goes by its patterns', async () => {
  await createCalendar('unlabelled', now('strike'), {});
  await following('unlabelled', ['unlabelled']);
  await cluster.reaches('unlabelled', 'Up', 'AsScheduled');
  expect(await cluster.replicas('unlabelled', 'web')).toBe(3);
  await cluster.eventMatching('unlabelled', /There is no ConfigMap unlabelled with the label/);
  const body = { metadata: { labels: { [CALENDAR]: '' } } };
  await cluster.core.patchNamespacedConfigMap({ namespace, name: 'unlabelled', body }, merge);
  await cluster.reaches('unlabelled', 'Down', 'AsScheduled');
});

it('without a starter the worker reads the calendars itself, and a starter that comes back finds what changed meanwhile', async () => {
  await createCalendar('away', later);
  await following('away', ['away']);
  await following('back', ['away']);
  for (const name of ['away', 'back']) await cluster.reaches(name, 'Up', 'AsScheduled');
  await starter.stop();
  await changeCalendar('away', now('strike'));
  await cluster.command('away', 'reconcileNow');
  await cluster.reaches('away', 'Down', 'AsScheduled');
  expect(await cluster.replicas('away', 'web')).toBe(0);
  expect(await cluster.replicas('back', 'web')).toBe(3);
  starter = await plane.startStarter();
  await cluster.reaches('back', 'Down', 'AsScheduled');
  expect(await cluster.replicas('back', 'web')).toBe(0);
  expect(await cluster.refused()).toEqual([]);
});
