/** While the VPSie autoscaler's controller runs, nothing is written for node groups. */
import { V1MicroTime } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUTOSCALER_LEASE, GROUP, NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import { never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { merge, NodeGroupCluster, startNodeGroupPlane } from './cluster.ts';
import { longOnly } from '../../kernel/long.ts';

const HOLDER = 'vpsie-autoscaler-7d9f';
/** Milliseconds between two renewals, as of any leader. */
const RENEWAL_MS = 2_000;
/** Its Lease counts for a minute after the last renewal, and is looked at each minute. */
const TAKEN_OVER_MS = 240_000;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let renewal: NodeJS.Timeout;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.coordination.createNamespacedLease({
    namespace: NAMESPACE,
    body: { metadata: { name: AUTOSCALER_LEASE }, spec: { holderIdentity: HOLDER, renewTime: new V1MicroTime() } },
  });
  renewal = setInterval(() => void renew(), RENEWAL_MS);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  clearInterval(renewal);
  await plane?.stop();
});

async function renew(): Promise<void> {
  const body = { spec: { renewTime: new V1MicroTime() } };
  await cluster.coordination.patchNamespacedLease({ namespace: NAMESPACE, name: AUTOSCALER_LEASE, body }, merge);
}

/** What was written about node groups: their objects, Nodes, evictions, Events, and claims of plans. */
async function writesAboutGroups(): Promise<readonly string[]> {
  return (await cluster.writes()).flatMap(({ verb, objectRef: { resource, subresource, apiGroup, name } = {} }) => {
    const isOwn = apiGroup === GROUP || name === PLAN_LEASE || subresource === 'eviction';
    return isOwn || resource === 'nodes' || resource === 'events' ? [`${verb} ${resource}/${name}`] : [];
  });
}

describe('another controller that renews its Lease', () => {
  it('has the groups to itself: the status says so, and nothing is written', async () => {
    await cluster.createGroup('pool', { offeringIDs: ['small'], minNodes: 1 });
    await cluster.createPods('pool-pods', 2);
    const { reason, detail } = await cluster.untilStatus('pool', 'held', ({ phase }) => phase === 'Blocked');
    expect(reason).toBe('HeldByOther');
    expect(detail).toContain(`${HOLDER} renews the Lease ${NAMESPACE}/${AUTOSCALER_LEASE}`);
    await never('something is written', async () => (await writesAboutGroups()).length > 0, 10_000);
    expect(await cluster.machines('pool')).toEqual([]);
  });

  it('leaves them to Headroom once it has renewed it no longer for a minute', {
    ...longOnly,
    timeout: TAKEN_OVER_MS + 60_000,
  }, async () => {
    clearInterval(renewal);
    const stopped = Date.now();
    await cluster.untilRunning('pool-pods', 2, TAKEN_OVER_MS);
    expect(Date.now() - stopped).toBeGreaterThan(50_000);
    expect(await cluster.createdNodes('pool')).toHaveLength(1);
  });
});
