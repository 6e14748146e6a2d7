/** `headroom doctor` with each fault made for real, on servers that are otherwise well. */
import { generateKeyPairSync } from 'node:crypto';
import {
  ApiextensionsV1Api,
  AdmissionregistrationV1Api,
  AutoscalingV2Api,
  CoordinationV1Api,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  V1MicroTime,
} from '@kubernetes/client-node';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AUTOSCALER_LEASE } from '../../../domain/node-group/api/names.ts';
import { FORMER_LEASE } from '../../../domain/memcached/api/names.ts';
import { reserveClusterName } from '../../../platform/temporal/cluster-name.ts';
import type { Finding } from '../../../starter/cli/doctor/finding.ts';
import { type FreshForge, startFreshForge } from '../../kernel/forge/fresh-forge.ts';
import { freePort } from '../../kernel/servers/free-port.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { applyWritePolicy, templateObjects } from '../../kernel/stack/chart.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyManifests, applyObjects } from '../../kernel/stack/manifests.ts';
import { type Stack, startStack } from '../../kernel/stack/stack.ts';
import { untilReported } from '../../kernel/stack/worker-report.ts';
import { headroom, headroomWithTemporal, runProgram } from '../run-program.ts';

vi.setConfig({ testTimeout: 240_000 });

const ACCOUNTS = ['--worker-account', 'headroom-worker', '--starter-account', 'headroom-starter'];
const FORMER_NAMESPACE = 'memcached-operator-system';
const DEPLOY = new URL('../../../deploy/', import.meta.url);

let stack: Stack;
let admission: AdmissionregistrationV1Api;
let rbac: RbacAuthorizationV1Api;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    env: { HEADROOM_MODE: 'propose', HEADROOM_WRITE_POLICY: 'required' },
  });
  const admin = accessOf(stack.controlPlane.adminKubeconfig);
  admission = admin.makeApiClient(AdmissionregistrationV1Api);
  rbac = admin.makeApiClient(RbacAuthorizationV1Api);
  await untilReported(stack.client, stack.cluster);
});
afterAll(async () => await stack?.stop());

interface Examined {
  readonly code: number;
  readonly findings: readonly Finding[];
  /** The findings that are not well, as `check status: what → mend`. */
  readonly troubles: readonly string[];
}

/** Everything of the worker's environment, asked with the admin's kubeconfig unless another one is given. */
function environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...stack.env.worker, KUBECONFIG: stack.controlPlane.adminKubeconfig, ...more };
}

async function examined(more: Readonly<Record<string, string>> = {}, run = headroomWithTemporal): Promise<Examined> {
  const { code, stdout, stderr } = await run(['--output', 'json', 'doctor', ...ACCOUNTS], environment(more));
  expect(stderr).toBe('');
  const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
  const troubles = findings
    .filter(({ status }) => status !== 'ok')
    .map(({ check, status, what, mend }) => `${check} ${status}: ${what} → ${mend}`);
  return { code, findings, troubles };
}

