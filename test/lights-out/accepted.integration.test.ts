/** The API server takes all that Headroom writes for every LightsOutSchedule that its admission takes. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { triedInLanes } from '../kernel/drawn.ts';
import { amount } from '../kernel/long.ts';
import { seed } from '../kernel/seed.ts';
import { OBJECT_RESOURCES } from '../../domain/lights-out/workload/kinds.ts';
import { AcceptingCluster } from './accepted-cluster.ts';
import { anyNights, isReadable } from './any-nights.ts';
import type { DrawnObject } from './any-workload.ts';

const LANES = 4;
/** Milliseconds, also on a busy machine. */
const PATIENCE_MS = amount({ short: 900_000, long: 7_200_000 });

let cluster: AcceptingCluster;
beforeAll(async () => {
  cluster = await AcceptingCluster.start(LANES);
});
afterAll(async () => await cluster?.stop());

it('whatever admission takes puts workloads to sleep, and gives them back as they were', {
  timeout: PATIENCE_MS,
}, async () => {
  const wanted = amount({ short: 200, long: 3000 });
  // What the webhook refuses needs no API server; of the others the definition refuses one in eight.
  const drawn = fc.sample(anyNights, { seed, numRuns: 4 * wanted }).filter(isReadable);
  const tried = drawn.slice(0, wanted * 1.25);
  const { failures, admitted } = await triedInLanes(tried, LANES, async (nights, lane) => {
    return (await cluster.lanes[lane]?.nights(nights)) ?? null;
  });
  expect(failures).toEqual([]);
  // Else it would say nothing.
  expect(admitted).toBeGreaterThanOrEqual(wanted);
  const slept = new Set(cluster.lanes.flatMap((lane) => [...lane.slept]));
  expect(Object.keys(OBJECT_RESOURCES).filter((kind) => !slept.has(kind as DrawnObject['kind']))).toEqual([]);
});
