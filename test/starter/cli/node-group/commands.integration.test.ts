/** `headroom node-groups` against a cluster with nodes, with and without anybody who follows its NodeGroups. */
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PolicyV1Api } from '@kubernetes/client-node';
import { GROUP_LABEL } from '../../../../domain/node-group/api/names.ts';
import { accessOf } from '../../../kernel/stack/access.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../../../kernel/stack/headroom-plane.ts';
import { untilReported } from '../../../kernel/stack/worker-report.ts';
import { NodeGroupCluster, startNodeGroupPlane } from '../../../node-group/headroom/cluster.ts';
import { nodeOf, untilNodeReady } from '../../../node-group/plane.ts';
import { headroomWithTemporal, type ProgramOutcome } from '../../run-program.ts';

// A test gives some commands, one after the other, and waits for nodes.
vi.setConfig({ testTimeout: 300_000 });

const PODS = 'node-cli-pods';
/** The cluster of the test measures nothing. */
const UNMEASURED = /^What nodes use is not known, so that only empty ones may go: metrics\.k8s\.io answers 404 .*\n$/;
/** Longer than the test. */
const IDLE_SECONDS = 3_600;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
const me = userInfo().username;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
});
afterAll(async () => await plane?.stop());

async function nodeGroups(args: readonly string[], kubeconfig = plane.plane.adminKubeconfig): Promise<ProgramOutcome> {
  return await headroomWithTemporal(['node-groups', ...args], {
    CLUSTER_NAME: CLUSTER,
    KUBECONFIG: kubeconfig,
    TEMPORAL_ADDRESS: plane.temporal.address,
    TEMPORAL_NAMESPACE: plane.temporal.namespace,
  });
}

