import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { isUnschedulable, type NodePlane, nodeOf, podOf, startNodePlane, untilNodeReady } from './plane.ts';

const namespace = 'default';
const GRACE_SECONDS = 3;

let plane: NodePlane;
let core: CoreV1Api;

beforeAll(async () => {
  plane = await startNodePlane();
  core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
});

afterAll(async () => {
  await plane?.stop();
});

describe('a control plane with nodes', () => {
  it('a pending pod runs once there is a node for it, and a deleted pod ends after its grace', async () => {
    const name = 'waits-for-node';
    const body = podOf(name, { terminationGracePeriodSeconds: GRACE_SECONDS });
    await core.createNamespacedPod({ namespace, body });
    await eventually('no node fits the pod', async () =>
      isUnschedulable(await core.readNamespacedPod({ namespace, name })),
    );
    await core.createNode({ body: nodeOf('node-1') });
    await untilNodeReady(core, 'node-1');
    const running = await eventually('the pod runs', async () => {
      const pod = await core.readNamespacedPod({ namespace, name });
      return pod.status?.phase === 'Running' && pod;
    });
    expect(running.spec?.nodeName).toBe('node-1');
    const asked = Date.now();
    await core.deleteNamespacedPod({ namespace, name });
    await eventually('the pod is gone', async () => {
      const { items } = await core.listNamespacedPod({ namespace });
      return items.every(({ metadata }) => metadata?.name !== name);
    });
    // The API server keeps whole seconds of the time at which the grace ends.
    expect(Date.now() - asked).toBeGreaterThanOrEqual((GRACE_SECONDS - 1) * 1000);
  });
});