/** What makes Node's clock late by so many milliseconds from its start on, as an option of it. */
function clockBehind(ms: number): string {
  const program = `
    const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Real.now() - ${ms}] : given)); }
      static now() { return Real.now() - ${ms}; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

describe('headroom doctor', () => {
  it('finds nothing where all is well, and ends with 0; the program that ships says the same', async () => {
    const { code, findings, troubles } = await examined();
    expect(troubles).toEqual([]);
    expect(code).toBe(0);
    expect([...new Set(findings.map(({ check }) => check))].toSorted()).toEqual(
      ['cluster', 'clocks', 'definitions', 'github', 'other controllers', 'policies', 'rights', 'temporal'].toSorted(),
    );
    const shipped = await runProgram('headroom', ['doctor', ...ACCOUNTS], environment());
    expect(shipped.stdout.split('\n').filter((line) => /^ {2}(?!ok)\w/.test(line))).toEqual([]);
    expect(shipped).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/All is well\.\n$/) as string });
  });

  it('as the worker itself, in its pod, says what it may not see, and ends with 4', async () => {
    const { code, troubles } = await examined({ KUBECONFIG: stack.env.worker['KUBECONFIG'] ?? '' });
    expect(troubles.map((trouble) => trouble.split(':')[0])).toEqual(['rights unknown', 'other controllers unknown']);
    expect(troubles[0]).toContain('You may not ask what headroom-starter may do');
    expect(code).toBe(4);
  });
});

describe('of Temporal it finds', () => {
  it('that it does not answer, and looks at the rest all the same', async () => {
    const away = { TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` };
    const { code, findings, troubles } = await examined(away, headroom);
    expect(code).toBe(1);
    expect(troubles).toEqual([expect.stringMatching(/^temporal wrong: Temporal cannot be reached at/)]);
    expect(findings.some(({ check, status }) => check === 'rights' && status === 'ok')).toBe(true);
  });

  it('that there is no such namespace', async () => {
    const { code, troubles } = await examined({ TEMPORAL_NAMESPACE: 'nowhere' });
    expect(code).toBe(1);
    expect(troubles[0]).toMatch(/There is no Temporal namespace nowhere\. → temporal operator namespace create/);
  });

  it('that a namespace has no search attributes, or another type of one', async () => {
    const namespace = 'bare';
    const workflowExecutionRetentionPeriod = msToTs('24h');
    await stack.client.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const found = await eventually('the namespace is there', async () => {
      const { troubles } = await examined({ TEMPORAL_NAMESPACE: namespace });
      return troubles.some((trouble) => trouble.includes('There is no Temporal namespace')) ? null : troubles;
    });
    expect(found[0]).toMatch(
      /no search attributes HeadroomController, .* → .*search-attribute create .*--namespace bare/,
    );
    await stack.client.connection.operatorService.addSearchAttributes({
      namespace,
      // `INDEXED_VALUE_TYPE_TEXT` of Temporal's API.
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum's package is not ours
      searchAttributes: { HeadroomPhase: 1 },
    });
    await eventually('the type is seen', async () => {
      const { troubles } = await examined({ TEMPORAL_NAMESPACE: namespace });
      return troubles.some((trouble) => /has HeadroomPhase with another type than Keyword\. → Remove/.test(trouble));
    });
  });

  it('that no worker polls for a cluster, nor for a controller that is on', async () => {
    const { code, troubles } = await examined({ CLUSTER_NAME: 'elsewhere', HEADROOM_LIGHTS_OUT: 'true' });
    expect(code).toBe(1);
    const all = troubles.join('\n');
    expect(all).toContain('No worker polls headroom/elsewhere.');
    expect(all).toContain('lights-out is on, and no worker polls headroom/elsewhere/lights-out.');
  });
});

