/** What Helm renders, whatever is switched on: the API server takes it, and the processes start with it. */
import { generateKeyPairSync } from 'node:crypto';
import {
  CoreV1Api,
  type KubeConfig,
  KubernetesObjectApi,
  PatchStrategy,
  type V1NetworkPolicy,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PairName, pairNames, processName } from '../../domain/kernel/controllers.ts';
import { configFileSetting } from '../../platform/config/settings.ts';
import { settingEntries } from '../../starter/config.ts';
import { PROGRAM_NAMES } from '../../tools/programs/program-names.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { EVERY_RIGHT, EVERYTHING } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { certManagerDefinitions } from './cert-manager.ts';
import { configOf, containerOf, deploymentOf, found, portsOf, processesOf } from './pods.ts';
import { type Manifest, objectsOf, rendered } from './rendered.ts';
import { rightsOf, writePolicyOf } from './rights.ts';

const SYSTEM = 'namespace-resizer-system';
const PROCESSES = ['worker', 'starter'] as const;
const EXAMPLES = ['github-token', 'github-app', 'github-webhooks'].map((name) => `${name}.example.yaml`);
const OF_HEADROOM = { matchLabels: { 'app.kubernetes.io/part-of': 'headroom' } };
const GITHUB = { owner: 'acme', repo: 'gitops' };

/** Every choice of controllers, with each kind of certificate, in one pair of processes and in one for each. */
const COMBINATIONS = (['together', 'apart'] as const).flatMap((processes) =>
  ['off', 'audit', 'own'].flatMap((mode) =>
    [0, 1, 2, 3, 4, 5, 6, 7].flatMap((bits) =>
      (['self', 'cert-manager', 'none'] as const).map((certificates) => ({
        processes,
        config: {
          quotaUsage: { mode },
          lightsOut: { enabled: (bits & 1) !== 0 },
          memcached: { enabled: (bits & 2) !== 0 },
          nodeGroups: { enabled: (bits & 4) !== 0 },
          webhooks: { enabled: certificates === 'self' },
        },
        webhooks: { certificates },
        overview: { certificate: certificates === 'cert-manager' ? 'overview-tls' : '' },
      })),
    ),
  ),
);

/** The pairs that there are with these values. */
function pairsOf({ processes, config }: (typeof COMBINATIONS)[number]): readonly (PairName | null)[] {
  if (processes === 'together') return [null];
  const isOn: Readonly<Record<PairName, boolean>> = {
    'quota-resize': true,
    'quota-usage': config.quotaUsage.mode !== 'off',
    'lights-out': config.lightsOut.enabled,
    memcached: config.memcached.enabled,
    'node-group': config.nodeGroups.enabled,
  };
  return pairNames.filter((pair) => isOn[pair]);
}
const BY_CERT_MANAGER = { ...EVERYTHING, webhooks: { certificates: 'cert-manager' } };

let plane: ControlPlane;
let kubeConfig: KubeConfig;

