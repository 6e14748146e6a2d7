/** The webhook of NodeGroups, asked by a real API server, under the roles for its certificate and nothing else. */
import { type KubernetesObject, KubernetesObjectApi, PatchStrategy } from '@kubernetes/client-node';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Readiness } from '../../../platform/health/health.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { createLog } from '../../../platform/log/log.ts';
import { selfMadeCertificate } from '../../../starter/admission/self-made.ts';
import { createAdmissionMetrics, type RunningAdmission, runAdmission } from '../../../starter/admission/start.ts';
import { loadConfig } from '../../../starter/config.ts';
import { nodeGroupAdmission } from '../../../starter/node-group/admission.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { WEBHOOK_KINDS, templateObjects, webhookObjects } from '../../kernel/stack/chart.ts';
import { applyManifests, applyObjects } from '../../kernel/stack/manifests.ts';
import { type Api, openApi } from '../../quota-usage/side-by-side/api.ts';

const SYSTEM_NAMESPACE = 'namespace-resizer-system';
const STARTER = `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-starter`;
const GROUPS = '/apis/autoscaler.vpsie.com/v1alpha1/namespaces/kube-system/nodegroups';
const ELSEWHERE = '/apis/autoscaler.vpsie.com/v1alpha1/namespaces/default/nodegroups';
const KWOK = { provider: 'kwok', minNodes: 0, maxNodes: 3, offeringIDs: ['small'] };
const VPSIE = {
  minNodes: 1,
  maxNodes: 10,
  datacenterID: 'dc-1',
  resourceIdentifier: 'cluster-1',
  project: 'project-1',
  offeringIDs: ['small'],
  kubernetesVersion: 'v1.28.0',
  kubeSizeID: 5,
};

const lines: string[] = [];

let plane: ControlPlane;
let admin: Api;
let admission: RunningAdmission;

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: STARTER }]);
  await applyManifests(plane.adminKubeconfig, [
    new URL('../../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url),
  ]);
  await applyObjects(plane.adminKubeconfig, await templateObjects('namespace', 'node-group/webhook-rbac'));
  await applyObjects(plane.adminKubeconfig, await webhookObjects('node-group', 'Secret'));
  admin = openApi(plane.adminKubeconfig);
  await eventually('NodeGroups are served', async () => (await admin.ask('GET', GROUPS)).code === 200);
  admission = await startWebhook();
  await callWebhookAt(admission.url);
  await eventually('the API server asks the webhook', async () =>
    (await create(ELSEWHERE, KWOK)).message.includes('NodeGroups are in kube-system'),
  );
});
afterAll(async () => {
  await admission?.close();
  admin?.close();
  await plane?.stop();
});

describe('the API server, with the webhook of NodeGroups', () => {
  it('refuses a group outside of kube-system, in words', async () => {
    expect(await create(ELSEWHERE, KWOK)).toMatchObject({
      code: 422,
      message:
        'admission webhook "validate.autoscaler.vpsie.com" denied the request: NodeGroup.autoscaler.vpsie.com "web" is invalid: metadata.namespace: Invalid value: "default": NodeGroups are in kube-system',
    });
  });

  it('refuses what the definition cannot say', async () => {
    const twice = { ...KWOK, offeringIDs: ['small', 'small'] };
    expect((await create(GROUPS, twice)).message).toContain('spec.offeringIDs: Invalid value: ["small","small"]');
    expect((await create(GROUPS, { ...KWOK, labels: { 'two words': 'a' } })).message).toContain('"two words"');
    const budgets = [{ nodes: '1', schedule: 'noon', duration: '1h' }];
    expect((await create(GROUPS, { ...KWOK, budgets })).message).toContain('spec.budgets[0].schedule');
  });

  it.each([
    ['foo bar baz qux quux', 'the hour "bar" is not understood: it takes numbers from 0 to 23'],
    ['0 0 30 2 *', '"0 0 30 2 *" never comes: none of its months has such a day'],
  ])('refuses a budget in the window %s, as it refuses such a LightsOutSchedule', async (schedule, why) => {
    const budgets = [{ nodes: '1', schedule, duration: '1h' }];
    const { code, message } = await create(GROUPS, { ...KWOK, budgets });
    expect(code).toBe(422);
    expect(message).toContain(`spec.budgets[0].schedule: Invalid value: ${JSON.stringify(schedule)}: ${why}`);
  });

  it('stores a group that can work, and keeps its provider', async () => {
    expect(await admin.ask('POST', GROUPS, bodyOf(VPSIE))).toMatchObject({ code: 201, message: '' });
    const change = { spec: { provider: 'kwok' } };
    const refused = await admin.ask('PATCH', `${GROUPS}/web`, change, 'merge');
    expect(refused.message).toContain('the provider of a group does not change');
    const moved = await admin.ask('PATCH', `${GROUPS}/web`, { spec: { resourceIdentifier: 'another' } }, 'merge');
    expect(moved.message).toContain('the cluster at VPSie of a group does not change');
    expect(await admin.ask('PATCH', `${GROUPS}/web`, { spec: { maxNodes: 5 } }, 'merge')).toMatchObject({ code: 200 });
    expect(await admin.ask('DELETE', `${GROUPS}/web`)).toMatchObject({ code: 200 });
  });
});

