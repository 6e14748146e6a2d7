/** Memcacheds on a real control plane, whose own controllers make pods, scale and collect garbage. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { APPLIED, GROUP, TAKEN_OVER } from '../../domain/memcached/api/names.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import { headroomWithTemporal } from '../starter/run-program.ts';
import { MemcachedCluster, merge, startMemcachedPlane } from './cluster.ts';
import { longOnly } from '../kernel/long.ts';

/** The namespace about whose objects the API server asks the webhooks. */
const ADMITTED = 'admitted';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
beforeAll(async () => {
  const port = await freePort();
  plane = await startMemcachedPlane({
    env: { HEADROOM_MEMCACHED_WEBHOOK_ADDRESS: `127.0.0.1:${port}`, 'memcached.webhookHost': '127.0.0.1' },
  });
  cluster = new MemcachedCluster(plane);
  await cluster.askBefore([ADMITTED], `https://127.0.0.1:${port}`);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

const resources = { requests: { cpu: '100m' } };

const everything = {
  replicas: 2,
  resources: { requests: { cpu: '1000m', memory: '96Mi' }, limits: { memory: '96Mi' } },
  memcached: { maxMemoryMB: 64, extraArgs: ['-o', 'modern'] },
  highAvailability: {
    antiAffinityPreset: 'hard',
    podDisruptionBudget: { enabled: true, maxUnavailable: 1 },
    gracefulShutdown: { enabled: true },
  },
  monitoring: { enabled: true, serviceMonitor: {} },
  security: {
    containerSecurityContext: { capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    networkPolicy: { enabled: true, allowedSources: [{ podSelector: { matchLabels: { app: 'web' } } }] },
  },
  service: { annotations: { team: 'a' } },
} satisfies WrittenSpec;

/** The writes of what the spec says: the list of servers follows the pods, as they come (slots.integration.test.ts). */
async function specified(name: string): Promise<readonly string[]> {
  return (await cluster.writes(name)).filter((write) => write !== 'patch configmaps');
}

describe.concurrent('a Memcached', () => {
  it('gets all that it specifies in order, says so when its pods are ready, and is not written again', async () => {
    const name = 'everything';
    await cluster.create(name, everything);
    await cluster.settled(name, 2);

    const first = ['deployments', 'deployments', 'services', 'poddisruptionbudgets', 'networkpolicies'];
    expect(await specified(name)).toEqual(first.map((resource) => `patch ${resource}`));
    const { spec, metadata } = await cluster.deployment(name);
    expect(spec?.replicas).toBe(2);
    expect(spec?.template.spec?.containers.map(({ name: container, args }) => [container, args])).toEqual([
      ['memcached', ['-m', '64', '-c', '1024', '-t', '4', '-I', '1m', '-o', 'modern']],
      ['exporter', undefined],
    ]);
    expect(metadata?.ownerReferences).toMatchObject([{ kind: 'Memcached', name, controller: true }]);
    expect(await cluster.read(name)).toMatchObject({
      status: { readyReplicas: 2, observedGeneration: 1, serverList: [`${name}.${name}:11211`] },
    });
    expect(await cluster.conditions(name)).toEqual([
      'Available=True Available: 2/2 replicas are ready',
      'Progressing=False ProgressingComplete: All 2 replicas are updated',
      'Degraded=False NotDegraded: All 2 desired replicas are ready',
      'Ready=True MemcachedReady: All 2 replicas are ready',
    ]);
    const servers = `ConfigMap ${name}-servers.`;
    expect((await cluster.events(name)).filter((event) => !event.endsWith(servers)).toSorted()).toEqual([
      ...['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].map(
        (kind) => `Created: Created ${kind} ${name}.`,
      ),
      `Updated: Updated Deployment ${name}.`,
    ]);
    const notes = [
      'no ServiceMonitor is made, because the cluster does not serve them: the Prometheus operator brings their definition',
      expect.stringContaining('all who may connect to the exporter as well') as unknown,
    ];
    expect((await cluster.runStatus(name)).facts).toEqual(notes);
    expect((await cluster.read(name)).status?.notes).toEqual(notes);

    // What nobody asked for is not taken away, and is no reason to write.
    const noted = { metadata: { annotations: { 'example.com/note': 'a' } } };
    await cluster.apps.patchNamespacedDeployment({ namespace: name, name, body: noted }, merge);
    await cluster.edit(name, { memcached: { verbosity: 1 } });
    await eventually('the argument is there', async () =>
      (await cluster.deployment(name)).spec?.template.spec?.containers[0]?.args?.includes('-v'),
    );
    await cluster.ready(name, 2);
    await eventually('it is seen', async () => (await cluster.read(name)).status?.observedGeneration === 2);
    await cluster.settled(name, 2);
    expect((await specified(name)).slice(first.length)).toEqual(['patch deployments']);
    expect((await cluster.deployment(name)).metadata?.annotations).toMatchObject({ 'example.com/note': 'a' });
  });

  it('takes away what is switched off, makes what somebody deleted, and puts right what somebody changed', async () => {
    const name = 'drift';
    await cluster.create(name, everything);
    await cluster.settled(name, 2);
    const { policy, networking, apps } = cluster;
    await policy.deleteNamespacedPodDisruptionBudget({ namespace: name, name });
    await eventually('the budget is there again', async () =>
      policy.readNamespacedPodDisruptionBudget({ namespace: name, name }).then(() => true),
    );
    await apps.patchNamespacedDeploymentScale({ namespace: name, name, body: { spec: { replicas: 5 } } }, merge);
    await eventually('it has two pods again', async () => (await cluster.deployment(name)).spec?.replicas === 2);
    await cluster.edit(name, { security: { networkPolicy: { enabled: false } } });
    await eventually('the policy is gone', async () =>
      networking.readNamespacedNetworkPolicy({ namespace: name, name }).then(
        () => false,
        () => true,
      ),
    );
    await cluster.settled(name, 2);
  });

  it('goes with everything that it owns', async () => {
    const name = 'gone';
    await cluster.create(name, everything);
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    await cluster.core.readNamespacedConfigMap({ namespace: name, name: `${name}-servers` });
    await cluster.delete(name);
    await cluster.ended(name);
    expect((await cluster.handle(name).result()) as object).toMatchObject({ reason: 'MemcachedGone' });
    // The garbage collector asks every half a minute which kinds there are, and has to know the owner's.
    await eventually(
      'the Deployment is collected',
      async () =>
        await cluster.deployment(name).then(
          () => false,
          () => true,
        ),
      120_000,
    );
    await eventually('so is the list of servers', async () =>
      cluster.core.readNamespacedConfigMap({ namespace: name, name: `${name}-servers` }).then(
        () => false,
        () => true,
      ),
    );
  });

  it('takes nothing that belongs to somebody else, and says what stands in its way', async () => {
    const name = 'conflict';
    await cluster.core.createNamespace({ body: { metadata: { name } } });
    const selector = { app: 'theirs' };
    await cluster.core.createNamespacedService({
      namespace: name,
      body: { metadata: { name }, spec: { selector, ports: [{ port: 80 }] } },
    });
    await cluster.createIn(name, { replicas: 1 });
    await cluster.ready(name, 1);
    const why = `Service ${name}/${name} exists and does not belong to this Memcached: delete or rename one of them`;
    await cluster.untilCondition(name, `Degraded=True Conflict: ${why}`);
    await cluster.reaches(name, 'Blocked', 'Conflict');
    expect((await cluster.core.readNamespacedService({ namespace: name, name })).spec?.selector).toEqual(selector);
    // Whoever deletes it wakes the episode, which may be at its end before anybody could send it a command.
    await cluster.core.deleteNamespacedService({ namespace: name, name });
    await cluster.settled(name, 1);
  });

  it('is written to only after a pause', async () => {
    const name = 'paused-cache';
    await cluster.create(name, { replicas: 1 });
    await cluster.ready(name, 1);
    await cluster.settled(name, 1);
    const body = { data: { [`namespace_${name}`]: '{"by":"alice","reason":"a migration","at":null}' } };
    const pauses = { name: 'headroom-pauses', namespace: 'namespace-resizer-system' };
    await cluster.core.patchNamespacedConfigMap({ ...pauses, body }, merge);
    const before = await cluster.writes(name);
    await cluster.edit(name, { replicas: 0 });
    await cluster.reaches(name, 'Paused', 'Paused');
    expect(await cluster.writes(name)).toEqual(before);
    const over = { data: { [`namespace_${name}`]: null } };
    await cluster.core.patchNamespacedConfigMap({ ...pauses, body: over }, merge);
    await eventually('it has no pods', async () => (await cluster.deployment(name)).spec?.replicas === 0);
    await cluster.untilCondition(name, 'Ready=False MemcachedNotReady: Instance has zero desired replicas');
    await cluster.ended(name);
  });

  it('hands its pods over to an autoscaler and takes them back, without a moment at one', longOnly, async () => {
    const name = 'scaled';
    await cluster.create(name, { replicas: 3, resources });
    await cluster.settled(name, 3);
    const { counts, stop } = await cluster.watchReplicas(name);
    await cluster.edit(name, { replicas: null, autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 9 } });
    const scaler = await eventually('there is an autoscaler', async () =>
      cluster.autoscaling.readNamespacedHorizontalPodAutoscaler({ namespace: name, name }),
    );
    expect(scaler.spec).toMatchObject({
      minReplicas: 2,
      maxReplicas: 9,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
      behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
    });
    await cluster.untilCondition(name, 'Available=True Available: 3/3 replicas are ready (HPA-managed)');
    // As the autoscaler says it where nothing serves metrics.
    const blind = { type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric', message: 'no metrics' };
    const said = { status: { currentMetrics: [], desiredReplicas: 3, conditions: [blind] } };
    await cluster.autoscaling.patchNamespacedHorizontalPodAutoscalerStatus(
      { namespace: name, name, body: said },
      merge,
    );
    await cluster.untilCondition(name, 'Autoscaling=False FailedGetResourceMetric: no metrics');
    await cluster.ended(name);
    // As the autoscaler does.
    const scale = { spec: { replicas: 5 } };
    const asScaler = { namespace: name, name, body: scale, fieldManager: 'kube-controller-manager' };
    await cluster.apps.patchNamespacedDeploymentScale(asScaler, merge);
    await cluster.settled(name, 5);
    await cluster.edit(name, { memcached: { threads: 8 } });
    await eventually('the argument is there', async () =>
      (await cluster.deployment(name)).spec?.template.spec?.containers[0]?.args?.includes('8'),
    );
    expect((await cluster.deployment(name)).spec?.replicas).toBe(5);
    await cluster.edit(name, { replicas: 4, autoscaling: { enabled: false } });
    await eventually('it has four pods', async () => (await cluster.deployment(name)).spec?.replicas === 4);
    await expect(cluster.autoscaling.readNamespacedHorizontalPodAutoscaler({ namespace: name, name })).rejects.toThrow(
      'not found',
    );
    await eventually('the last count was seen', () => counts.at(-1) === 4);
    expect(counts).toEqual([3, 5, 4]);
    stop();
  });

  it('says which Secret is missing, replaces its pods when one changes, and keeps them when one is deleted', async () => {
    const name = 'secrets';
    const { core } = cluster;
    await core.createNamespace({ body: { metadata: { name } } });
    await cluster.allowSecrets(name);
    const tls = { enabled: true, certificateSecretRef: { name: 'tls' } };
    await cluster.createIn(name, { replicas: 1, security: { tls } });
    await cluster.untilCondition(name, 'Degraded=True SecretNotFound: Referenced Secrets not found: tls');
    await cluster.ready(name, 1);
    expect(await cluster.secretHash(name)).toBeUndefined();

    // As the first operator counts it: name, 0, key, 0, value, by the keys in their order.
    const hashOf = (crt: string): string =>
      createHash('sha256').update(`tls\0tls.crt\0${crt}`).update('tls\0tls.key\0key').digest('hex');
    const data = (crt: string) => ({ 'tls.crt': btoa(crt), 'tls.key': btoa('key') });
    await core.createNamespacedSecret({ namespace: name, body: { metadata: { name: 'tls' }, data: data('one') } });
    await eventually('it is counted', async () => (await cluster.secretHash(name)) === hashOf('one'));
    await cluster.settled(name, 1);
    await core.patchNamespacedSecret({ namespace: name, name: 'tls', body: { data: data('two') } }, merge);
    await eventually('the new one is counted', async () => (await cluster.secretHash(name)) === hashOf('two'));
    await cluster.settled(name, 1);
    await core.deleteNamespacedSecret({ namespace: name, name: 'tls' });
    await cluster.untilCondition(name, 'Degraded=True SecretNotFound: Referenced Secrets not found: tls');
    expect(await cluster.secretHash(name)).toBe(hashOf('two'));
  });

  it('keeps its pods while a Secret lacks what they mount, says which key, and replaces them when it is there', async () => {
    const name = 'lacking';
    const { core } = cluster;
    await core.createNamespace({ body: { metadata: { name } } });
    await cluster.allowSecrets(name);
    const pair = { 'tls.crt': btoa('crt'), 'tls.key': btoa('key') };
    const secret = { namespace: name, name: 'tls' };
    await core.createNamespacedSecret({ namespace: name, body: { metadata: { name: 'tls' }, data: pair } });
    const tls = { enabled: true, certificateSecretRef: { name: 'tls' } };
    await cluster.createIn(name, { replicas: 1, security: { tls } });
    await cluster.settled(name, 1);
    const [hash, pods] = [await cluster.secretHash(name), await cluster.pods(name)];

    const lacks = (...keys: readonly string[]): string =>
      `Degraded=True SecretIncomplete: Referenced Secrets lack keys: ${keys.join(', ')}`;
    await cluster.edit(name, { security: { tls: { enableClientCert: true } } });
    await cluster.untilCondition(name, lacks('ca.crt of tls'));
    // An empty one is none, also of a certificate that is renewed.
    await core.patchNamespacedSecret({ ...secret, body: { data: { 'ca.crt': '', 'tls.crt': '' } } }, merge);
    await cluster.untilCondition(name, lacks('ca.crt of tls', 'tls.crt of tls'));
    await cluster.reaches(name, 'Blocked', 'SecretIncomplete');
    expect(await cluster.secretHash(name)).toBe(hash);
    expect(await cluster.pods(name)).toEqual(pods);

    await core.patchNamespacedSecret(
      { ...secret, body: { data: { 'ca.crt': btoa('ca'), 'tls.crt': btoa('new') } } },
      merge,
    );
    await eventually('the new ones are counted', async () => (await cluster.secretHash(name)) !== hash);
    await cluster.settled(name, 1);
    expect(await cluster.conditions(name)).toContain('Degraded=False NotDegraded: All 1 desired replicas are ready');
    expect((await cluster.read(name)).status?.notes ?? []).toEqual([]);
  });

  it('is taken over from the operator that made its objects, without a restart of a pod', async () => {
    const name = 'taken-over';
    const pauses = { name: 'headroom-pauses', namespace: 'namespace-resizer-system' };
    const say = async (value: string | null): Promise<void> => {
      const body = { data: { [`namespace_${name}`]: value } };
      await cluster.core.patchNamespacedConfigMap({ ...pauses, body }, merge);
    };
    await say('{"by":"alice","reason":"a move","at":null}');
    const monitoring = { enabled: true };
    await cluster.create(name, { replicas: 2, monitoring });
    const { uid } = (await cluster.read(name)).metadata;
    await cluster.asFormerOperator(name, uid, 2);
    await cluster.ready(name, 2);
    const before = await cluster.pods(name);
    await say(null);
    await cluster.settled(name, 2);
    const { metadata, spec } = await cluster.deployment(name);
    expect(metadata?.annotations).toMatchObject({ 'memcached.c5c3.io/taken-over': '1' });
    expect(spec?.replicas).toBe(2);
    expect(await cluster.pods(name)).toEqual(before);

    // What that operator wrote is Headroom's, so it goes when it is not wanted any more.
    await cluster.edit(name, { monitoring: { enabled: false } });
    await eventually('the exporter is gone', async () =>
      (await cluster.deployment(name)).spec?.template.spec?.containers.every((part) => part.name === 'memcached'),
    );
    expect((await cluster.deployment(name)).spec?.replicas).toBe(2);
    await eventually('its port is gone', async () =>
      (await cluster.core.readNamespacedService({ namespace: name, name })).spec?.ports?.every(
        (port) => port.name === 'memcached',
      ),
    );
    await cluster.settled(name, 2);
  });

  it('restarts no pod and keeps its TLS, whoever takes annotations off its Deployment or writes them', async () => {
    const name = 'annotated';
    await cluster.core.createNamespace({ body: { metadata: { name } } });
    await cluster.allowSecrets(name);
    const data = { 'tls.crt': btoa('crt'), 'tls.key': btoa('key'), 'ca.crt': btoa('ca') };
    await cluster.core.createNamespacedSecret({ namespace: name, body: { metadata: { name: 'tls' }, data } });
    const tls = { enabled: true, certificateSecretRef: { name: 'tls' }, enableClientCert: true };
    await cluster.createIn(name, { replicas: 1, security: { tls } });
    await cluster.settled(name, 1);
    const { template } = (await cluster.deployment(name)).spec ?? {};
    const pods = await cluster.pods(name);
    const annotate = async (annotations: object): Promise<void> => {
      const body = { metadata: { annotations } };
      await cluster.apps.patchNamespacedDeployment({ namespace: name, name, body }, merge);
    };
    const applied = async () => (await cluster.deployment(name)).metadata?.annotations?.[APPLIED];
    const before = await applied();
    await annotate({ [APPLIED]: null });
    await eventually('it is put right', async () => (await applied()) === before);
    await annotate({ [APPLIED]: null, [TAKEN_OVER]: '1' });
    await eventually('it is put right again', async () => (await applied()) === before);
    await cluster.settled(name, 1);
    const { spec } = await cluster.deployment(name);
    expect(spec?.template).toEqual(template);
    expect(await cluster.pods(name)).toEqual(pods);
    expect(spec?.template.spec?.containers[0]?.args).toContain('ssl_verify_mode=2');
  });

  it('is put right three times at once where somebody sets a field back slowly, and then ever more rarely', async () => {
    const name = 'fought';
    await cluster.create(name, { replicas: 0 });
    await cluster.ended(name);
    const instance = 'app.kubernetes.io/instance';
    const setBack = async (): Promise<void> => {
      const body = { spec: { selector: { [instance]: 'theirs' } } };
      await cluster.core.patchNamespacedService({ namespace: name, name, body }, merge);
    };
    const untilRight = async (): Promise<void> => {
      await eventually('it is put right', async () => {
        const { spec } = await cluster.core.readNamespacedService({ namespace: name, name });
        return spec?.selector?.[instance] === name;
      });
    };
    for (let time = 0; time < 3; time += 1) {
      await setBack();
      await untilRight();
      // Not right after it was written, but when all is over.
      await cluster.ended(name);
    }
    const wrote = Date.now();
    await setBack();
    await cluster.reaches(name, 'Blocked', 'SetBack');
    await cluster.edit(name, { memcached: { verbosity: 1 } });
    await eventually('what is edited meanwhile is written', async () =>
      (await cluster.deployment(name)).spec?.template.spec?.containers[0]?.args?.includes('-v'),
    );
    expect((await cluster.read(name)).status?.notes).toEqual([
      'something sets the Service back again and again, so it is written ever more rarely',
    ]);
    await untilRight();
    // The API server keeps whole seconds of the last write.
    expect(Date.now() - wrote).toBeGreaterThan(25_000);
    await cluster.ended(name);
  });

  it('that contradicts itself is left as it is, and says why', async () => {
    const name = 'invalid';
    await cluster.create(name, { memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } });
    const why =
      'spec.resources.limits.memory: Invalid value: "64Mi": memory limit must be at least 96Mi (maxMemoryMB=64Mi + 32Mi overhead)';
    await cluster.untilCondition(name, `Degraded=True Invalid: ${why}`);
    await cluster.reaches(name, 'Blocked', 'Invalid');
    expect(await cluster.writes(name)).toEqual([]);
    await cluster.edit(name, { resources: { limits: { memory: '96Mi' } } });
    await cluster.settled(name, 1);
  });
});

describe('the webhooks', () => {
  it('fill in what is not said, and refuse what contradicts itself or cannot work, with every reason', async () => {
    const dryRun = async (spec: WrittenSpec) => await cluster.createIn(ADMITTED, spec, 'All');
    await cluster.core.createNamespace({ body: { metadata: { name: ADMITTED } } });
    await eventually('the starter is asked', async () => (await dryRun({})).spec.replicas === 1);
    expect((await dryRun({ autoscaling: { enabled: true, maxReplicas: 3 }, resources })).spec).toMatchObject({
      image: 'memcached:1.6',
      memcached: { maxMemoryMB: 64, maxConnections: 1024, threads: 4, maxItemSize: '1m' },
      autoscaling: { metrics: [{ type: 'Resource' }], behavior: { scaleDown: { stabilizationWindowSeconds: 300 } } },
    });
    const highAvailability = { podDisruptionBudget: { enabled: true, minAvailable: '51%' } };
    expect(await cluster.warningsOf(ADMITTED, { replicas: 1, highAvailability })).toContain('never lets a pod go');
    const wrong = { replicas: 3, autoscaling: { enabled: true, maxReplicas: 3 }, memcached: { maxItemSize: '600k' } };
    await expect(dryRun({ memcached: { extraArgs: ['-x'] } })).rejects.toThrow(
      /is invalid: spec.memcached.extraArgs: Invalid value: .*-x.*: memcached does not serve clients with it/,
    );
    await expect(dryRun(wrong)).rejects.toThrow(
      /is invalid: \[spec.replicas: Invalid value: 3: .*, spec.resources.requests.cpu: Required value: .*, spec.memcached.maxItemSize: Invalid value: /,
    );
  });
});

describe('headroom memcached', () => {
  const run = async (...args: readonly string[]) =>
    await headroomWithTemporal(['memcached', ...args], {
      CLUSTER_NAME: 'test',
      KUBECONFIG: plane.plane.adminKubeconfig,
      TEMPORAL_ADDRESS: plane.temporal.address,
      TEMPORAL_NAMESPACE: plane.temporal.namespace,
    });

  it('lists Memcacheds, says where an episode is and why there is none, and compares one now', async () => {
    const name = 'asked';
    await cluster.create(name, { replicas: 2 });
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    const listed = await run('list', '--output', 'json');
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({ memcached: `${name}/${name}`, replicas: '2', ready: 0, isReady: false }),
    );
    // Between two passes it may say that the status is about to be written.
    await eventually('its status says that it rolls out', async () => {
      const { stdout } = await run('status', `${name}/${name}`);
      return stdout.startsWith(`${name}/${name}: RollingOut (RolloutInProgress) since `);
    });
    await cluster.settled(name, 2);
    const over = await run('reconcile-now', `${name}/${name}`);
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('it is as specified')]);
    const explained = await run('explain', `${name}/${name}`);
    expect(explained.stdout).toBe('asked/asked: Ended (AsSpecified)\nAll 2 replicas are ready.\n');
    const unknown = await run('explain', `${name}/askd`);
    expect(unknown.stderr).toContain('there is no Memcached "asked/askd" in test: did you mean asked/asked?');
  });
});

it('nothing is written while the operator of before renews its Lease, and everything when it is stopped', async () => {
  const name = 'waiting';
  const release = await cluster.leadFormerOperator();
  await cluster.create(name, { replicas: 1 });
  await cluster.reaches(name, 'Blocked', 'Conflict');
  const why =
    'the memcached operator still runs, as its Lease memcached-operator-system/d4f3c8a2.c5c3.io is renewed: stop it, and Headroom takes over within a minute';
  await cluster.untilCondition(name, `Degraded=True Conflict: ${why}`);
  expect(await cluster.writes(name)).toEqual([]);
  await release();
  await cluster.command(name, 'reconcileNow');
  await cluster.settled(name, 1);
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});

it('the definition asks for a maximum where an autoscaler is wanted, and has no default for it', async () => {
  const body = {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'Memcached',
    metadata: { name: 'cache' },
    spec: { autoscaling: { enabled: true } },
  };
  const created = cluster.custom.createNamespacedCustomObject({
    group: GROUP,
    version: 'v1alpha1',
    plural: 'memcacheds',
    namespace: 'default',
    body,
  });
  await expect(created).rejects.toThrow('maxReplicas is required when autoscaling is enabled');
});