beforeAll(async () => {
  // Some 20 s of Helm's CPU time, which several tests share: they do not count for the first one, which has two minutes.
  for (const values of COMBINATIONS) await rendered(values);
  plane = await borrowControlPlane();
  kubeConfig = accessOf(plane.adminKubeconfig);
  // What the others are in, and what cert-manager defines, is there for real; everything else is only tried.
  const namespaces = [SYSTEM, 'team-a'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  for (const object of [...namespaces, ...certManagerDefinitions]) await apply(object, undefined);
  await eventually('certificates are served', async () => {
    const [certificate] = (await rendered(BY_CERT_MANAGER)).filter(({ kind }) => kind === 'Certificate');
    return await apply(certificate ?? {}, 'All').then(
      () => true,
      () => false,
    );
  });
});
afterAll(async () => {
  await plane?.stop();
});

describe('whatever is switched on', () => {
  it('is taken by a real API server, and so are the examples of Secrets', async () => {
    const distinct = new Map<string, Manifest>();
    for (const values of [{}, EVERY_RIGHT, { ...EVERY_RIGHT, processes: 'apart' }, ...COMBINATIONS]) {
      for (const object of await rendered(values)) {
        distinct.set(JSON.stringify(object).replace(/"checksum\/config":"\w+"/, ''), object);
      }
    }
    for (const object of EXAMPLES.flatMap(objectsOf)) distinct.set(JSON.stringify(object), object);
    for (const object of distinct.values()) await apply(object, 'All');
    const kinds = new Set([...distinct.values()].map(({ kind }) => kind));
    expect(kinds).toEqual(new Set([...KINDS, 'Certificate', 'Issuer']));
  });

  it('makes pods that a namespace with the restricted security standard admits', async () => {
    const core = kubeConfig.makeApiClient(CoreV1Api);
    const name = 'restricted';
    await core.createNamespace({
      body: { metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    });
    const objects = await rendered({ ...BY_CERT_MANAGER, processes: 'apart' });
    for (const process of processesOf(objects)) {
      const { template } = deploymentOf(process, objects).spec ?? {};
      if (template?.spec === undefined) throw new Error(`the Deployment of the ${process} has no pod template`);
      const body = { metadata: { name: process, labels: template.metadata?.labels ?? {} }, spec: template.spec };
      const created = await core.createNamespacedPod({ namespace: name, body, dryRun: 'All' });
      expect(created.metadata?.name).toBe(process);
    }
    const plain = { metadata: { name: 'plain' }, spec: { containers: [{ name: 'plain', image: 'plain' }] } };
    await expect(core.createNamespacedPod({ namespace: name, body: plain, dryRun: 'All' })).rejects.toThrow(
      /violates PodSecurity/,
    );
  });

  it('sets only variables that are settings, and mounts only what there is, each in a folder of its own', async () => {
    // The last one is Node's own.
    const existing = [configFileSetting.env, ...settingEntries.map(({ setting }) => setting.env), 'NODE_COMPILE_CACHE'];
    for (const values of COMBINATIONS) {
      const objects = await rendered(values);
      const secrets = [
        ...EXAMPLES.flatMap(objectsOf).map(({ metadata }) => metadata.name),
        ...objects.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name),
        ...objects.filter(({ kind }) => kind === 'Certificate').map(({ metadata }) => `${metadata.name}-tls`),
        'headroom-temporal',
        'overview-tls',
      ];
      for (const process of processesOf(objects)) {
        const { env = [], volumeMounts = [] } = containerOf(process, objects);
        for (const { name, valueFrom } of env) {
          expect(existing).toContain(name);
          if (valueFrom?.secretKeyRef) expect(secrets).toContain(valueFrom.secretKeyRef.name);
        }
        const { serviceAccountName, volumes = [] } = deploymentOf(process, objects).spec?.template.spec ?? {};
        expect(found('ServiceAccount', serviceAccountName ?? '', objects)).toBeDefined();
        for (const { configMap, secret } of volumes) {
          if (configMap?.name !== undefined) expect(found('ConfigMap', configMap.name, objects)).toBeDefined();
          if (secret?.secretName !== undefined) expect(secrets).toContain(secret.secretName);
        }
        expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
        expect(new Set(volumeMounts.map(({ mountPath }) => mountPath)).size).toBe(volumeMounts.length);
      }
    }
  });

  it('starts all processes with what was switched on, without a word about it, in the release’s namespace', async () => {
    for (const values of COMBINATIONS) {
      const objects = await rendered(values);
      const names = pairsOf(values).flatMap((pair) => PROCESSES.map((process) => processName(process, pair).slice(9)));
      expect(processesOf(objects).toSorted()).toEqual(names.toSorted());
      for (const process of names) {
        const config = configOf(process, objects, secretsOf('github-webhooks', 'webhooks'));
        expect(config.notices.filter((notice) => notice.includes('is not a setting'))).toEqual([]);
        expect(config.kubernetes.systemNamespace).toBe(SYSTEM);
        const { quotaUsage, lightsOut, memcached, nodeGroups } = config;
        expect({
          quotaUsage: { mode: quotaUsage.mode },
          lightsOut: { enabled: lightsOut.enabled },
          memcached: { enabled: memcached.enabled },
          nodeGroups: { enabled: nodeGroups.enabled },
          webhooks: values.config.webhooks,
        }).toEqual(values.config);
      }
    }
  });

  it('lets nobody connect to the pods but to the ports that they have, and those are what is switched on', async () => {
    for (const values of COMBINATIONS) {
      const objects = await rendered(values);
      const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as V1NetworkPolicy[];
      const denying = policies.filter(({ spec }) => spec?.ingress === undefined && spec?.egress === undefined);
      expect(denying.map(({ spec }) => spec)).toEqual([
        { podSelector: OF_HEADROOM, policyTypes: ['Ingress', 'Egress'] },
      ]);
      for (const process of processesOf(objects)) {
        const labels = deploymentOf(process, objects).spec?.template.metadata?.labels ?? {};
        expect(labels).toMatchObject(OF_HEADROOM.matchLabels);
        const admitted = policies
          .filter(({ spec }) =>
            Object.entries(spec?.podSelector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value),
          )
          .flatMap(({ spec }) => (spec?.ingress ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port)));
        const served = [...portsOf(process, objects).keys()];
        // kubelet asks for the health from the pod's node, which no policy keeps out.
        expect(new Set(admitted)).toEqual(new Set(served.filter((name) => name !== 'health')));
        const { lightsOut, memcached, nodeGroups, webhooks } = values.config;
        const isServing = (pair: PairName): boolean =>
          process === (values.processes === 'apart' ? processName('starter', pair).slice(9) : 'starter');
        const isAsked = (pair: PairName): boolean => isServing(pair) && values.webhooks.certificates !== 'none';
        expect(served).toEqual([
          'health',
          'metrics',
          ...(process === 'starter' && webhooks.enabled ? ['webhooks'] : []),
          ...(isAsked('lights-out') && lightsOut.enabled ? ['lights-out'] : []),
          ...(isAsked('memcached') && memcached.enabled ? ['memcached'] : []),
          ...(isAsked('node-group') && nodeGroups.enabled ? ['node-group'] : []),
          ...(process.startsWith('starter') && values.overview.certificate !== '' ? ['overview'] : []),
        ]);
      }
    }
  });
});

