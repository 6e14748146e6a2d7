/** Nodes go only when a person approves, where the group says so. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { longOnly } from '../../kernel/long.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

/** A group with two nodes that nothing needs any more, and whose workflow asks for an approval. */
async function awaitingGroup(group: string): Promise<void> {
  await cluster.createGroup(group, { offeringIDs: ['small'], approval: 'scale-down', ...ownNodes(group) });
  await cluster.createPods(group, 8, onlyOn(group));
  await cluster.untilRunning(group, 8);
  const names = (await cluster.untilReady(group, 2)).map(({ metadata }) => metadata?.name ?? '');
  await cluster.core.deleteNamespace({ name: group });
  const { reason, detail } = await cluster.untilStatus(
    group,
    'awaiting an approval of both nodes',
    (seen) => seen.phase === 'AwaitingApproval' && names.every((name) => seen.detail.includes(name)),
  );
  expect(reason).toBe('ApprovalRequired');
  for (const name of names) expect(detail).toContain(name);
}

describe('a group whose nodes go only with an approval', () => {
  it('keeps its empty nodes until a person approves, and gives them back then', async () => {
    await awaitingGroup('approved');
    await never('a node is drained', async () => (await cluster.marked('approved')).length > 0, 5_000);
    expect(await cluster.command('approved', 'approve')).toBe('approved by "alice" (a claimed name): 2 nodes');
    await cluster.untilEmpty('approved');
  });

  it('asks no more when pods need the nodes again', longOnly, async () => {
    await awaitingGroup('withdrawn');
    await cluster.createPods('withdrawn-again', 8, onlyOn('withdrawn'));
    await cluster.untilRunning('withdrawn-again', 8);
    expect((await cluster.untilSteady('withdrawn')).reason).toBe('NothingToDo');
    expect(await cluster.createdNodes('withdrawn')).toHaveLength(2);
  });

  it('keeps them where a person rejects, and does not ask for the same again', async () => {
    await awaitingGroup('rejected');
    await cluster.command('rejected', 'reject');
    const { facts } = await cluster.untilStatus(
      'rejected',
      'steady, and names who rejected',
      ({ phase, facts: seen }) => phase === 'Steady' && seen.some((fact) => fact.includes('alice has rejected')),
    );
    expect(facts.filter((fact) => fact.includes('alice has rejected'))).toHaveLength(2);
    await never(
      'it asks again, or a node is drained',
      async () =>
        (await cluster.status('rejected')).phase !== 'Steady' || (await cluster.marked('rejected')).length > 0,
      5_000,
    );
    expect(await cluster.nodes('rejected')).toHaveLength(2);
  });

  it('gives a node back without one where a person asks for that very node', async () => {
    const [node] = await cluster.nodes('rejected');
    const name = node?.metadata?.name ?? '';
    await cluster.command('rejected', 'drain', { node: name });
    await cluster.untilNodeGone(name);
    expect(await cluster.nodes('rejected')).toHaveLength(1);
  });
});