describe('of the cluster it finds', () => {
  it('that there is none, or another one than Temporal knows by this name', async () => {
    const none = await examined({ KUBECONFIG: '/nowhere/config' });
    expect(none.code).toBe(1);
    expect(none.troubles[0]).toMatch(/^cluster wrong: .* → Set KUBECONFIG or --kubeconfig/);
    const id = 'lease-gc/twin';
    await reserveClusterName(
      stack.client,
      { cluster: 'twin', id, workflowType: 'leaseGc', everyMs: 3_600_000 },
      'uid-of-another',
    );
    const { troubles } = await examined({ CLUSTER_NAME: 'twin' });
    await stack.client.schedule.getHandle(id).delete();
    expect(troubles.join('\n')).toMatch(
      /cluster wrong: Temporal knows another cluster as twin: its kube-system has the UID uid-of-another, .* → Choose/,
    );
  });

  it('rights that are missing', async () => {
    const name = 'headroom-worker-quota-resize';
    const binding = await rbac.readClusterRoleBinding({ name });
    await rbac.deleteClusterRoleBinding({ name });
    try {
      const found = await eventually('it is missed', async () => {
        const { code, troubles } = await examined();
        return code === 1 && troubles.find((trouble) => trouble.startsWith('rights wrong'));
      });
      expect(found).toMatch(/headroom-worker lacks rights .*list resourcequotas.* → Apply the chart/);
    } finally {
      delete binding.metadata?.resourceVersion;
      await rbac.createClusterRoleBinding({ body: binding });
    }
  });

  it('kinds of owners that schedules are to set and that cannot be set, and the rights that it takes', async () => {
    const { troubles } = await examined({
      CLUSTER_NAME: 'elsewhere',
      HEADROOM_LIGHTS_OUT: 'true',
      HEADROOM_LIGHTS_OUT_SCALED_OWNERS: 'widgets.example.com',
    });
    const text = troubles.join('\n');
    expect(text).toMatch(
      /definitions wrong: lightsOut\.scaledOwners names widgets\.example\.com, which is not defined/,
    );
    expect(text).toMatch(/headroom-worker lacks rights .*patch widgets\/scale\.example\.com/);
  });

  it('definitions that are missing, or of another release', async () => {
    const lightsOut = { CLUSTER_NAME: 'elsewhere', HEADROOM_LIGHTS_OUT: 'true' };
    const name = 'lightsoutschedules.lightsout.techsupport.mk';
    const missing = await examined(lightsOut);
    expect(missing.troubles.join('\n')).toContain(
      `There is no CustomResourceDefinition ${name}. → kubectl apply --server-side -f deploy/chart-crds/definitions/lights-out.yaml`,
    );
    await applyManifests(stack.controlPlane.adminKubeconfig, [
      new URL('chart-crds/definitions/lights-out.yaml', DEPLOY),
    ]);
    const definitions = accessOf(stack.controlPlane.adminKubeconfig).makeApiClient(ApiextensionsV1Api);
    const of = (examined: Examined) => examined.findings.filter(({ check }) => check === 'definitions');
    await eventually('the definition is well', async () => of(await examined(lightsOut))[0]?.status === 'ok');
    const definition = await definitions.readCustomResourceDefinition({ name });
    for (const { schema } of definition.spec.versions)
      delete schema?.openAPIV3Schema?.properties?.['spec']?.properties?.['windows'];
    await definitions.replaceCustomResourceDefinition({ name, body: definition });
    expect(of(await examined(lightsOut))).toEqual([
      expect.objectContaining({
        status: 'wrong',
        what: expect.stringContaining(
          'has no v1alpha1.spec.windows, so the API server drops what is written there',
        ) as string,
      }),
    ]);
  });

  it('a policy of writes that holds nobody, and an approval policy that is gone', async () => {
    const policies = async () => (await examined()).troubles.filter((trouble) => trouble.startsWith('policies wrong'));
    await admission.deleteValidatingAdmissionPolicyBinding({ name: 'headroom-worker-writes' });
    await admission.deleteValidatingAdmissionPolicyBinding({ name: 'headroom-approvals' });
    await eventually('both are found', async () => {
      const [first = '', second = ''] = await policies();
      return /headroom-worker-writes has to refuse/.test(first) && /headroom-approvals has to refuse/.test(second);
    });
    await applyWritePolicy(stack.controlPlane.adminKubeconfig, { ofUsers: true });
    await applyObjects(stack.controlPlane.adminKubeconfig, await templateObjects('approval-policy'));
    await eventually('both are in force', async () => (await policies()).length === 0);
  });

  it('what is written of the policies, for whoever may not try them', async () => {
    const name = 'reads-policies';
    const resources = ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'];
    const rules = [{ apiGroups: ['admissionregistration.k8s.io'], resources, verbs: ['get', 'list'] }];
    await rbac.createClusterRole({ body: { metadata: { name }, rules } });
    const apiGroup = 'rbac.authorization.k8s.io';
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    const subjects = [{ apiGroup, kind: 'User', name: 'headroom-starter' }];
    await rbac.createClusterRoleBinding({ body: { metadata: { name }, roleRef, subjects } });
    const ofStarter = { KUBECONFIG: stack.env.starter['KUBECONFIG'] ?? '' };
    const policies = async (worker = 'headroom-worker'): Promise<readonly string[]> => {
      const accounts = ['--worker-account', worker, '--starter-account', 'headroom-starter'];
      const { troubles } = await examined(
        ofStarter,
        async (args, env) => await headroomWithTemporal([...args, ...accounts], env),
      );
      return troubles.filter((trouble) => trouble.startsWith('policies'));
    };
    await eventually('the right is there', async () => (await policies())[0]?.includes('was not tried'));
    expect(await policies()).toEqual([
      expect.stringMatching(/^policies unknown: .*headroom-worker-writes is there, with a binding that denies/),
      expect.stringMatching(/^policies unknown: .*headroom-approvals is there, with a binding that denies/),
    ]);
    expect((await policies('elsewhere:headroom-worker'))[0]).toMatch(
      /^policies wrong: .*headroom-worker-writes does not name elsewhere:headroom-worker/,
    );
    expect((await policies('somebody'))[0]).toMatch(/^policies wrong: There is no ValidatingAdmissionPolicy somebody-/);
    await admission.deleteValidatingAdmissionPolicyBinding({ name: 'headroom-approvals' });
    expect((await policies())[1]).toMatch(/^policies wrong: No binding of .*headroom-approvals denies/);
    await applyObjects(stack.controlPlane.adminKubeconfig, await templateObjects('approval-policy'));
  });

  it('others that act on the same', async () => {
    const images = {
      'node-scaler': 'registry.example/autoscaling/cluster-autoscaler:v1.33.0',
      downscaler: 'registry.example/py-kube-downscaler:24.1@sha256:0123',
      sleeper: 'registry.example/kube-green/kube-green:0.7.1',
      resizer: 'registry.example:5000/namespace-resizer',
      web: 'registry.example/web:1',
    };
    await stack.core.createNamespace({ body: { metadata: { name: 'others' } } });
    for (const [name, image] of Object.entries(images)) {
      const labels = { app: name };
      const isAsleep = name === 'web';
      await stack.apps.createNamespacedDeployment({
        namespace: 'others',
        body: {
          metadata: {
            name,
            ...(isAsleep ? { annotations: { 'lightsout.techsupport.mk/managed-by': 'nights' } } : {}),
          },
          spec: {
            replicas: isAsleep ? 2 : 1,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
          },
        },
      });
    }
    await stack.apps.createNamespacedStatefulSet({
      namespace: 'others',
      body: {
        metadata: { name: 'store', annotations: { 'lightsout.techsupport.mk/managed-by': 'nights' } },
        spec: {
          replicas: 1,
          serviceName: 'store',
          selector: { matchLabels: { app: 'store' } },
          template: {
            metadata: { labels: { app: 'store' } },
            spec: { containers: [{ name: 'main', image: 'registry.example/store:1' }] },
          },
        },
      },
    });
    for (const [kind, name] of [
      ['Deployment', 'web'],
      ['StatefulSet', 'store'],
    ] as const) {
      await accessOf(stack.controlPlane.adminKubeconfig)
        .makeApiClient(AutoscalingV2Api)
        .createNamespacedHorizontalPodAutoscaler({
          namespace: 'others',
          body: {
            metadata: { name },
            spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind, name }, maxReplicas: 5 },
          },
        });
    }
    const coordination = accessOf(stack.controlPlane.adminKubeconfig).makeApiClient(CoordinationV1Api);
    const leases = [
      { namespace: 'others', name: 'karpenter-leader-election' },
      { namespace: 'kube-system', name: AUTOSCALER_LEASE },
      { namespace: FORMER_NAMESPACE, name: FORMER_LEASE },
    ];
    await stack.core.createNamespace({ body: { metadata: { name: FORMER_NAMESPACE } } });
    for (const { namespace, name } of leases) {
      const spec = { holderIdentity: 'pod-1', renewTime: new V1MicroTime(Date.now()) };
      await coordination.createNamespacedLease({ namespace, body: { metadata: { name }, spec } });
    }
    const on = {
      CLUSTER_NAME: 'elsewhere',
      HEADROOM_LIGHTS_OUT: 'true',
      HEADROOM_NODE_GROUPS: 'true',
      HEADROOM_MEMCACHED: 'true',
    };
    const found = (await examined(on)).troubles.filter((trouble) => trouble.startsWith('other controllers wrong'));
    expect(found.map((trouble) => trouble.replace(/^.*wrong: /, '').replace(/ → .*$/, ''))).toEqual([
      'cluster-autoscaler runs (Deployment others/node-scaler), and makes and deletes nodes for the same pods.',
      'Karpenter runs (it renews the Lease others/karpenter-leader-election), and makes and consolidates nodes for the same pods.',
      'kube-downscaler runs (Deployment others/downscaler), and scales workloads down and up by its own times.',
      'kube-green runs (Deployment others/sleeper), and puts workloads to sleep by its own SleepInfos.',
      'the former namespace-resizer runs (Deployment others/resizer), and opens pull requests for the same quotas.',
      `Nothing is written for NodeGroups: another controller acts on NodeGroups: pod-1 renews the Lease kube-system/${AUTOSCALER_LEASE}.`,
      `The earlier memcached operator runs: it renews the Lease ${FORMER_NAMESPACE}/${FORMER_LEASE}.`,
      'The autoscaler others/store scales the StatefulSet store, which is to sleep and has 1 replica.',
      'The autoscaler others/web scales the Deployment web, which is to sleep and has 2 replicas.',
    ]);
    // What is off is in nobody's way.
    const off = (await examined()).troubles.filter((trouble) => trouble.startsWith('other controllers'));
    expect(off).toEqual([expect.stringContaining('the former namespace-resizer') as string]);
    for (const lease of leases) await coordination.deleteNamespacedLease(lease);
    await stack.core.deleteNamespace({ name: 'others' });
    await stack.apps.deleteCollectionNamespacedDeployment({ namespace: 'others' });
  });

  it('that kube-controller-manager counts quotas beside it', async () => {
    const own = { CLUSTER_NAME: 'elsewhere', HEADROOM_USAGE_MODE: 'own' };
    const at = { namespace: 'counted-twice', name: 'compute' };
    await stack.core.createNamespace({ body: { metadata: { name: at.namespace } } });
    await stack.core.createNamespacedResourceQuota({
      namespace: at.namespace,
      body: { metadata: { name: at.name }, spec: { hard: { pods: '5' } } },
    });
    await stack.core.patchNamespacedResourceQuotaStatus(
      { ...at, body: { status: { used: { pods: '1' } } }, fieldManager: 'headroom' },
      merge,
    );
    const wroteAt = Math.floor(Date.now() / 1_000);
    await eventually('the next second', () => Math.floor(Date.now() / 1_000) > wroteAt + 1);
    await stack.core.patchNamespacedResourceQuota({ ...at, body: { spec: { hard: { pods: '6' } } } }, merge);
    await eventually('it is found', async () =>
      (await examined(own)).troubles.some((trouble) =>
        /kube-controller-manager has counted \d+ of \d+ quotas just now, or after Headroom: .*counted-twice\/compute/.test(
          trouble,
        ),
      ),
    );
  });
});