describe('processes apart', () => {
  it('may do together what one pair may do, and no process of another controller does it', async () => {
    const [together, apart] = await Promise.all([
      rendered({ ...EVERY_RIGHT, processes: 'together' }),
      rendered({ ...EVERY_RIGHT, processes: 'apart' }),
    ]);
    const ofWorker = (process: string): boolean => process.startsWith('worker');
    const rights = (objects: readonly Manifest[]) =>
      new Set(rightsOf(objects).map((right) => JSON.stringify({ ...right, process: ofWorker(right.process) })));
    expect(rights(apart)).toEqual(rights(together));
    const whoMay = (verb: string, resource: string) => [
      ...new Set(
        rightsOf(apart).flatMap((right) => (right.verb === verb && right.resource === resource ? [right.process] : [])),
      ),
    ];
    expect(whoMay('create', 'pods/eviction')).toEqual(['worker-node-group']);
    expect(whoMay('delete', 'coordination.k8s.io/leases')).toEqual(['worker']);
    expect(whoMay('patch', 'apps/deployments').toSorted()).toEqual(['worker-lights-out', 'worker-memcached']);
    expect(whoMay('list', 'argoproj.io/applications')).toEqual(['worker']);
    expect(whoMay('patch', 'resourcequotas/status')).toEqual(['starter-quota-usage']);
    expect(whoMay('list', 'secrets').toSorted()).toEqual(['starter-memcached', 'starter-quota-usage']);
  });

  it('mount a Secret in the one process that needs it, but Temporal’s in all, and connect to whom it is for', async () => {
    const objects = await rendered({
      ...BY_CERT_MANAGER,
      processes: 'apart',
      secrets: { temporalApiKey: 'headroom-temporal' },
    });
    const secretsIn = (process: string) =>
      (deploymentOf(process, objects).spec?.template.spec?.volumes ?? []).flatMap(({ secret }) =>
        secret?.secretName === undefined || secret.secretName === 'headroom-temporal' ? [] : [secret.secretName],
      );
    const processes = processesOf(objects);
    for (const process of processes) expect(containerOf(process, objects).volumeMounts).toContainEqual(TEMPORAL_KEY);
    expect(Object.fromEntries(processes.map((process) => [process, secretsIn(process)]))).toEqual({
      worker: ['headroom-github'],
      'worker-lights-out': [],
      'worker-memcached': [],
      'worker-node-group': [],
      'worker-quota-usage': [],
      starter: ['headroom-webhooks'],
      'starter-lights-out': ['headroom-lights-out-tls'],
      'starter-memcached': ['headroom-memcached-tls'],
      'starter-node-group': ['headroom-node-group-tls'],
      'starter-quota-usage': [],
    });
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as V1NetworkPolicy[];
    const outside = policies.filter(({ metadata }) => metadata?.name?.endsWith('-egress'));
    expect(outside.map(({ spec }) => spec?.podSelector?.matchLabels)).toEqual([
      OF_HEADROOM.matchLabels,
      { 'app.kubernetes.io/name': 'headroom-worker' },
      { 'app.kubernetes.io/name': 'headroom-worker-node-group' },
    ]);
  });

  it('hold each account by a policy of its own', async () => {
    const objects = await rendered({ ...EVERY_RIGHT, processes: 'apart' });
    const accounts = objects.flatMap(({ kind, metadata }) =>
      kind === 'ServiceAccount' ? [metadata.name.slice(9)] : [],
    );
    expect(accounts.toSorted()).toEqual(processesOf(objects).toSorted());
    for (const account of accounts) {
      const { writes, binding, matchConditions } = writePolicyOf(account, objects);
      expect(binding.validationActions).toEqual(['Deny']);
      expect(matchConditions[0]?.expression).toContain(`:headroom-${account}'`);
      expect(writes.has('pods/eviction')).toBe(account === 'worker-node-group');
    }
    expect(writePolicyOf('worker-node-group', objects).writes.get('coordination.k8s.io/leases')).toMatchObject({
      names: ['node-group-plan'],
      operations: ['UPDATE', 'CREATE'],
    });
    // It asks whose token a visitor of the overview has, and stores nothing.
    expect([...writePolicyOf('starter', objects).writes.keys()].toSorted()).toEqual([
      'authentication.k8s.io/tokenreviews',
      'authorization.k8s.io/subjectaccessreviews',
    ]);
  });
});