/** What a command that must succeed prints. */
async function says(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await nodeGroups(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** What a command prints that plans, and would go by what nodes use. */
async function plans(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await nodeGroups(args);
  expect(stderr).toMatch(UNMEASURED);
  expect(code).toBe(0);
  return stdout;
}

/** The last sentence of a command that cannot do what it is asked to. */
async function fails(code: number, ...args: string[]): Promise<string> {
  const outcome = await nodeGroups(args);
  expect(outcome).toMatchObject({ code, stdout: '' });
  return outcome.stderr.trimEnd().split('\n').at(-1) ?? '';
}

describe('headroom node-groups, where nobody follows them,', () => {
  it('says that there are none', async () => {
    expect(await says('list')).toBe(`${CLUSTER} has no NodeGroup.\n`);
    expect(await plans('preview')).toBe(`${CLUSTER} has no NodeGroup.\n`);
    expect(await fails(2, 'status', 'pool')).toBe(`there is no NodeGroup "pool" in ${CLUSTER}: it has none`);
  });

  it('names what was meant, and what there is', async () => {
    await cluster.createGroup('pool', {
      offeringIDs: ['medium'],
      scaleDownPolicy: { stabilizationWindowSeconds: IDLE_SECONDS, cooldownSeconds: 1 },
    });
    await cluster.core.createNode({ body: nodeOf('foreign') });
    await untilNodeReady(cluster.core, 'foreign');
    expect(await fails(2, 'pause', 'pol')).toBe(`there is no NodeGroup "pol" in ${CLUSTER}: did you mean pool?`);
    expect(await fails(2, 'preview', 'pol')).toBe(`there is no NodeGroup "pol" in ${CLUSTER}: did you mean pool?`);
    expect(await fails(2, 'explain', 'foriegn')).toBe(
      `there is no node "foriegn" in ${CLUSTER}: did you mean foreign?`,
    );
    expect(await fails(2, 'drain', 'foriegn')).toBe(`there is no node "foriegn" in ${CLUSTER}: did you mean foreign?`);
    expect(await fails(2, 'explain', 'kube-sistem/web')).toBe(
      `there is no namespace "kube-sistem" in ${CLUSTER}: did you mean kube-system?`,
    );
    expect(await fails(2, 'explain', 'kube-system/web')).toBe(
      'there is no pod "web" in kube-system that has not ended: it has none',
    );
    expect((await nodeGroups(['explain', 'a/b/c'])).stderr).toMatch(/^error: "a\/b\/c" is neither a pod, as /);
    expect(await fails(1, 'status', 'pool')).toBe(
      `No workflow follows pool in ${CLUSTER}: it is new, or no starter and worker with HEADROOM_NODE_GROUPS=true run for the cluster.`,
    );
  });

  it('drains no node that belongs to no group', async () => {
    expect(await fails(1, 'drain', 'foreign')).toBe(
      `The node foreign belongs to no NodeGroup: it has no label ${GROUP_LABEL}. "kubectl drain" drains any node.`,
    );
    expect(await fails(1, 'stop-drain', 'foreign')).toBe(`Nothing drains foreign in ${CLUSTER}.`);
    expect(await plans('explain', 'foreign')).toBe(
      `foreign: Headroom leaves it alone: it belongs to no NodeGroup: it has no label ${GROUP_LABEL}.\n`,
    );
    await cluster.core.deleteNode({ name: 'foreign' });
  });

  it('says which rights are missing', async () => {
    const { code, stdout, stderr } = await nodeGroups(['preview'], plane.plane.kubeconfigFor('headroom-worker'));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^Kubernetes answers: .*forbidden.* cannot .*\. headroom node-groups preview and explain read with your own rights/,
    );
  });
});

describe('headroom node-groups, where they are followed,', () => {
  it('lists them, and explains pods and nodes by the plan of the starter', async () => {
    await cluster.defineTypes([{ id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' } }]);
    await Promise.all([plane.startWorker(), plane.startStarter()]);
    await untilReported(plane.client, CLUSTER);
    await cluster.createPods(PODS, 3);
    await eventually('all pods run', async () => (await cluster.running(PODS)) === 3, 120_000);
    const huge = { containers: [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '64' } } }] };
    await cluster.core.createNamespacedPod({
      namespace: PODS,
      body: { metadata: { name: 'huge' }, spec: huge },
    });
    const listed = async () => JSON.parse(await says('list', '--output', 'json')) as readonly object[];
    await eventually('the status has the node', async () => (await cluster.group('pool')).status?.readyNodes === 1);
    expect(await listed()).toEqual([
      {
        group: 'pool',
        provider: 'kwok',
        mode: 'act',
        minNodes: 0,
        maxNodes: 10,
        currentNodes: 1,
        readyNodes: 1,
        desiredNodes: 1,
        instanceTypes: ['medium'],
        isDeleting: false,
        troubles: [],
      },
    ]);
    expect(await says('list')).toMatch(/^NODEGROUP +NODES +READY .*\npool +1 +1 +1 +0-10 +kwok +act +medium\n/);

    const node = (await cluster.nodes('pool'))[0]?.metadata?.name ?? '';
    expect(await plans('explain', `${PODS}/pod-0`)).toMatch(
      new RegExp(`^${PODS}/pod-0: it is on node ${node}\\.\n${node} of pool: it stays \\(NoUtilization\\): metrics`),
    );
    expect(JSON.parse(await plans('explain', node, '--output', 'json'))).toMatchObject({
      cluster: CLUSTER,
      heldBy: null,
      node: { name: node, group: 'pool', kind: 'stays', reason: 'NoUtilization', until: null, uses: null, drain: null },
    });
    expect(JSON.parse(await plans('explain', `${PODS}/pod-0`, '--output', 'json'))).toMatchObject({
      pod: { namespace: PODS, name: 'pod-0', boundTo: node, kind: 'bound', node: { name: node } },
    });
    expect(JSON.parse(await plans('preview', '--output', 'json'))).toMatchObject({
      groups: [{ name: 'pool', mode: 'act', problems: [] }],
      newNodes: [],
      removals: [],
      kept: [{ group: 'pool', node }],
    });
    await eventually('kube-scheduler has looked at the pod', async () =>
      /no new node \(TooLarge\): .*medium of pool.*\n {2}kube-scheduler: 0\/1 nodes/i.test(
        await plans('explain', `${PODS}/huge`),
      ),
    );
    const preview = await plans('preview', 'pool');
    expect(preview).toMatch(/^New nodes\n {2}none\nNodes that may go, in this order\n {2}none\nNodes that stay\n/);
    expect(preview.replaceAll(/\s+/g, ' ')).toContain(`Pods that get no new node ${PODS}/huge (TooLarge)`);
    await cluster.core.deleteNamespacedPod({ namespace: PODS, name: 'huge' });
  });

  it('previews the nodes that a plan would ask for', async () => {
    expect(await says('pause', 'pool', '--reason', 'upgrade')).toMatch(new RegExp(`^Paused by ${me}: `));
    await eventually('the group is paused', async () => (await cluster.status('pool')).phase === 'Paused');
    expect(await says('status', 'pool')).toMatch(/^pool: Paused \(Paused\) since /);
    await cluster.createPods(`${PODS}-more`, 1, {
      containers: [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '15' } } }],
    });
    await eventually('the pause is why there is no node', async () =>
      /no new node \(Paused\)/.test(await plans('explain', `${PODS}-more/pod-0`)),
    );
    await cluster.createGroup('watched', { offeringIDs: ['medium'], mode: 'observe' });
    await eventually('a group that only observes would help', async () => {
      const text = await plans('explain', `${PODS}-more/pod-0`);
      return text.includes(
        'it gets a new node of medium in watched (PendingPods).\n  The NodeGroup watched only observes',
      );
    });
    expect(await plans('preview', 'watched')).toMatch(/^New nodes\n {2}watched: 1 node of medium for 1 pending pod \(/);
    await cluster.core.deleteNamespacedPod({ namespace: `${PODS}-more`, name: 'pod-0' });
    expect(await says('resume', 'pool')).toMatch(new RegExp(`^Resumed by ${me}: `));
    await eventually('the group goes on', async () => (await cluster.status('pool')).phase !== 'Paused');
  });

  it('drains a node that it finds the group of, and stops that', async () => {
    const node = (await cluster.nodes('pool'))[0]?.metadata?.name ?? '';
    const policy = accessOf(plane.plane.adminKubeconfig).makeApiClient(PolicyV1Api);
    const spec = { minAvailable: 3, selector: {} };
    await policy.createNamespacedPodDisruptionBudget({
      namespace: PODS,
      body: { metadata: { name: 'all' }, spec },
    });
    await eventually('the budget is observed', async () => {
      const { status } = await policy.readNamespacedPodDisruptionBudget({ namespace: PODS, name: 'all' });
      return status?.expectedPods === 3 && status.disruptionsAllowed === 0;
    });
    expect(await says('drain', node, '--reason', 'its disk fails')).toBe(
      `${node} is drained and given back, as asked by ${me}.\n`,
    );
    await eventually(
      'the node is cordoned',
      async () => (await cluster.core.readNode({ name: node })).spec?.unschedulable,
    );
    expect(await fails(1, 'drain', node)).toMatch(
      new RegExp(`^The node ${node} is being drained already, by node-drain/`),
    );
    await eventually('the drain is shown', async () =>
      /is being drained by node-drain\/.*\n {2}Draining \(/.test(await plans('explain', node)),
    );
    expect(await says('stop-drain', node, '--by', 'alice')).toContain('alice');
    await eventually('the node is as before', async () => {
      const { metadata, spec: its } = await cluster.core.readNode({ name: node });
      return its?.unschedulable !== true && metadata?.annotations?.['autoscaler.vpsie.com/drain'] === undefined;
    });
    expect(await cluster.running(PODS)).toBe(3);
    // The node is as before a moment before its drain has ended.
    await eventually('nothing drains it', async () => {
      return (await fails(1, 'stop-drain', node)) === `Nothing drains ${node} in ${CLUSTER}.`;
    });
  });

  it('says that nothing waits for an approval, and reconciles', async () => {
    expect(await fails(1, 'approve', 'pool')).toBe('Nothing waits for an approval.');
    expect(await fails(1, 'reject', 'pool')).toBe('Nothing waits for an approval.');
    expect(await says('reconcile-now', 'pool')).toBe(`Looking again now, as asked by ${me}.\n`);
  });
});
