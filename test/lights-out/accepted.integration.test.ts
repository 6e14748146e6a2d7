/** The API server takes all that Headroom writes for every LightsOutSchedule that its admission takes. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PATIENCE_MS, triedInLanes } from '../kernel/drawn.ts';
import { amount } from '../kernel/long.ts';
import { seed } from '../kernel/seed.ts';
import { AcceptingCluster } from './accepted-cluster.ts';
import { anySchedule } from './any-schedule.ts';
import { anyWorkload } from './any-workload.ts';

let cluster: AcceptingCluster;
beforeAll(async () => {
  cluster = await AcceptingCluster.start();
});
afterAll(async () => await cluster?.stop());

it('whatever admission takes puts workloads to sleep, and gives them back as they were', {
  timeout: PATIENCE_MS,
}, async () => {
  const any = fc.record({ schedule: anySchedule, workloads: fc.array(anyWorkload, { minLength: 4, maxLength: 10 }) });
  const drawn = fc.sample(any, { seed, numRuns: amount({ short: 36, long: 1500 }) });
  const { failures, admitted } = await triedInLanes(
    drawn,
    1,
    async ({ schedule, workloads }) => await cluster.nights(schedule, workloads),
  );
  expect(failures).toEqual([]);
  // Else it would say nothing.
  expect(admitted).toBeGreaterThan(drawn.length / 4);
});
