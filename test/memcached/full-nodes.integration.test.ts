/** Pods of Memcacheds are replaced where each node has one of them already: kube-scheduler places them. */
import { AppsV1Api, CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SERVER_SIDE_APPLY } from '../../activities/memcached/child-api.ts';
import { type Memcached, memcachedSpec, type WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { CHILD_BODIES } from '../../domain/memcached/children/children.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type NodePlane, nodeOf, startNodePlane, untilNodeReady } from '../node-group/plane.ts';

const NODES = ['node-1', 'node-2', 'node-3'];

let plane: NodePlane;
let apps: AppsV1Api;
let core: CoreV1Api;
beforeAll(async () => {
  plane = await startNodePlane();
  const config = accessOf(plane.adminKubeconfig);
  apps = config.makeApiClient(AppsV1Api);
  core = config.makeApiClient(CoreV1Api);
  for (const name of NODES) await core.createNode({ body: nodeOf(name) });
  await Promise.all(NODES.map(async (name) => await untilNodeReady(core, name)));
  // It takes no pods of these, and counts all the same: a domain with none of them.
  const taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
  await core.createNode({ body: Object.assign(nodeOf('closed'), { spec: { taints } }) });
});
afterAll(async () => await plane?.stop());

async function apply(name: string, written: WrittenSpec): Promise<void> {
  const spec = memcachedSpec.parse({ ...written, replicas: NODES.length });
  const memcached: Memcached = { name, namespace: name, uid: 'uid', generation: 1, annotations: {}, spec };
  const made = CHILD_BODIES.Deployment(memcached, { secretHash: '', isTakenOver: false, slots: [] });
  // There is no Memcached that could own it.
  const { name: _, ownerReferences: __, ...metadata } = { ...made?.metadata };
  const body = { ...made, metadata: { ...metadata, name }, spec: { ...made?.spec, replicas: NODES.length } };
  await apps.patchNamespacedDeployment(
    { namespace: name, name, body, fieldManager: 'test', force: true },
    SERVER_SIDE_APPLY,
  );
}

/** Until every pod is of the newest template, runs, and is alone on its node. */
async function untilReplaced(name: string, image: string): Promise<void> {
  await eventually(`each node has a pod of ${name} with ${image}`, async () => {
    const { items } = await core.listNamespacedPod({ namespace: name });
    const running = items.filter(
      ({ metadata, status, spec }) =>
        metadata?.deletionTimestamp === undefined &&
        status?.phase === 'Running' &&
        spec?.containers[0]?.image === image,
    );
    return items.length === NODES.length && new Set(running.map(({ spec }) => spec?.nodeName)).size === NODES.length;
  });
}

const spread = {
  maxSkew: 1,
  topologyKey: 'kubernetes.io/hostname',
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { 'app.kubernetes.io/instance': 'spread' } },
};

it.each<[string, WrittenSpec['highAvailability']]>([
  ['hard', { antiAffinityPreset: 'hard', warmUpSeconds: 1 }],
  ['spread', { topologySpreadConstraints: [spread] }],
])('%s: with as many pods as nodes, a new image comes to each', async (name, highAvailability) => {
  await core.createNamespace({ body: { metadata: { name } } });
  const stops = { gracefulShutdown: { enabled: true, preStopDelaySeconds: 1, terminationGracePeriodSeconds: 2 } };
  const of = (image: string): WrittenSpec => ({ image, highAvailability: { ...highAvailability, ...stops } });
  await apply(name, of('memcached:1.6.38'));
  await untilReplaced(name, 'memcached:1.6.38');
  await apply(name, of('memcached:1.6.39'));
  await untilReplaced(name, 'memcached:1.6.39');
  const { status } = await apps.readNamespacedDeployment({ namespace: name, name });
  expect(status?.replicas).toBe(NODES.length);
});