describe('the starter', () => {
  it('looks for no webhook that fills in anything: the definition has the defaults', () => {
    expect(lines.filter((line) => line.includes('MutatingWebhookConfiguration'))).toEqual([]);
    expect(lines.some((line) => line.includes('the ValidatingWebhookConfiguration headroom-node-group trusts'))).toBe(
      true,
    );
  });
});

/** With a certificate that it makes itself, and looks after all the time. */
async function startWebhook(): Promise<RunningAdmission> {
  const env = { CLUSTER_NAME: 'test', HEADROOM_NODE_GROUPS_WEBHOOK_ADDRESS: '127.0.0.1:0' };
  const webhooks = nodeGroupAdmission(loadConfig({ argv: [], env }));
  if (webhooks === undefined) throw new Error('the configuration has an address, and there is no webhook');
  const log = createLog({ name: 'starter', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const kubeconfig = plane.kubeconfigFor(STARTER);
  const kubeConfig = loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: 30_000 }, {});
  const host = '127.0.0.1';
  return await runAdmission({
    webhooks,
    source: selfMadeCertificate({
      webhooks,
      kubeConfig,
      systemNamespace: SYSTEM_NAMESPACE,
      host,
      log,
      everyMs: 100,
      now: Date.now,
    }),
    metrics: createAdmissionMetrics(new Registry()),
    readiness: new Readiness(),
    log,
    signal: new AbortController().signal,
    fail: (error) => void lines.push(String(error)),
    now: Date.now,
  });
}

/** The configuration of deploy, which calls this address. */
interface Configuration extends KubernetesObject {
  readonly webhooks: { clientConfig: { readonly service?: { readonly path: string }; readonly url?: string } }[];
}

async function callWebhookAt(url: string): Promise<void> {
  const [object] = (await webhookObjects('node-group', ...WEBHOOK_KINDS)) as readonly Configuration[];
  if (object === undefined) throw new Error('the chart has no webhook configuration of NodeGroups');
  for (const webhook of object.webhooks) {
    webhook.clientConfig = { url: `${url}${webhook.clientConfig.service?.path}` };
    Object.assign(webhook, { failurePolicy: 'Fail', timeoutSeconds: 30 });
  }
  const objects = accessOf(plane.adminKubeconfig).makeApiClient(KubernetesObjectApi);
  await objects.patch(object, undefined, undefined, 'headroom-setup', true, PatchStrategy.ServerSideApply);
}

function bodyOf(spec: object) {
  return { apiVersion: 'autoscaler.vpsie.com/v1alpha1', kind: 'NodeGroup', metadata: { name: 'web' }, spec };
}

async function create(path: string, spec: object) {
  return await admin.ask('POST', `${path}?dryRun=All`, bodyOf(spec));
}
