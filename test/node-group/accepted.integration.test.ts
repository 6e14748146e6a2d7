/** The API server takes all that Headroom writes for every NodeGroup that its admission takes. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { amount } from '../kernel/long.ts';
import { PATIENCE_MS, triedInLanes } from '../kernel/drawn.ts';
import { seed } from '../kernel/seed.ts';
import { AcceptingCluster } from './accepted-cluster.ts';
import { anyGroup } from './any-group.ts';

let cluster: AcceptingCluster;
beforeAll(async () => {
  cluster = await AcceptingCluster.start();
});
afterAll(async () => await cluster?.stop());

it('whatever admission takes becomes nodes with its labels and taints', { timeout: PATIENCE_MS }, async () => {
  const drawn = fc.sample(anyGroup, { seed, numRuns: amount({ short: 180, long: 3000 }) });
  const { failures, admitted } = await triedInLanes(drawn, 4, async ({ name, spec }, lane) => {
    // Of the groups that live at once none has the name of another one.
    const own = `${'abcd'[lane]}${name.slice(1)}`;
    return await cluster.life({ name: own, spec }, lane);
  });
  expect(failures).toEqual([]);
  // Else it would say nothing.
  expect(admitted).toBeGreaterThan(drawn.length / 4);
});
