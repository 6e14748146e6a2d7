import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { INSTANCE_TYPES } from '../../../activities/node-group/provider/kwok/instance-types.ts';
import { createKwokProvider } from '../../../activities/node-group/provider/kwok/kwok-provider.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type NodePlane, nodeOf, podOf, startNodePlane } from '../plane.ts';
import { nodeProviderContract } from './contract.ts';
import { groupOf } from './group.ts';
import { Mortal } from './mortal.ts';

const TYPES = `
- id: small
  capacity: { cpu: 2, memory: 4Gi }
  reserved: { cpu: 100m, memory: 100Mi }
- id: large
  capacity: { cpu: 8, memory: 32Gi }
- id: not-of-the-group
  capacity: { cpu: 16, memory: 64Gi }
`;
const group = groupOf('kwok', 'contract', {
  labels: { pool: 'contract' },
  startupTaints: [{ key: 'example.com/starting', effect: 'NoSchedule' }],
});

let plane: NodePlane;
let core: CoreV1Api;

beforeAll(async () => {
  plane = await startNodePlane();
  core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
  const { namespace, name, key } = INSTANCE_TYPES;
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { [key]: TYPES } } });
});

afterEach(async () => {
  await core.deleteCollectionNode();
});

afterAll(async () => {
  await plane?.stop();
});

function connect(process: Mortal) {
  return createKwokProvider({ kubernetes: { core: process.client(core) } });
}

nodeProviderContract('kwok', () => ({
  group,
  connect,
  record: (names) => Promise.resolve(names.map((name) => ({ name, uid: `uid-${name}`, instanceType: 'small' }))),
  machines: async () => (await core.listNode()).items.map(({ spec }) => spec?.providerID ?? ''),
}));

describe('a machine of kwok', () => {
  const request = { name: 'runs-pods', uid: 'uid', instanceType: 'small' };

  it('becomes a ready node with the labels and taints of its group, which runs pods', async () => {
    await connect(new Mortal()).ensureCreated(group, [request]);
    const node = await eventually('the node is ready', async () => {
      const read = await core.readNode({ name: request.name });
      return read.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && read;
    });
    expect(node.metadata?.labels).toMatchObject({
      pool: 'contract',
      'node.kubernetes.io/instance-type': 'small',
      'kubernetes.io/hostname': request.name,
    });
    expect(node.spec?.taints).toContainEqual({ key: 'example.com/starting', effect: 'NoSchedule' });
    expect(node.status?.allocatable).toMatchObject({ cpu: '1900m', pods: '110' });
    const tolerations = [{ key: 'example.com/starting', operator: 'Exists' }];
    await core.createNamespacedPod({ namespace: 'default', body: podOf('on-kwok', { tolerations }) });
    await eventually('the pod runs', async () => {
      const pod = await core.readNamespacedPod({ namespace: 'default', name: 'on-kwok' });
      return pod.status?.phase === 'Running';
    });
    await core.deleteNamespacedPod({ namespace: 'default', name: 'on-kwok', gracePeriodSeconds: 0 });
  });

  it('is filled later than others where it is to be, though kube-scheduler would prefer it, and not kept free', async () => {
    const early = { name: 'early', uid: 'uid-early', instanceType: 'small' };
    const late = { name: 'late', uid: 'uid-late', instanceType: 'large', fillLater: 1 };
    await connect(new Mortal()).ensureCreated(group, [late, early]);
    const isReady = async (name: string): Promise<boolean> => {
      const { spec, status } = await core.readNode({ name });
      const isFresh = spec?.taints?.some(({ key }) => key.startsWith('node.kubernetes.io/')) === true;
      return !isFresh && status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
    };
    for (const { name } of [early, late]) await eventually(`${name} is ready`, async () => await isReady(name));
    const place = async (name: string, cpu: string): Promise<string | undefined> => {
      const tolerations = [{ key: 'example.com/starting', operator: 'Exists' }];
      const containers = [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu } } }];
      await core.createNamespacedPod({ namespace: 'default', body: podOf(name, { containers, tolerations }) });
      return await eventually(`${name} has a node`, async () => {
        return (await core.readNamespacedPod({ namespace: 'default', name })).spec?.nodeName;
      });
    };
    expect([await place('first', '1'), await place('second', '800m'), await place('third', '1')]).toEqual([
      'early',
      'early',
      'late',
    ]);
    for (const name of ['first', 'second', 'third']) {
      await core.deleteNamespacedPod({ namespace: 'default', name, gracePeriodSeconds: 0 });
    }
  });

  it("a node of its name that is somebody else's is neither taken nor deleted", async () => {
    await core.createNode({ body: nodeOf(request.name) });
    const provider = connect(new Mortal());
    expect(await provider.ensureCreated(group, [request])).toEqual([expect.objectContaining({ kind: 'failed' })]);
    expect(await provider.ensureDeleted(group, { ...request, providerId: null })).toEqual({ kind: 'gone' });
    expect((await core.readNode({ name: request.name })).metadata?.name).toBe(request.name);
  });

  it('of a type that is nowhere is refused, with the place where types are', async () => {
    const [answer] = await connect(new Mortal()).ensureCreated(group, [{ ...request, instanceType: 'huge' }]);
    expect(answer).toEqual({
      kind: 'failed',
      detail: 'the ConfigMap kube-system/kwok-instance-types has no instance type huge',
    });
  });
});
