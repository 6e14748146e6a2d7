/** What worker and starter may do in a cluster with every controller of the chart, asked as themselves. */
import {
  AuthorizationV1Api,
  CoreV1Api,
  type KubeConfig,
  type KubernetesObject,
  type V1ResourceRule,
} from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { groupResourceName } from '../../domain/kernel/group-resource.ts';
import { nextMonitors } from '../../domain/quota-usage/monitors.ts';
import { createApiGet } from '../../activities/kubernetes/api-get.ts';
import { createDiscovery } from '../../starter/quota-usage/discovery.ts';
import { createUsageCache } from '../../starter/quota-usage/cache.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { applyRights, EVERYTHING, templateObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';

const SYSTEM = 'namespace-resizer-system';
/** The API server takes these names for the accounts themselves, so that the manifests bind them as they are. */
const WORKER = `system:serviceaccount:${SYSTEM}:headroom-worker`;
const STARTER = `system:serviceaccount:${SYSTEM}:headroom-starter`;
const TLS_SECRET = 'headroom-lights-out-tls';
const MEMCACHED_TLS_SECRET = 'headroom-memcached-tls';
const NODE_GROUP_TLS_SECRET = 'headroom-node-group-tls';

let plane: ControlPlane;
let admin: CoreV1Api;

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: WORKER }, { name: STARTER }]);
  admin = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
  // Without kwok's, which are for tests and demos.
  await applyRights(plane.adminKubeconfig, EVERYTHING);
  await untilAllowed(plane.adminKubeconfig, STARTER, [
    { verb: 'list', resource: 'persistentvolumeclaims' },
    { verb: 'get', resource: 'secrets', namespace: SYSTEM, name: TLS_SECRET },
  ]);
});
afterAll(async () => {
  await plane?.stop();
});