describe('of GitHub it finds', () => {
  const TOKEN = 'token-of-this-forge';
  let fresh: FreshForge;
  afterEach(async () => await fresh.stop());
  const gitHub = async (more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
    const { troubles } = await examined({ GITHUB_API_URL: fresh.forge.url, GITHUB_TOKEN: TOKEN, ...more });
    return troubles.filter((trouble) => trouble.startsWith('github'));
  };

  it('nothing where no repository is named and nothing may be proposed, and that it cannot see what the worker has', async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    const none = { HEADROOM_MODE: 'observe', GITHUB_OWNER: '', GITHUB_REPO: '', GITHUB_TOKEN: '' };
    expect(await gitHub({ ...none, CLUSTER_NAME: 'elsewhere' })).toEqual([]);
    expect(await gitHub(none)).toEqual([
      expect.stringMatching(/^github unknown: No repository and credential of GitHub are configured here\./),
    ]);
  });

  it('permissions that its App lacks', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    const app = fresh.forge.registerApp({ slug: 'headroom', publicKey });
    const granted = { metadata: 'read', contents: 'write', pull_requests: 'read', statuses: 'read' } as const;
    const installed = app.install({ account: 'acme', permissions: granted });
    const asApp = {
      GITHUB_TOKEN: '',
      GITHUB_APP_ID: String(app.id),
      GITHUB_INSTALLATION_ID: String(installed.id),
      GITHUB_PRIVATE_KEY: privateKey,
    };
    expect(await gitHub({ ...asApp, HEADROOM_MODE: 'propose' })).toContainEqual(
      expect.stringMatching(
        /^github wrong: The App lacks permissions: pull_requests write \(it has read\), checks read \(it has none\)\. → /,
      ),
    );
  });

  it('a repository that does not allow the auto-merge that the settings prefer', async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    const preferred = { HEADROOM_MODE: 'propose', ENABLE_AUTO_MERGE: 'github' };
    const refused = /acme\/gitops does not allow GitHub's auto-merge, so Headroom merges there itself/;
    expect(await gitHub(preferred)).toContainEqual(expect.stringMatching(refused));
    await fresh.forge.setMergeSettings({ autoMerge: true });
    expect(await gitHub(preferred)).not.toContainEqual(expect.stringMatching(refused));
  });

  it('a credential that is refused, a repository that it does not see, and a branch that is not there', async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    expect((await gitHub({ GITHUB_TOKEN: 'of somebody else' }))[0]).toMatch(
      /github wrong: GitHub does not answer: .*401/,
    );
    expect(await gitHub({ GITHUB_REPO: 'missing' })).toEqual([
      expect.stringMatching(/does not see the repository acme\/missing: GitHub answers 404/),
    ]);
    expect(await gitHub({ GITHUB_BASE_BRANCH: 'missing' })).toEqual([
      expect.stringMatching(/acme\/gitops has no branch missing\. → Correct GITHUB_BASE_BRANCH/),
    ]);
  });

  it('little that is left of the rate limit, and a branch that asks for no check before Headroom merges', async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN, rateLimit: { limit: 40 } });
    for (let request = 0; request < 38; request += 1) await fresh.client.repos.get(fresh.at);
    expect((await gitHub())[0]).toMatch(/github warning: [0-3] of 40 requests to GitHub are left until/);
    await fresh.stop();
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    expect(await gitHub({ ENABLE_AUTO_MERGE: 'true', CLUSTER_NAME: 'elsewhere' })).toEqual([
      expect.stringMatching(/github warning: Headroom may merge to main of acme\/gitops, which asks for no check/),
    ]);
  });

  it('webhooks that are not there, and deliveries that fail', async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n' }, { token: TOKEN });
    const webhooks = { GITHUB_WEBHOOKS: 'true' };
    expect(await gitHub(webhooks)).toEqual([expect.stringMatching(/acme\/gitops has no webhook/)]);
    const url = `http://127.0.0.1:${await freePort()}/webhooks/github`;
    await fresh.forge.addHook({ url, events: ['pull_request'] });
    await fresh.forge.deliveriesSettled();
    expect(await gitHub(webhooks)).toEqual([
      expect.stringMatching(
        /github wrong: 1 of the last 1 deliveries of the webhook to http:\/\/127\.0\.0\.1.* have failed/,
      ),
    ]);
  });
});

