/** What an operator of node groups sees and does in the Temporal UI, in a real browser and the real UI. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeDrainId, nodeGroupId } from '../../domain/node-group/target.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from '../node-group/headroom/cluster.ts';
import { PATIENCE_MS, picture } from './browser.ts';
import { sendSignal, shown, TemporalUi } from './temporal-ui.ts';

const timeout = 8 * PATIENCE_MS;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let ui: TemporalUi;

beforeAll(async () => {
  [plane, ui] = await Promise.all([startNodeGroupPlane(), TemporalUi.start()]);
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await ui?.stop();
  await plane?.stop();
});

async function open(workflowId: string, tab: 'history' | 'user-metadata') {
  const { runId } = await plane.client.workflow.getHandle(workflowId).describe();
  return await ui.open(plane.temporal, `/workflows/${encodeURIComponent(workflowId)}/${runId}/${tab}`);
}

describe('an operator of node groups in the Temporal UI', { timeout }, () => {
  it('reads why a node is to go, approves it with a signal, and sees it go', async () => {
    const group = 'approved';
    const workflowId = nodeGroupId({ cluster: CLUSTER, group });
    await cluster.createGroup(group, { offeringIDs: ['small'], approval: 'scale-down', ...ownNodes(group) });
    // They fill it: with fewer, and no plan between its coming and their end, it would stay for its hour.
    await cluster.createPods(group, 4, onlyOn(group));
    await cluster.untilRunning(group, 4);
    const [node] = await cluster.untilReady(group, 1);
    const name = node?.metadata?.name ?? '';
    await cluster.core.deleteNamespace({ name: group });
    await cluster.untilStatus(group, 'awaiting an approval', ({ phase }) => phase === 'AwaitingApproval');

    const page = await open(workflowId, 'user-metadata');
    await shown(page, 'AwaitingApproval');
    await shown(page, new RegExp(name));
    await shown(page, 'take away what waits for an approval');
    await picture(page, 'node-group-1-awaiting-approval');
    await sendSignal(page, 'approve', { by: 'alice' }, 'node-group-2');
    await cluster.untilEmpty(group);
    await cluster.untilSteady(group);

    const after = await open(workflowId, 'user-metadata');
    await shown(after, 'Steady');
    await picture(after, 'node-group-3-steady');
    // The Temporal UI sets quotation marks as books do.
    await shown(after, 'approve: approved by “alice” (a claimed name): 1 node');
    const history = await open(workflowId, 'history');
    await shown(history, 'creating 1 node of small for 4 pending pods');
    await shown(history, new RegExp(`to be drained: .*${name}`));
    await picture(history, 'node-group-4-history');
    const drain = await open(nodeDrainId({ cluster: CLUSTER, uid: node?.metadata?.uid ?? '' }), 'user-metadata');
    await shown(drain, new RegExp(`${name} was drained, and its machine ${name} deleted`));
    await picture(drain, 'node-group-5-drain');
  });

  it('sees which budget holds a drain up, and finds it by the search attributes', async () => {
    const group = 'held-up';
    await cluster.createGroup(group, { offeringIDs: ['small'], minNodes: 1, ...ownNodes(group) });
    await cluster.createPods(group, 1, onlyOn(group));
    await cluster.untilRunning(group, 1);
    const [node] = await cluster.untilReady(group, 1);
    const name = node?.metadata?.name ?? '';
    await cluster.protect(group, 'web');
    await cluster.untilSteady(group);
    await cluster.command(group, 'drain', { node: name });
    const query = `HeadroomController = "node-group" AND HeadroomTarget = "${name}" AND ExecutionStatus = "Running"`;
    const workflowId = nodeDrainId({ cluster: CLUSTER, uid: node?.metadata?.uid ?? '' });
    // A page lists what there is when it is opened, and the server lists a moment later than it knows.
    await eventually('the server lists the drain', async () => {
      for await (const found of plane.client.workflow.list({ query })) return found.workflowId === workflowId;
      return false;
    });
    const list = await ui.open(plane.temporal, `/workflows?query=${encodeURIComponent(query)}`);
    await shown(list, workflowId);
    await picture(list, 'node-group-6-found');
    const page = await open(workflowId, 'user-metadata');
    await shown(page, new RegExp(`the PodDisruptionBudget ${group}/web refuses the eviction`));
    await shown(page, /why .* is drained: “alice” \(a claimed name\) asked for it/);
    await shown(page, 'evict nothing more, and take the marks of the drain off the node');
    await picture(page, 'node-group-7-held-up');
    await sendSignal(page, 'stopDrain', { by: 'alice' }, 'node-group-8');
    await eventually('the cordon is taken back', async () => (await cluster.marked(group)).length === 0);
    expect((await cluster.nodes(group)).map(({ metadata }) => metadata?.name)).toContain(name);
  });
});