const TEMPORAL_KEY = { name: 'temporal-api-key', mountPath: '/etc/headroom/temporal-api-key', readOnly: true };

describe('the default values', () => {
  it('start both processes in observe mode, without a token and without auto-merge, on the ports that are probed', async () => {
    const objects = await rendered();
    for (const process of PROCESSES) {
      const config = configOf(process, objects);
      expect(config.resize).toMatchObject({ mode: 'observe', autoMerge: false });
      expect(config.github).toBeUndefined();
      const { livenessProbe, readinessProbe } = containerOf(process, objects);
      const ports = portsOf(process, objects);
      expect([config.process.healthAddress.port, config.process.metricsAddress.port]).toEqual([
        ports.get('health'),
        ports.get('metrics'),
      ]);
      expect([livenessProbe?.httpGet, readinessProbe?.httpGet]).toEqual([
        { path: '/healthz', port: 'health' },
        { path: '/readyz', port: 'health' },
      ]);
      const graceSeconds = deploymentOf(process, objects).spec?.template.spec?.terminationGracePeriodSeconds ?? 0;
      expect(graceSeconds * 1000).toBeGreaterThan(config.process.shutdownGrace);
      const secrets = deploymentOf(process, objects).spec?.template.spec?.volumes?.flatMap(
        ({ secret }) => secret ?? [],
      );
      expect(secrets?.every(({ optional }) => optional === true)).toBe(true);
    }
  });
});

