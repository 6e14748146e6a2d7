/** Whose a cluster's name is, and the Schedule that records it, with the real processes. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { leaseGcSchedule } from '../../domain/lease-gc/schedule.ts';
import { leaseGcId } from '../../domain/lease-gc/target.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import { reserveClusterName, ClusterNameTaken } from '../../platform/temporal/cluster-name.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { applyRightsOfUsers } from '../kernel/stack/chart.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { runProgram } from '../starter/run-program.ts';

// A test starts up to two processes, one after the other, and each may take up to two minutes where all cores are busy.
vi.setConfig({ testTimeout: 300_000 });

const HOUR_MS = 3_600_000;
const schedule = leaseGcSchedule({ kubernetes: { clusterName: 'test' }, timings: { leaseGcInterval: 12 * HOUR_MS } });
const WORKER_USER = 'headroom-worker';

let stack: Stack;
let other: ControlPlane;

beforeAll(async () => {
  [stack, other] = await Promise.all([
    startStack({ files: { 'README.md': '# acme/gitops\n' }, starters: 0 }),
    startControlPlane({ users: [{ name: WORKER_USER }] }),
  ]);
  await applyRightsOfUsers(other.adminKubeconfig);
});
afterAll(async () => await Promise.all([stack?.stop(), other?.stop()]));

async function uid(): Promise<string> {
  return (await stack.core.readNamespace({ name: 'kube-system' })).metadata?.uid ?? '';
}

describe('the name of a cluster', () => {
  it('is refused to another cluster, which ends with 2 and says how to go on', async () => {
    for (const program of ['worker', 'starter'] as const) {
      const env = { ...stack.env[program], KUBECONFIG: other.kubeconfigFor(WORKER_USER) };
      const { code, stdout } = await runProgram(program, [], env);
      expect(code).toBe(2);
      const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as { level: string; msg: string };
      expect(last.level).toBe('fatal');
      expect(last.msg).toMatch(
        new RegExp(
          `^the cluster name "test" is recorded for the cluster whose kube-system has the UID ${await uid()}, this one has [0-9a-f-]{36}: choose another CLUSTER_NAME, or delete the Schedule lease-gc/test if that cluster is gone$`,
        ),
      );
    }
  });

  it("is still its first owner's afterwards", async () => {
    await expect(reserveClusterName(stack.client, schedule, await uid())).resolves.toBeUndefined();
    await expect(reserveClusterName(stack.client, schedule, 'another')).rejects.toThrow(ClusterNameTaken);
  });
});

describe('the Schedule of Lease garbage collection', () => {
  it('is there once a worker runs, every 12 hours', async () => {
    const { spec, action, policies } = await stack.client.schedule.getHandle(leaseGcId('test')).describe();
    expect(spec.intervals).toMatchObject([{ every: 12 * HOUR_MS }]);
    expect(action).toMatchObject({
      type: 'startWorkflow',
      workflowType: 'leaseGc',
      taskQueue: taskQueue('test'),
      args: [{ cluster: 'test' }],
    });
    expect(policies.overlap).toBe('SKIP');
  });

  it('follows the configuration of the process that starts last, and keeps whose name it is', async () => {
    const handle = stack.client.schedule.getHandle(leaseGcId('test'));
    await stack.startStarter({ 'timings.leaseGcInterval': '6h' });
    const { spec, memo } = await handle.describe();
    expect(spec.intervals).toMatchObject([{ every: 6 * HOUR_MS }]);
    expect(memo).toEqual({ kubeSystemUid: await uid() });
  });

  it('is created once by many that start at the same moment', async () => {
    const crowd = leaseGcSchedule({ kubernetes: { clusterName: 'crowd' }, timings: { leaseGcInterval: 12 * HOUR_MS } });
    await Promise.all(Array.from({ length: 8 }, async () => await reserveClusterName(stack.client, crowd, 'one')));
    expect((await stack.client.schedule.getHandle(leaseGcId('crowd')).describe()).memo).toEqual({
      kubeSystemUid: 'one',
    });
  });
});
