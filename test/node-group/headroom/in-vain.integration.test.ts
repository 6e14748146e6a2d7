/** The model does not know how much storage there is, and kube-scheduler does: a node that comes for the pod does not help it. */
import { StorageV1Api, type V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

const DRIVER = 'disk.example.com';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let starter: SupervisedProcess;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' } }]);
  const storage = accessOf(plane.plane.adminKubeconfig).makeApiClient(StorageV1Api);
  // Its driver says where there is room for volumes, and there is none anywhere.
  await storage.createCSIDriver({
    body: { metadata: { name: DRIVER }, spec: { storageCapacity: true, attachRequired: false } },
  });
  const metadata = { name: 'full' };
  await storage.createStorageClass({
    body: { metadata, provisioner: DRIVER, volumeBindingMode: 'WaitForFirstConsumer' },
  });
  await plane.startWorker();
  starter = await plane.startStarter();
  await cluster.createGroup('pool', { offeringIDs: ['small'] });
  await cluster.createNamespace('full');
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '1Gi' } },
    storageClassName: 'full',
  };
  await cluster.core.createNamespacedPersistentVolumeClaim({
    namespace: 'full',
    body: { metadata: { name: 'data' }, spec },
  });
});

afterAll(async () => {
  await plane?.stop();
});

async function createVictim(name: string): Promise<V1Pod> {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
  return await cluster.createPod('full', name, { volumes });
}

/** Waits until the workflow names the machine that came for a pod in vain. */
async function untilNamed(pod: string): Promise<string> {
  const { facts } = await cluster.untilStatus('pool', `told of ${pod}`, (seen) =>
    seen.facts.some((fact) => fact.startsWith(`No node for full/${pod}: `) && fact.includes(' came for it in vain ')),
  );
  return facts.find((fact) => fact.includes(`full/${pod}`)) ?? '';
}

it('makes one node for a pod that kube-scheduler does not place there, names it, and makes no second one whoever plans', async () => {
  await createVictim('first');
  const [node] = await cluster.untilReady('pool', 1);
  const machine = node?.metadata?.name ?? '';
  const [object] = await cluster.machines('pool');
  expect(object?.metadata.annotations?.['autoscaler.vpsie.com/came-for']).toMatch(/^[0-9a-f]{16}$/);
  expect(await untilNamed('first')).toContain(`: ${machine} (small of pool) came for it in vain at `);
  // What is shown is written right after.
  const status = await eventually('the status says so', async () => {
    const { status: is } = await cluster.group('pool');
    return is?.inVain !== undefined && is;
  });
  expect(status).toMatchObject({ inVain: [{ instanceType: 'small', machine, pod: 'full/first', isFirm: true }] });
  const events = await eventually('there is an Event', async () => {
    const { items } = await cluster.core.listNamespacedEvent({ namespace: NAMESPACE });
    const found = items.filter(({ reason }) => reason === 'CameInVain');
    return found.length > 0 && found;
  });
  expect(events).toMatchObject([{ involvedObject: { kind: 'NodeGroup', name: 'pool' }, type: 'Warning' }]);
  // A starter that knows nothing of before, and the pod made again under another name, after the node has gone.
  await starter.kill();
  starter = await plane.startStarter();
  await cluster.untilEmpty('pool');
  await createVictim('second');
  await cluster.core.deleteNamespacedPod({ namespace: 'full', name: 'first', gracePeriodSeconds: 0 });
  expect(await untilNamed('second')).toContain(machine);
  // Others get the nodes that they need.
  await cluster.createPods('helped', 1);
  await cluster.untilRunning('helped', 1);
  await cluster.untilStatus('pool', 'steady', ({ phase, reason }) => phase === 'Steady' && reason === 'PodsUnhelped');
  expect(await cluster.createdNodes('pool')).toHaveLength(2);
});
