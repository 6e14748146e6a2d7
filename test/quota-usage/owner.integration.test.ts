/** The starter that owns the writes of a cluster: what becomes of it, and of the writes, when something is away. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER_LEASE } from '../../starter/quota-usage/owner-lease.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { startUsagePlane } from './planes.ts';
import { type Api, openApi } from './side-by-side/api.ts';

const NAMESPACE = 'owned';
const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

let headroom: HeadroomPlane;
let api: Api;
let starter: SupervisedProcess;
beforeAll(async () => {
  headroom = await startUsagePlane({ ownServers: true });
  api = openApi(headroom.plane.adminKubeconfig);
  starter = await headroom.startStarter();
  await api.ask('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const quota = { metadata: { name: 'limits' }, spec: { hard: { configmaps: '9' } } };
  await api.ask('POST', `/api/v1/namespaces/${NAMESPACE}/resourcequotas`, quota);
});
afterAll(async () => {
  api?.close();
  await headroom?.stop();
});

async function untilUsed(configMaps: string): Promise<void> {
  await eventually(`${configMaps} ConfigMaps are used`, async () => {
    const { object } = await api.ask('GET', `/api/v1/namespaces/${NAMESPACE}/resourcequotas/limits`);
    return object.status?.used?.['configmaps'] === configMaps;
  });
}

async function holder(): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM_NAMESPACE}/leases/${OWNER_LEASE}`;
  const { object } = await api.ask('GET', path);
  return (object as { readonly spec?: { readonly holderIdentity?: string } }).spec?.holderIdentity;
}

describe('the owner of the writes', () => {
  it('goes on while Temporal is away', async () => {
    await untilUsed('1');
    await eventually('admission charges', async () => {
      await api.ask('POST', CONFIG_MAPS, { metadata: { name: 'one-more' } });
      return (await api.ask('GET', `${CONFIG_MAPS}/one-more`)).code === 200;
    });
    await untilUsed('2');
    await headroom.temporal.kill();
    await api.ask('DELETE', `${CONFIG_MAPS}/one-more`);
    await untilUsed('1');
    await headroom.temporal.restart();
    expect(starter.exit()).toBeUndefined();
  });

  it('is another starter when it is killed, and that one writes what it has counted meanwhile', async () => {
    const first = await holder();
    expect(first).toMatch(/^headroom-starter@/);
    await headroom.startStarter();
    await starter.kill();
    await api.ask('POST', CONFIG_MAPS, { metadata: { name: 'lost' } });
    await api.ask('DELETE', `${CONFIG_MAPS}/lost`);
    await eventually('another one is the owner', async () => {
      const now = await holder();
      return now !== undefined && now !== '' && now !== first;
    });
    await untilUsed('1');
  });
});