it('finds a clock of this machine that is behind those of the servers', async () => {
  const late = { NODE_OPTIONS: clockBehind(10 * 60_000) };
  const { code, troubles } = await examined(late, async (args, env) => await runProgram('headroom', args, env));
  expect(code).toBe(1);
  const little = { NODE_OPTIONS: clockBehind(15_000) };
  const { troubles: ofLittle } = await examined(little, async (args, env) => await runProgram('headroom', args, env));
  for (const server of ['the API server', 'GitHub', "Temporal's server"]) {
    const warning = new RegExp(`^clocks warning: The clock of ${server} is 1[456] s ahead of this machine's`);
    expect(ofLittle).toContainEqual(expect.stringMatching(warning));
  }
  const clocks = troubles.filter((trouble) => trouble.startsWith('clocks wrong')).join('\n');
  expect(clocks).toMatch(/The clock of the API server is (?:59\d|60\d) s ahead of this machine's/);
  expect(clocks).toMatch(/The clock of GitHub is (?:59\d|60\d) s ahead of this machine's/);
  expect(clocks).toMatch(/The clock of Temporal's server is (?:59\d|60\d) s ahead of this machine's/);
  const early = { NODE_OPTIONS: clockBehind(-10 * 60_000) };
  const { troubles: ofEarly } = await examined(early, async (args, env) => await runProgram('headroom', args, env));
  expect(ofEarly.join('\n')).toMatch(/The clock of Temporal's server is (?:59\d|60\d) s behind this machine's/);
});
