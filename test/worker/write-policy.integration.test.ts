/** Worker and starter that may write only while the API server is proved to hold them, and a policy that comes and goes. */
import { AdmissionregistrationV1Api, type CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuditEvent, changesNothing } from '../kernel/servers/audit-log.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { applyWritePolicy } from '../kernel/stack/chart.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane } from '../lights-out/cluster.ts';

const USERS = 'headroom-';
const POLICIES = ['headroom-worker-writes', 'headroom-starter-writes'] as const;
const QUIET_MS = 5_000;
/** Milliseconds for which a proof allows writes. */
const PROVED_MS = 11_000;

let headroom: HeadroomPlane;
let cluster: LightsOutCluster;
let core: CoreV1Api;
let admission: AdmissionregistrationV1Api;
const health = { worker: '', starter: '' };

beforeAll(async () => {
  headroom = await startLightsOutPlane({
    ownServers: true,
    values: { config: { quotaUsage: { mode: 'own' } } },
    // Nobody but Headroom writes the status of quotas.
    controllerManagerFlags: ['--controllers=*,-resourcequota-controller'],
    env: { HEADROOM_USAGE_MODE: 'own', HEADROOM_WRITE_POLICY: 'required' },
  });
  cluster = new LightsOutCluster(headroom);
  core = cluster.core;
  admission = accessOf(headroom.plane.adminKubeconfig).makeApiClient(AdmissionregistrationV1Api);
  // As it is deployed it names the accounts of the namespace namespace-resizer-system, and these processes have others, as they
  // have in any other namespace.
  await removePolicies();
  await applyWritePolicy(headroom.plane.adminKubeconfig);
  for (const name of ['worker', 'starter'] as const) {
    const address = `127.0.0.1:${await freePort()}`;
    health[name] = `http://${address}/readyz`;
    const env = { HEALTH_ADDRESS: address };
    await (name === 'worker' ? headroom.startWorker(env) : headroom.startStarter(env));
  }
  await cluster.namespace('team-a');
  await cluster.deployment('team-a', 'web', 3);
  await core.createNamespacedResourceQuota({
    namespace: 'team-a',
    body: { metadata: { name: 'compute' }, spec: { hard: { configmaps: '5' } } },
  });
  await cluster.schedule('nights', { ...DOWN, namespaces: ['team-a'] });
});
afterAll(async () => {
  await headroom?.stop();
});

async function removePolicies(): Promise<void> {
  for (const name of POLICIES) {
    await admission.deleteValidatingAdmissionPolicyBinding({ name }).catch(() => {});
    await admission.deleteValidatingAdmissionPolicy({ name }).catch(() => {});
  }
}

async function readiness(name: keyof typeof health): Promise<{ readonly status: number; readonly policy: unknown }> {
  const response = await fetch(health[name]);
  const body = (await response.json()) as { readonly conditions: Readonly<Record<string, unknown>> };
  return { status: response.status, policy: body.conditions['write policy'] };
}

/** What the two processes asked the API server to write, and did not only try. */
async function writes(): Promise<readonly AuditEvent[]> {
  const all = await headroom.plane.auditEvents();
  return all.filter(
    (event) =>
      event.user.username.startsWith(USERS) && !['get', 'list', 'watch'].includes(event.verb) && !changesNothing(event),
  );
}

async function isUsed(): Promise<boolean> {
  const { status } = await core.readNamespacedResourceQuota({ namespace: 'team-a', name: 'compute' });
  return status?.used !== undefined;
}

const isAsleep = async (): Promise<boolean> => (await cluster.replicas('team-a', 'web')) === 0;

async function isHeld(schedule: string, detail: RegExp): Promise<boolean> {
  const { phase, reason, detail: said } = await cluster.status(schedule);
  return phase === 'Paused' && reason === 'GloballyPaused' && detail.test(said);
}

describe('with writePolicy: required', () => {
  it('in another namespace the policy is for nobody: both say so, nothing is written, and a workflow says that it is held', async () => {
    for (const name of ['worker', 'starter'] as const) {
      await eventually(`the ${name} says that nobody holds it`, async () => {
        const { status, policy } = await readiness(name);
        return status === 503 && JSON.stringify(policy).includes('for another account or namespace');
      });
    }
    await eventually('the schedule is held', async () => await isHeld('nights', /another account or namespace/));
    await never('anything is written', async () => (await writes()).length > 0, QUIET_MS);
    expect([await isAsleep(), await isUsed()]).toEqual([false, false]);
    const before = (await cluster.handle('nights').describe()).historyLength;
    await never(
      'the held workflow has a longer history',
      async () => {
        return (await cluster.handle('nights').describe()).historyLength > before;
      },
      QUIET_MS,
    );
  });

  it('everything goes on by itself when the policy is for these accounts', async () => {
    await applyWritePolicy(headroom.plane.adminKubeconfig, { ofUsers: true });
    await eventually('the workload sleeps', isAsleep);
    await eventually('the quota is counted', isUsed);
    for (const name of ['worker', 'starter'] as const) {
      await eventually(`the ${name} is ready`, async () => (await readiness(name)).status === 200);
    }
  });

  it('a policy that is deleted while they run holds the next write, and both say so', async () => {
    await removePolicies();
    const removedAt = Date.now();
    const said = async (name: 'worker' | 'starter') => JSON.stringify((await readiness(name)).policy);
    // The owner of the statuses renews its Lease every two seconds, and finds it out by that.
    await eventually('the starter says it', async () => (await said('starter')).includes('is not there'));
    await eventually('no proof is from before', () => Date.now() - removedAt > PROVED_MS);
    const before = (await writes()).length;
    await cluster.namespace('team-b');
    await cluster.deployment('team-b', 'late', 2);
    await cluster.schedule('late-nights', { ...DOWN, namespaces: ['team-b'] });
    await core.createNamespacedConfigMap({ namespace: 'team-a', body: { metadata: { name: 'one-more' } } });
    await eventually('the schedule is held', async () => await isHeld('late-nights', /is not there/));
    await eventually('the worker says it', async () => (await said('worker')).includes('is not there'));
    expect((await writes()).slice(before)).toEqual([]);
    expect(await cluster.replicas('team-b', 'late')).toBe(2);
  });

  it('one that only audits and warns holds nobody', async () => {
    await applyWritePolicy(headroom.plane.adminKubeconfig, { ofUsers: true });
    for (const name of POLICIES) {
      const binding = await admission.readValidatingAdmissionPolicyBinding({ name });
      if (binding.spec !== undefined) binding.spec.validationActions = ['Warn', 'Audit'];
      await admission.replaceValidatingAdmissionPolicyBinding({ name, body: binding });
    }
    await never('anything is written', async () => (await cluster.replicas('team-b', 'late')) !== 2, 2 * QUIET_MS);
  });

  it('nor does one without a binding', async () => {
    for (const name of POLICIES) await admission.deleteValidatingAdmissionPolicyBinding({ name });
    await never('anything is written', async () => (await cluster.replicas('team-b', 'late')) !== 2, 2 * QUIET_MS);
    expect((await readiness('worker')).status).toBe(503);
  });

  it('with its binding back it goes on', async () => {
    await applyWritePolicy(headroom.plane.adminKubeconfig, { ofUsers: true });
    await eventually('what was late sleeps', async () => (await cluster.replicas('team-b', 'late')) === 0);
    await eventually('the worker is ready', async () => (await readiness('worker')).status === 200);
  });
});