describe('the values of GitHub', () => {
  it('let the worker propose with a token, which has to be there', async () => {
    const objects = await rendered({ config: { github: GITHUB, resize: { mode: 'propose' } } });
    const config = configOf('worker', objects, secretsOf('github-token', 'github'));
    expect(config.resize.mode).toBe('propose');
    expect(config.github).toMatchObject({ owner: 'acme', repo: 'gitops' });
    const credential = config.github?.credential;
    expect(credential?.kind === 'token' && credential.token.reveal()).toBe('replace-me');
    const { volumes = [] } = deploymentOf('worker', objects).spec?.template.spec ?? {};
    expect(volumes.find(({ name }) => name === 'github')?.secret?.optional).toBe(false);
    // The starter reads the same file, and has no token.
    expect(configOf('starter', objects).gitOps.repositories).toMatchObject([GITHUB]);
  });

  it('let it propose as an App', async () => {
    const objects = await rendered({ config: { github: GITHUB }, secrets: { github: { kind: 'app' } } });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const files = secretsOf('github-app', 'github').map(([path, text]) => {
      if (path.endsWith('/app-id')) return [path, '1'] as const;
      if (path.endsWith('/installation-id')) return [path, '2'] as const;
      expect(text).toBe('replace-me');
      return [path, privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()] as const;
    });
    expect(configOf('worker', objects, files).github?.credential.kind).toBe('app');
  });

  it('let the starter take webhooks on a port of its own', async () => {
    const objects = await rendered({ config: { webhooks: { enabled: true } } });
    const { address, secrets } = configOf('starter', objects, secretsOf('github-webhooks', 'webhooks')).webhooks;
    expect(address).toEqual({ host: '0.0.0.0', port: portsOf('starter', objects).get('webhooks') });
    expect(secrets?.reveal()).toEqual(['replace-me']);
    expect(configOf('worker', objects).webhooks).toMatchObject({ pollMs: 3_600_000 });
    const { spec } = found('Service', 'headroom-webhooks', objects) as {
      spec?: { selector: object; ports: readonly { readonly targetPort: string }[] };
    };
    expect(deploymentOf('starter', objects).spec?.template.metadata?.labels).toMatchObject(spec?.selector ?? {});
    expect(spec?.ports.map(({ targetPort }) => targetPort)).toEqual(['webhooks']);
  });
});

describe('the overview', () => {
  const OPENED = { overview: { certificate: 'overview-tls' } };

  it('is on loopback, and nothing of the chart leads to it', async () => {
    const objects = await rendered();
    expect(configOf('starter', objects).overview).toMatchObject({ address: { host: '127.0.0.1', port: 8083 } });
    expect(configOf('starter', objects).overview.certificate).toBeUndefined();
    expect(objects.filter(({ metadata }) => metadata.name.includes('overview'))).toEqual([]);
    expect([...portsOf('starter', objects).values()]).not.toContain(8083);
  });

  it('is opened with a certificate, on a port that its Service and its policy name', async () => {
    const objects = await rendered(OPENED);
    const { certificate, openAddress } = configOf('starter', objects).overview;
    expect(openAddress).toEqual({ host: '0.0.0.0', port: portsOf('starter', objects).get('overview') });
    expect(containerOf('starter', objects).volumeMounts).toContainEqual({
      name: 'overview-tls',
      mountPath: certificate,
      readOnly: true,
    });
    const service = found('Service', 'headroom-overview', objects) as {
      readonly spec?: { readonly ports: readonly object[] };
    };
    expect(service.spec?.ports).toEqual([{ name: 'https', port: 443, targetPort: 'overview' }]);
    const opened = objects.filter(({ metadata }) => metadata.name.includes('overview'));
    expect(opened.map(({ kind }) => kind).toSorted()).toEqual([
      'ClusterRole',
      'ClusterRole',
      'ClusterRoleBinding',
      'NetworkPolicy',
      'Service',
    ]);
    for (const object of opened) await apply(object, 'All');
  });
});

