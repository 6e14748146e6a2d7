/** What people have said of nodes is known to a starter, and to a workflow, that nobody has told. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeGroupId } from '../../../domain/node-group/target.ts';
import { eventually, never } from '../../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let starter: Awaited<ReturnType<HeadroomPlane['startStarter']>>;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  starter = await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

/** The group's workflow is terminated while no starter runs; then others are there. */
async function begunAnew(group: string): Promise<void> {
  await starter.kill();
  await plane.client.workflow.getHandle(nodeGroupId({ cluster: CLUSTER, group })).terminate('by a person');
  starter = await plane.startStarter();
  await eventually('another workflow runs', async () => (await cluster.describe(group)).status.name === 'RUNNING');
}

it('a drain that a person has asked for, and that had to wait, is begun by another starter and another workflow', async () => {
  const group = 'asked';
  // Nothing goes but what a person asks for, and not before its pods have another place.
  const budgets = [
    { nodes: '0', reasons: ['Empty', 'Underutilized', 'Overprovisioned', 'Consolidation', 'NotReady'] },
    { nodes: '100%' },
  ];
  const spec = { offeringIDs: ['small'], maxNodes: 2, replaceBeforeDrain: true, budgets };
  await cluster.createGroup(group, { ...spec, ...ownNodes(group) });
  await cluster.createDeployment(group, 8, onlyOn(group));
  await cluster.untilRunning(group, 8);
  const [node] = await cluster.untilReady(group, 2);
  await cluster.untilSteady(group);
  const name = node?.metadata?.name ?? '';
  await cluster.command(group, 'drain', { node: name });
  await cluster.untilStatus(group, 'steady, and says why the node stays', ({ phase, facts }) => {
    return (
      phase === 'Steady' &&
      facts.some((fact) => fact.startsWith(name) && fact.includes('"alice" (a claimed name) asked for it'))
    );
  });
  await begunAnew(group);
  await cluster.scale(group, 4);
  await cluster.untilNodeGone(name);
  await cluster.untilRunning(group, 4);
  expect(await cluster.nodes(group)).toHaveLength(1);
  await eventually('nothing more is asked for', async () => (await cluster.wishes(group)).length === 0);
});

it('what a person has rejected is not asked again by a workflow in the place of one that was terminated', async () => {
  const group = 'rejected';
  await cluster.createGroup(group, { offeringIDs: ['small'], approval: 'scale-down', ...ownNodes(group) });
  await cluster.createPods(group, 1, onlyOn(group));
  await cluster.untilRunning(group, 1);
  await cluster.untilReady(group, 1);
  await cluster.core.deleteNamespace({ name: group });
  await cluster.untilStatus(group, 'awaiting an approval', ({ phase }) => phase === 'AwaitingApproval');
  await cluster.command(group, 'reject');
  await cluster.untilSteady(group);

  await begunAnew(group);
  await cluster.untilSteady(group);
  // By then the node has been unneeded for its second, and there were plans.
  await never('it asks again', async () => (await cluster.status(group)).phase === 'AwaitingApproval', 10_000);
  expect(await cluster.wishes(group)).toMatchObject([{ rejected: [{ by: 'alice' }] }]);
});