describe('with every controller but the counting of Secrets', () => {
  it('the worker writes what its controllers need, and nothing else', async () => {
    expect(await writesOf(WORKER, 'team-a')).toEqual([
      // What is created, changed and deleted has a Memcached for its owner (the policy of writes).
      'apps/deployments create',
      'apps/deployments delete',
      'apps/deployments patch',
      'apps/statefulsets patch',
      'argoproj.io/rollouts patch',
      'autoscaling/horizontalpodautoscalers create',
      'autoscaling/horizontalpodautoscalers delete',
      'autoscaling/horizontalpodautoscalers patch',
      'batch/cronjobs patch',
      'batch/cronjobs/status patch',
      'configmaps create',
      'configmaps patch',
      'events create',
      'keda.sh/scaledjobs patch',
      'keda.sh/scaledobjects patch',
      'lightsout.techsupport.mk/lightsoutschedules patch',
      'lightsout.techsupport.mk/lightsoutschedules/status patch',
      'memcached.c5c3.io/memcacheds/finalizers update',
      'memcached.c5c3.io/memcacheds/status patch',
      'monitoring.coreos.com/servicemonitors create',
      'monitoring.coreos.com/servicemonitors delete',
      'monitoring.coreos.com/servicemonitors patch',
      'networking.k8s.io/networkpolicies create',
      'networking.k8s.io/networkpolicies delete',
      'networking.k8s.io/networkpolicies patch',
      // Of a node that is patched only cordon, taints, labels and the marks of drains change (the policy of writes).
      'nodes delete',
      'nodes patch',
      'pods/eviction create',
      'policy/poddisruptionbudgets create',
      'policy/poddisruptionbudgets delete',
      'policy/poddisruptionbudgets patch',
      'services create',
      'services delete',
      'services patch',
    ]);
    const inSystem = await writesOf(WORKER, SYSTEM);
    expect(inSystem.filter((write) => /leases|configmaps|secrets|serviceaccounts|roles|pods/.test(write))).toEqual([
      'configmaps create',
      'configmaps patch',
      'configmaps(headroom-pauses) patch',
      'coordination.k8s.io/leases create',
      'coordination.k8s.io/leases delete',
      'coordination.k8s.io/leases update',
      'coordination.k8s.io/leases(node-group-plan) update',
      'pods/eviction create',
    ]);
  });

  it('the worker has NodeGroups, machines and the one Secret of VPSie in kube-system only', async () => {
    const everywhere = new Set(await writesOf(WORKER, 'team-a'));
    expect((await writesOf(WORKER, 'kube-system')).filter((write) => !everywhere.has(write))).toEqual([
      'autoscaler.vpsie.com/nodegroups patch',
      'autoscaler.vpsie.com/nodegroups/status patch',
      'autoscaler.vpsie.com/vpsienodes create',
      'autoscaler.vpsie.com/vpsienodes delete',
      'autoscaler.vpsie.com/vpsienodes patch',
      'autoscaler.vpsie.com/vpsienodes/status patch',
    ]);
    for (const name of ['vpsie-secret', 'other-secret']) {
      await admin.createNamespacedSecret({ namespace: 'kube-system', body: { metadata: { name } } });
    }
    const [worker, starter] = [WORKER, STARTER].map((user) => clientsOf(user).makeApiClient(CoreV1Api));
    const read = { namespace: 'kube-system', name: 'vpsie-secret' };
    expect((await worker?.readNamespacedSecret(read))?.metadata?.name).toBe('vpsie-secret');
    await forbidden(starter?.readNamespacedSecret(read));
    await forbidden(worker?.readNamespacedSecret({ ...read, name: 'other-secret' }));
    await forbidden(worker?.listNamespacedSecret({ namespace: 'kube-system' }));
  });

  it('the starter writes the status of quotas, the webhook configurations and one Secret of each controller that has webhooks', async () => {
    const configurations = ['mutating', 'validating'].flatMap((kind) =>
      ['lights-out', 'memcached', ...(kind === 'validating' ? ['node-group'] : [])].map(
        (name) => `admissionregistration.k8s.io/${kind}webhookconfigurations(headroom-${name}) patch`,
      ),
    );
    const status = 'resourcequotas/status patch';
    expect(await writesOf(STARTER, 'team-a')).toEqual([...configurations, status]);
    const secrets = [TLS_SECRET, MEMCACHED_TLS_SECRET, NODE_GROUP_TLS_SECRET].map((name) => `secrets(${name}) update`);
    // Of Leases only the one that names the owner of the writes (the policy of writes).
    const leases = ['create', 'update'].map((verb) => `coordination.k8s.io/leases ${verb}`);
    expect(await writesOf(STARTER, SYSTEM)).toEqual([...configurations, ...leases, status, ...secrets]);
  });

  it('nobody can mint or read a token, nor read a Secret but the one of the webhooks', async () => {
    await admin.createNamespacedSecret({
      namespace: SYSTEM,
      body: { metadata: { name: 'headroom-github' }, stringData: { token: 'of-the-forge' } },
    });
    for (const user of [WORKER, STARTER]) {
      const core = clientsOf(user).makeApiClient(CoreV1Api);
      // The cluster's own controller would fill it with a token of the worker, for whoever may read it.
      const tokenSecret = {
        metadata: { name: 'minted', annotations: { 'kubernetes.io/service-account.name': 'headroom-worker' } },
        type: 'kubernetes.io/service-account-token',
      };
      await forbidden(core.createNamespacedSecret({ namespace: SYSTEM, body: tokenSecret }));
      for (const name of ['headroom-worker', 'headroom-starter']) {
        await forbidden(
          core.createNamespacedServiceAccountToken({ name, namespace: SYSTEM, body: { spec: { audiences: [] } } }),
        );
      }
      await forbidden(core.listNamespacedSecret({ namespace: SYSTEM }));
      await forbidden(core.listSecretForAllNamespaces());
      await forbidden(core.readNamespacedSecret({ name: 'headroom-github', namespace: SYSTEM }));
      await forbidden(core.deleteNamespacedSecret({ name: TLS_SECRET, namespace: SYSTEM }));
      const pod = { metadata: { name: 'pod' }, spec: { containers: [{ name: 'main', image: 'main' }] } };
      await forbidden(core.createNamespacedPod({ namespace: SYSTEM, body: pod }));
    }
  });

  it('the Secrets of Memcacheds are read in the namespaces that the values name, and nowhere else', async () => {
    const secrets = (verb: string) => ({ verb, resource: 'secrets', namespace: 'team-a' });
    await admin.createNamespace({ body: { metadata: { name: 'team-a' } } });
    const [worker, starter] = [WORKER, STARTER].map((user) => clientsOf(user).makeApiClient(CoreV1Api));
    await forbidden(worker?.readNamespacedSecret({ name: 'tls', namespace: 'team-a' }));
    await forbidden(starter?.listNamespacedSecret({ namespace: 'team-a' }));

    await applyRights(plane.adminKubeconfig, { ...EVERYTHING, rights: { memcachedSecrets: ['team-a'] } });
    await untilAllowed(plane.adminKubeconfig, WORKER, [secrets('get')]);
    await untilAllowed(plane.adminKubeconfig, STARTER, [secrets('list'), secrets('watch')]);
    await forbidden(worker?.listNamespacedSecret({ namespace: 'team-a' }));
    await forbidden(starter?.readNamespacedSecret({ name: 'tls', namespace: 'team-a' }));
    for (const client of [worker, starter]) await forbidden(client?.listSecretForAllNamespaces());
    await forbidden(worker?.readNamespacedSecret({ name: 'headroom-github', namespace: SYSTEM }));
    for (const user of [WORKER, STARTER]) {
      expect(await writesOf(user, 'team-a')).not.toContainEqual(expect.stringContaining('secrets'));
    }
  });

  it('the Secret of the webhooks cannot be made one that the cluster fills with a token', async () => {
    const core = clientsOf(STARTER).makeApiClient(CoreV1Api);
    const secret = await core.readNamespacedSecret({ name: TLS_SECRET, namespace: SYSTEM });
    expect([secret.type, secret.data]).toEqual(['Opaque', undefined]);
    const annotations = { 'kubernetes.io/service-account.name': 'headroom-worker' };
    Object.assign(secret.metadata ?? {}, { annotations });
    const body = Object.assign(secret, { type: 'kubernetes.io/service-account-token' });
    const replaced = core.replaceNamespacedSecret({ name: TLS_SECRET, namespace: SYSTEM, body });
    await expect(replaced).rejects.toThrow(/type: Invalid value: .*field is immutable/s);
  });

  it('what the starter may count is exactly what Kubernetes counts, but Secrets', async () => {
    const discovery = await createDiscovery(createApiGet(accessOf(plane.adminKubeconfig)))();
    const builtIn = nextMonitors([], discovery)
      .map(groupResourceName)
      .filter((name) => name !== 'secrets' && !name.endsWith('.mk'));
    const [role] = (await templateObjects('quota-usage/reading-rbac')) as readonly (KubernetesObject & {
      rules: readonly V1ResourceRule[];
    })[];
    const listed = (role?.rules ?? []).flatMap(({ apiGroups = [], resources = [], verbs }) => {
      expect(verbs).toEqual(['list', 'watch']);
      return apiGroups.flatMap((group) => resources.map((resource) => groupResourceName({ group, resource })));
    });
    // Cluster-scoped, and so counted by no quota: they say how claims of devices are charged.
    expect(listed.toSorted()).toEqual([...builtIn, 'deviceclasses.resource.k8s.io'].toSorted());
  });

  it('Secrets are not counted, which is stated once, and everything else is', async () => {
    const namespace = 'few-secrets';
    await admin.createNamespace({ body: { metadata: { name: namespace } } });
    const hard = { pods: '10', 'count/secrets': '5', 'count/configmaps': '9' };
    await admin.createNamespacedResourceQuota({ namespace, body: { metadata: { name: 'limits' }, spec: { hard } } });
    const { cache, lines, stop } = startCounting();
    try {
      const countOf = async () => {
        const quota = cache.quota(namespace, 'limits');
        return quota === null ? null : cache.countNow(quota);
      };
      const uncounted = await eventually('all that may be counted is', async () => {
        const count = await countOf();
        // The cluster puts one of its own into every namespace, in its time.
        const isThere = count?.used['count/configmaps'] === '1';
        return isThere && Object.keys(count.used).length === 2 && count.unmeasured[0]?.reason.includes('403') && count;
      });
      expect(uncounted).toMatchObject({
        used: { pods: '0', 'count/configmaps': '1' },
        unmeasured: [
          {
            keys: ['count/secrets'],
            reason: expect.stringMatching(
              /^secrets may not be listed, which rights\.countSecrets of the chart allows: 403 secrets is forbidden/,
            ),
          },
        ],
      });
      expect(lines.filter((line) => line.includes('secrets'))).toHaveLength(1);
      await applyRights(plane.adminKubeconfig, { ...EVERYTHING, rights: { countSecrets: true } });
      await eventually('Secrets are counted', async () => (await countOf())?.used['count/secrets'] === '0');
    } finally {
      await stop();
    }
    // The right lets the starter list them, and does not let it write or mint any.
    expect(await writesOf(STARTER, 'team-a')).not.toContainEqual(expect.stringContaining('secrets'));
  });
});