describe('the admission webhooks', () => {
  it.each([
    ['lights-out', 'lightsOut', ['/mutate', '/validate']],
    ['memcached', 'memcached', ['/mutate', '/validate']],
    ['node-group', 'nodeGroups', ['/validate']],
  ] as const)(
    'of %s call a port that the starter serves, by the name of its certificate',
    async (name, group, paths) => {
      const objects = await rendered(BY_CERT_MANAGER);
      const id = `headroom-${name}`;
      const configurations = objects.filter(
        ({ kind, metadata }) => kind.endsWith('WebhookConfiguration') && metadata.name === id,
      ) as unknown as readonly (Manifest & {
        readonly webhooks: readonly { readonly clientConfig: { readonly service: { readonly path: string } } }[];
      })[];
      expect(
        configurations.flatMap(({ webhooks }) => webhooks.map(({ clientConfig }) => clientConfig.service)),
      ).toEqual(paths.map((path) => ({ name: id, namespace: SYSTEM, port: 443, path })));
      for (const { metadata } of configurations) {
        expect(metadata['annotations']).toEqual({ 'cert-manager.io/inject-ca-from': `${SYSTEM}/${id}` });
      }
      const service = found('Service', id, objects) as {
        readonly spec?: { readonly ports: readonly { readonly port: number; readonly targetPort: string }[] };
      };
      expect(service.spec?.ports).toEqual([{ name: 'https', port: 443, targetPort: name }]);
      const { webhookAddress, webhookCertificate } = configOf('starter', objects)[group];
      expect(webhookAddress).toEqual({ host: '0.0.0.0', port: portsOf('starter', objects).get(name) });
      // Where the starter looks for it is where the Secret of the certificate is mounted.
      const { volumeMounts = [] } = containerOf('starter', objects);
      const { volumes = [] } = deploymentOf('starter', objects).spec?.template.spec ?? {};
      const mount = volumeMounts.find(({ mountPath }) => mountPath === webhookCertificate);
      const secret = volumes.find((volume) => volume.name === mount?.name)?.secret?.secretName;
      const certificate = found('Certificate', id, objects) as {
        readonly spec?: { readonly secretName: string; readonly dnsNames: readonly string[] };
      };
      expect(secret).toBe(certificate.spec?.secretName);
      expect(certificate.spec?.dnsNames).toContain(`${id}.${SYSTEM}.svc`);
    },
  );
});

describe('the image', () => {
  it('has the program that is the argument of each Deployment', async () => {
    const objects = await rendered();
    for (const process of PROCESSES) {
      expect(containerOf(process, objects).args).toEqual([`${process}.js`]);
      expect(PROGRAM_NAMES).toContain(process);
    }
  });
});

const KINDS = [
  'Namespace',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
];

async function apply(object: object, dryRun: 'All' | undefined): Promise<void> {
  const api = KubernetesObjectApi.makeApiClient(kubeConfig);
  // Server-side apply refuses a field that the type does not have.
  await api.patch(object, undefined, dryRun, 'manifests-test', true, PatchStrategy.ServerSideApply);
}

/** The files of a mounted example of a Secret. */
function secretsOf(example: string, folder: string): readonly (readonly [path: string, text: string])[] {
  const [secret] = objectsOf(`${example}.example.yaml`);
  const values = secret?.['stringData'] as Readonly<Record<string, string>>;
  return Object.entries(values).map(([key, text]) => [`/etc/headroom/${folder}/${key}`, text] as const);
}
