/** A starter whose clock is wrong, beside a real API server that says since when nodes are as they are. */
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { MERGE_PATCH } from '../../../activities/node-group/group/group-objects.ts';
import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { planCluster } from '../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../domain/node-group/scale-down/memory.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { createFreshFacts } from '../../../starter/node-group/fresh-facts.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { groupOf, machineOf, stateOf, typeOf } from '../../domain/node-group/builders.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';

const MINUTE = 60_000;
const NAMES = ['a', 'b', 'c', 'd'];

let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ controllerManagerFlags: ['--controllers=-node-lifecycle-controller'] });
});

afterAll(async () => {
  await plane?.stop();
});

it('does not take a node that has been not Ready for a moment, however far the clock is ahead', async () => {
  const core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
  for (const name of NAMES) {
    await core.createNode({ body: { metadata: { name } } });
    const ready = { type: 'Ready', status: name === 'a' ? 'Unknown' : 'True', lastTransitionTime: new Date() };
    await core.patchNodeStatus({ name, body: { status: { conditions: [ready] } } }, MERGE_PATCH);
  }
  const { items } = await core.listNode();
  const nodes = items.map(({ metadata, spec, status }) => readNode({ metadata, spec, status }));
  const machines = nodes.map(({ name, createdAt }) =>
    machineOf(name, 'web', { node: name, providerId: name, phase: 'Ready', createdAt, phaseSince: createdAt }),
  );
  const groups = [groupOf('web', { minNodes: NAMES.length })];
  const state = stateOf({ groups, machines, nodes, instanceTypes: { web: [typeOf('small', 4, 16)] } });
  const goneAt = (at: number): readonly string[] =>
    planCluster({ ...state, at }, { blocked: {}, memory: freshPlanMemory, requested: [] }).plan.removals.map(
      ({ node, reason }) => `${node} ${reason}`,
    );
  for (const aheadMs of [25 * MINUTE, -25 * MINUTE]) {
    const own = (): number => Date.now() + aheadMs;
    const clock = new ServerClock(own);
    const kubernetes = connectKubernetes(accessOf(plane.adminKubeconfig));
    const facts = { kubernetes, systemNamespace: 'default', pauseOf: () => null, groups: () => [], clock };
    await createFreshFacts(facts)();
    const lease = { metadata: { name: PLAN_LEASE } };
    // There is none at first, and the answer says so.
    if (aheadMs > 0) await kubernetes.coordination.createNamespacedLease({ namespace: 'default', body: lease });
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(3_000);
    expect([aheadMs, goneAt(clock.now())]).toEqual([aheadMs, []]);
    // By its own clock it would have.
    if (aheadMs > 0) expect(goneAt(own())).toEqual(['a NotReady']);
  }
});