/** The starter's cache of what quotas count, with what it logs. */
function startCounting() {
  const over = new AbortController();
  const lines: string[] = [];
  const ignore = (): void => {};
  const cache = createUsageCache({
    kubeConfig: clientsOf(STARTER),
    discoveryMs: 500,
    replenishmentResyncMs: 3_600_000,
    listener: {
      isOwnWrite: () => false,
      onObject: ignore,
      onObjectGone: ignore,
      onQuota: ignore,
      onQuotaGone: ignore,
      onFilled: ignore,
      onChecked: ignore,
    },
    staleValues: () => [],
    time: Date,
    log: pino({}, { write: (text: string) => lines.push((JSON.parse(text) as { msg: string }).msg) }),
    signal: over.signal,
  });
  return { cache, lines, stop: async () => await cache.stop() };
}

function clientsOf(user: string): KubeConfig {
  return accessOf(plane.kubeconfigFor(user));
}

/** Whatever a user may do in a namespace besides reading, and besides what every user may, such as asking for its rights. */
async function writesOf(user: string, namespace: string): Promise<readonly string[]> {
  const authorization = clientsOf(user).makeApiClient(AuthorizationV1Api);
  const { status } = await authorization.createSelfSubjectRulesReview({ body: { spec: { namespace } } });
  expect(status?.incomplete).toBe(false);
  const writes = (status?.resourceRules ?? []).flatMap(
    ({ apiGroups = [], resources = [], resourceNames = [], verbs }) => {
      const names = resourceNames.length === 0 ? '' : `(${resourceNames.join(',')})`;
      return apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs
            .filter((verb) => !['get', 'list', 'watch'].includes(verb))
            .map((verb) => `${group === '' ? '' : `${group}/`}${resource}${names} ${verb}`),
        ),
      );
    },
  );
  return [...new Set(writes)].filter((write) => !/^auth(entication|orization)\.k8s\.io\/self/.test(write)).toSorted();
}

async function forbidden(answer: Promise<unknown> | undefined): Promise<void> {
  await expect(answer).rejects.toMatchObject({ code: 403 });
}
