/** What waits for the clock, on a real control plane, with worker and starter as processes of their own. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';

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

describe.concurrent('an Event that cannot be written', () => {
  it('holds nothing up, and is written soon, although nothing else is to be done until the morning', async () => {
    const name = 'silenced';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    const speak = await cluster.silence(name);
    await cluster.schedule(name, { ...DOWN, namespaces: [name] });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(0);
    expect(await cluster.events(name)).toEqual([]);
    await speak();
    const isDown = (event: string): boolean => event.startsWith('ScaledDown: ');
    // It rests for a minute; for two or four where late reconcile requests led to passes that found nothing.
    await eventually('it is told', async () => (await cluster.events(name)).some(isDown), 300_000);
    expect((await cluster.events(name)).filter(isDown)).toHaveLength(1);
  }, 400_000);
});

describe.concurrent('a night', () => {
  it('begins by the clock, and ends by it', async () => {
    // One that is awake and one that sleeps are followed before the crons name a moment: both come with the same minute.
    const [evening, morning] = ['clock-evening', 'clock-morning'] as const;
    for (const [name, state] of Object.entries({ [evening]: UP, [morning]: DOWN })) {
      await cluster.namespace(name);
      await cluster.deployment(name, 'web', 2);
      await cluster.schedule(name, { ...state, namespaces: [name] });
    }
    await cluster.reaches(evening, 'Up', 'AsScheduled');
    await cluster.reaches(morning, 'Down', 'AsScheduled');
    // Far enough for both to be told of it. On a machine that is slower they hear of it late, and are not early either.
    const moment = Math.ceil((Date.now() + 10_000) / 60_000) * 60_000;
    const now = `${new Date(moment).getUTCMinutes()} * * * *`;
    const halfAnHourBefore = `${new Date(moment - 30 * 60_000).getUTCMinutes()} * * * *`;
    await cluster.patchSchedule(evening, { spec: { downscale: now, upscale: halfAnHourBefore } });
    await cluster.patchSchedule(morning, { spec: { upscale: now, downscale: halfAnHourBefore } });
    // Little more than a minute.
    await eventually('the one is asleep', async () => (await cluster.replicas(evening, 'web')) === 0, 180_000);
    await eventually('the other is awake', async () => (await cluster.replicas(morning, 'web')) === 2, 180_000);
    const asleep = await eventually('the status of the one says so', async () => {
      const { status } = await cluster.readSchedule(evening);
      return status?.state === 'Down' && status.lastDownscaleTime;
    });
    const awake = await eventually('the status of the other says so', async () => {
      const { status } = await cluster.readSchedule(morning);
      return status?.state === 'Up' && status.lastUpscaleTime;
    });
    // When it was done: not before its time. What sleeps was put to sleep first.
    expect(await cluster.writtenAt(evening, 'web', 1)).toBeGreaterThanOrEqual(moment);
    expect(await cluster.writtenAt(morning, 'web', 1)).toBeLessThan(moment);
    expect(await cluster.writtenAt(morning, 'web', 2)).toBeGreaterThanOrEqual(moment);
    expect(Date.parse(asleep)).toBeGreaterThanOrEqual(moment);
    expect(Date.parse(awake)).toBeGreaterThanOrEqual(moment);
  }, 480_000);
});
