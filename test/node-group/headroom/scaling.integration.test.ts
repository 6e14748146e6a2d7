import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeGroupChanged } from '../../../workflows/node-group/messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';

/** Of one scaling, from what woke the workflow until it is steady: the aim of the issue. */
const MOST_EVENTS = 20;
/** Of two looks more that find nothing to do, as on a busy machine: where pods came while the plan was made, or after it. */
const MOST_MORE = 22;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([
    { id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' }, pricePerHour: 0.4 },
    { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 },
  ]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

describe('a group from zero', () => {
  it('gets the nodes that pods need in one request, and gives them back when the pods are gone', async () => {
    await cluster.createGroup('pool', { offeringIDs: ['medium'] });
    const { length: before } = await untilQuiet('pool');
    await cluster.createPods('pool-pods', 40);
    await cluster.untilRunning('pool-pods', 40);
    await cluster.untilReady('pool', 3);
    const history = await untilQuiet('pool');
    expect(history.length - before).toBeLessThanOrEqual(MOST_EVENTS + MOST_MORE);
    const events = scalingIn(history);
    expect(events[0]?.workflowExecutionSignaledEventAttributes?.signalName).toBe(nodeGroupChanged.name);
    expect(events.length).toBeLessThanOrEqual(MOST_EVENTS);
    expect(await cluster.machines('pool')).toHaveLength(3);
    expect(await cluster.decisions('pool')).toHaveLength(1);
    expect((await cluster.group('pool')).status).toMatchObject({ desiredNodes: 3, currentNodes: 3, readyNodes: 3 });
    await cluster.core.deleteNamespace({ name: 'pool-pods' });
    await cluster.untilEmpty('pool');
    expect(await cluster.createdNodes('pool')).toHaveLength(3);
  });
});

/** From what woke the workflow for it until whatever wakes it next. */
function scalingIn(history: Awaited<ReturnType<NodeGroupCluster['history']>>): typeof history {
  const isWake = ({ workflowExecutionSignaledEventAttributes: signal }: (typeof history)[number]): boolean => !!signal;
  const asked = history.findIndex(
    ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'ensureScaledUp',
  );
  const next = history.findIndex((event, at) => at > asked && isWake(event));
  return history.slice(
    history.findLastIndex((event, at) => at < asked && isWake(event)),
    next < 0 ? undefined : next,
  );
}

/** Waits until a group is steady, with the types of its nodes known, and its workflow has nothing more to do. */
async function untilQuiet(group: string) {
  await cluster.untilSteady(group);
  const quietMs = 4_000;
  let last = { length: -1, at: 0 };
  await eventually(`nothing more happens to ${group}`, async () => {
    const { length } = await cluster.history(group);
    if (length !== last.length) last = { length, at: Date.now() };
    return Date.now() - last.at >= quietMs;
  });
  return await cluster.history(group);
}
