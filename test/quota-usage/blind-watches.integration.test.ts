/**
 * Mode `own` while one watch of the owner is silent, late or cut and the others live, and while its clock is set: no quota
 * may let in more than its limit, and in the end each says what is used. In the long part that takes ten minutes, and the same
 * tenants live on a control plane with Kubernetes' own controller, of which nothing is disturbed. That one counts between a
 * charge and the storing of its object now and then, and lets in one too many; how often is printed, and fails nothing.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../chaos/random.ts';
import { amount, partOf } from '../kernel/long.ts';
import { seed } from '../kernel/seed.ts';
import { type Disturbance, openWatchProxy, type WatchProxy } from '../kernel/servers/watch-proxy.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { type HeadroomPlane, STARTER_USER } from '../kernel/stack/headroom-plane.ts';
import { startOriginalPlane, startUsagePlane } from './planes.ts';
import { type Api, openApi } from './side-by-side/api.ts';
import { Tenant } from './tenant.ts';

const TENANTS = 3;
const ORIGINAL_TENANTS = amount({ short: 0, long: TENANTS });
/** Milliseconds for which a watch is disturbed: several times the two seconds after which a charge may be taken back. */
const DISTURBED_MS = amount({ short: 7_000, long: 30_000 });
const TEST_MS = 240_000;
const HOUR_MS = 3_600_000;

const WATCHES = ['pods', 'configmaps', 'services', 'resourcequotas'];
const DISTURBANCES: readonly Disturbance[] = ['silent', 'cut', { lateMs: 3_500 }, { lateMs: 700 }];
const CASES = WATCHES.flatMap((watch) => DISTURBANCES.map((how) => ({ watch, how })));

let headroom: HeadroomPlane;
let proxy: WatchProxy;
let api: Api;
let original: ControlPlane | null = null;
const open: Api[] = [];
let dir: string;
let tenants: readonly Tenant[];
/** The same, beside Kubernetes' own controller. */
let originalTenants: readonly Tenant[] = [];
/** Where that one let in too many. */
const overByOriginal: string[] = [];

const setClock = async (byMs: number): Promise<void> => await writeFile(join(dir, 'clock'), String(byMs));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'headroom-clock-'));
  await setClock(0);
  headroom = await startUsagePlane();
  proxy = await openWatchProxy(headroom.plane);
  api = opened(headroom.plane);
  await headroom.startStarter({
    KUBECONFIG: await proxy.kubeconfigFor(STARTER_USER),
    NODE_OPTIONS: `--import=${fileURLToPath(new URL('./moved-clock.ts', import.meta.url))}`,
    MOVED_CLOCK: join(dir, 'clock'),
    'quotaUsage.resync': '5s',
  });
  tenants = tenantsOf(api, TENANTS);
  if (ORIGINAL_TENANTS > 0) {
    original = await startOriginalPlane();
    originalTenants = tenantsOf(opened(original), ORIGINAL_TENANTS);
  }
  await Promise.all([...tenants, ...originalTenants].map(async (tenant) => await tenant.settleIn()));
});
afterAll(async () => {
  if (original !== null) {
    console.log(
      `Kubernetes' own controller let in too many ${overByOriginal.length} times. ${overByOriginal.join('; ')}`,
    );
  }
  for (const each of open) each.close();
  await Promise.all([headroom?.stop(), original?.stop()]);
  await proxy?.stop();
  await rm(dir, { recursive: true, force: true });
});

function opened(plane: ControlPlane): Api {
  const api = openApi(plane.adminKubeconfig);
  open.push(api);
  return api;
}

function tenantsOf(cluster: Api, count: number): readonly Tenant[] {
  return Array.from(
    { length: count },
    (_, index) => new Tenant(cluster, `tenant-${index}`, seededRandom(seed + index)),
  );
}

/** Lets all tenants live meanwhile, and says where Headroom let in too many. */
async function overAdmittedDuring(act: () => Promise<void>): Promise<readonly string[]> {
  const over = new AbortController();
  const living = [...tenants, ...originalTenants].map(async (tenant) => await tenant.live(150, over.signal));
  await act().finally(() => over.abort());
  await Promise.all(living);
  overByOriginal.push(...originalTenants.flatMap((tenant) => tenant.overAdmitted()));
  return tenants.flatMap((tenant) => tenant.overAdmitted());
}

describe('a quota whose status Headroom keeps lets in no more than its limit', () => {
  it.each(partOf([...CASES, { watch: 'pods', how: 'silent' as const }], 4))(
    'while the watch of $watch is $how',
    { timeout: TEST_MS },
    async ({ watch, how }) => {
      const path = `/api/v1/${watch}`;
      const tooMany = await overAdmittedDuring(async () => {
        proxy.disturb(path, how);
        await sleep(DISTURBED_MS);
        proxy.mend(path);
      });
      expect(tooMany).toEqual([]);
      for (const tenant of tenants) await tenant.untilTrue();
    },
  );

  it.each([
    ['forward', HOUR_MS],
    ['back', -HOUR_MS],
    ['to where it was', 0],
  ])('while the clock of the owner is set %s', { timeout: TEST_MS }, async (_, byMs) => {
    const tooMany = await overAdmittedDuring(async () => {
      // The object is there and the owner has not been told: only the time that has passed could take its charge back.
      proxy.disturb('/api/v1/pods', { lateMs: 1_000 });
      await sleep(DISTURBED_MS / 4);
      await setClock(byMs);
      await sleep(DISTURBED_MS / 4);
      proxy.mend('/api/v1/pods');
    });
    expect(tooMany).toEqual([]);
    // Nothing is held back for as long as the clock was set back.
    for (const tenant of tenants) await tenant.untilTrue();
  });

  it('while a pod ends on its node and the clock of the owner is set past its grace', async () => {
    const namespace = '/api/v1/namespaces/ending';
    const isCharged = async (): Promise<boolean> => {
      const { object } = await api.ask('GET', `${namespace}/resourcequotas/limits`);
      return object.status?.used?.['pods'] === '1';
    };
    await api.ask('POST', '/api/v1/nodes', { metadata: { name: 'busy' } });
    await api.ask('POST', '/api/v1/namespaces', { metadata: { name: 'ending' } });
    const spec = { nodeName: 'busy', containers: [{ name: 'main', image: 'main:1' }] };
    await eventually('there is a pod', async () => {
      return (await api.ask('POST', `${namespace}/pods`, { metadata: { name: 'ending' }, spec })).code === 201;
    });
    const quota = { metadata: { name: 'limits' }, spec: { hard: { pods: '1' } } };
    await api.ask('POST', `${namespace}/resourcequotas`, quota);
    await eventually('it is charged', isCharged);
    await api.ask('DELETE', `${namespace}/pods/ending`, { gracePeriodSeconds: 120 });
    await setClock(HOUR_MS);
    await never('it is not charged any more', async () => !(await isCharged()), DISTURBED_MS);
    await setClock(0);
  });
});
