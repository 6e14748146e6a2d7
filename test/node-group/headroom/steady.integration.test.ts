/** Two minutes, and 20 s in the short part, under a load that stays the same, while pods end and are made again, and every time that a group has is a second. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomOf } from '../../domain/node-group/plan/simulated-cluster.ts';
import { type MetricsApi, startMetricsApi } from '../../kernel/servers/metrics-api.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';
import { amount } from '../../kernel/long.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let metrics: MetricsApi;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  metrics = await startMetricsApi(plane.plane.adminKubeconfig);
  // Every node is always a candidate.
  metrics.setNodeUse(10);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '16Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
  await metrics?.stop();
});

const LONG_MS = 300_000;
/** Deployments by the CPU of a pod, in millicores, and how many pods. */
const LOAD: readonly (readonly [cpu: number, pods: number])[] = [
  [250, 8],
  [700, 6],
  [1500, 4],
  [2000, 2],
];
const CHURN_MS = amount({ short: 20_000, long: 120_000 });
const EVERY_MS = 1_000;
const GROUP = 'pool';

const namespaceOf = (cpu: number): string => `of-${cpu}m`;

describe('a steady load', () => {
  it(
    'makes no node come and go, though pods end and are made again; what it leaves when it falls is given back',
    async () => {
      await cluster.createGroup(GROUP, { offeringIDs: ['small'], maxNodes: 20 });
      for (const [cpu, pods] of LOAD) {
        const resources = { requests: { cpu: `${cpu}m`, memory: '512Mi' } };
        const containers = [{ name: 'main', image: 'test/none:1', resources }];
        await cluster.createDeployment(namespaceOf(cpu), pods, { containers });
      }
      await untilAllRun();
      const before = await settled();

      const random = randomOf(15);
      const deadline = Date.now() + CHURN_MS;
      let ended = 0;
      while (Date.now() < deadline) {
        const [cpu] = LOAD[Math.floor(random() * LOAD.length)] ?? [0];
        const pods = (await cluster.pods(namespaceOf(cpu))).filter(({ metadata }) => !metadata?.deletionTimestamp);
        const name = pods[Math.floor(random() * pods.length)]?.metadata?.name;
        if (name !== undefined) {
          await cluster.core.deleteNamespacedPod({ namespace: namespaceOf(cpu), name });
          ended += 1;
        }
        await sleep(EVERY_MS);
      }
      await untilAllRun();
      expect(ended).toBeGreaterThan(CHURN_MS / (4 * EVERY_MS));
      const after = await settled();
      expect(before.filter((node) => !after.includes(node))).toEqual([]);
      // Each that came in between is there: none came and went.
      expect((await cluster.createdNodes(GROUP)).toSorted()).toEqual(after);

      for (const [cpu] of LOAD) await cluster.scale(namespaceOf(cpu), 0);
      await cluster.untilEmpty(GROUP);
      expect((await cluster.createdNodes(GROUP)).toSorted()).toEqual(after);
    },
    LONG_MS * 2,
  );
});

async function untilAllRun(): Promise<void> {
  for (const [cpu, pods] of LOAD) await cluster.untilRunning(namespaceOf(cpu), pods);
}

/** The names of the group's nodes in order, once all that came are ready. */
async function settled(): Promise<readonly string[]> {
  await cluster.untilSteady(GROUP);
  const nodes = await cluster.untilReady(GROUP, (await cluster.nodes(GROUP)).length);
  return nodes.map(({ metadata }) => metadata?.name ?? '').toSorted();
}
