import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  CoreV1Api,
  type KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  PatchStrategy,
  type V1ConfigMap,
  type V1Container,
  type V1Deployment,
  type V1NetworkPolicy,
  type V1Secret,
  type V1Service,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadConfig, settingEntries } from '../../starter/config.ts';
import { configFileSetting } from '../../platform/config/settings.ts';
import { PROGRAM_NAMES } from '../../tools/programs/program-names.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** What Kubernetes itself sets in a pod. */
const IN_A_POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };

let plane: ControlPlane;
let kubeConfig: KubeConfig;
const manifests = new Map<string, KubernetesObject[]>();

beforeAll(async () => {
  for (const file of await readdir(DEPLOY)) {
    if (file.endsWith('.yaml')) manifests.set(file, await objectsOf(file));
  }
  plane = await borrowControlPlane();
  kubeConfig = accessOf(plane.adminKubeconfig);
  // What the others are in is there for real; everything else is only tried.
  await apply(found('Namespace', 'namespace-resizer-system'), undefined);
});
afterAll(async () => {
  await plane?.stop();
});

describe('the manifests of deploy', () => {
  it('are all accepted by a real API server, as kubectl apply -k and the example Secrets would send them', async () => {
    const tried: string[] = [];
    for (const [file, objects] of manifests) {
      if (file === 'kustomization.yaml') continue;
      for (const object of objects) {
        await apply(object, 'All');
        tried.push(`${object.kind}/${object.metadata?.name}`);
      }
    }
    expect(tried).toEqual(
      expect.arrayContaining([
        'Deployment/headroom-worker',
        'Deployment/headroom-starter',
        'PodDisruptionBudget/headroom-worker',
        'PodDisruptionBudget/headroom-starter',
        'ConfigMap/headroom',
        'Secret/headroom-github',
        'ClusterRole/headroom-worker',
      ]),
    );
  });

  it('make pods that a namespace with the restricted security standard admits', async () => {
    const core = kubeConfig.makeApiClient(CoreV1Api);
    const name = 'restricted';
    await core.createNamespace({
      body: { metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
    });
    for (const process of ['worker', 'starter']) {
      const { template } = deploymentOf(process).spec ?? {};
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

  it('are all in the kustomization, except the examples of Secrets', async () => {
    const [kustomization] = manifests.get('kustomization.yaml') ?? [];
    const { resources } = kustomization as KubernetesObject & { resources: readonly string[] };
    const expected = [...manifests.keys()].filter((file) => !/^kustomization|\.example\./.test(file));
    expect(resources.toSorted()).toEqual(expected.toSorted());
  });

  it('set only variables that are settings, and mount only what there is', () => {
    const existing = [configFileSetting.env, ...settingEntries.map(({ setting }) => setting.env)];
    const secrets = [
      found('Secret', 'headroom-github').metadata?.name,
      found('Secret', 'headroom-webhooks').metadata?.name,
      'headroom-temporal',
    ];
    for (const process of ['worker', 'starter']) {
      const container = containerOf(process);
      for (const { name, valueFrom } of container.env ?? []) {
        expect(existing).toContain(name);
        if (valueFrom?.secretKeyRef) {
          expect(secrets).toContain(valueFrom.secretKeyRef.name);
          expect(valueFrom.secretKeyRef.optional).toBe(true);
        }
      }
      const { serviceAccountName, volumes = [] } = deploymentOf(process).spec?.template.spec ?? {};
      expect(found('ServiceAccount', serviceAccountName ?? '')).toBeDefined();
      for (const { configMap, secret } of volumes) {
        if (configMap?.name !== undefined) expect(found('ConfigMap', configMap.name)).toBeDefined();
        if (secret?.secretName !== undefined) expect(secrets).toContain(secret.secretName);
      }
      expect((container.volumeMounts ?? []).map(({ name }) => name).toSorted()).toEqual(
        volumes.map(({ name }) => name).toSorted(),
      );
    }
  });

  it('start both processes in observe mode, without a token and without auto-merge, on the ports that are probed', () => {
    for (const process of ['worker', 'starter'] as const) {
      const config = configOf(process, configurationFile());
      expect(config.resize).toMatchObject({ mode: 'observe', autoMerge: false });
      expect(config.github).toBeUndefined();
      expect(config.notices.filter((notice) => notice.includes('is not a setting'))).toEqual([]);
      const { ports = [], livenessProbe, readinessProbe } = containerOf(process);
      const port = (name: string) => ports.find((candidate) => candidate.name === name)?.containerPort;
      expect([config.process.healthAddress.port, config.process.metricsAddress.port]).toEqual([
        port('health'),
        port('metrics'),
      ]);
      expect([livenessProbe?.httpGet, readinessProbe?.httpGet]).toEqual([
        { path: '/healthz', port: 'health' },
        { path: '/readyz', port: 'health' },
      ]);
      const graceSeconds = deploymentOf(process).spec?.template.spec?.terminationGracePeriodSeconds ?? 0;
      expect(graceSeconds * 1000).toBeGreaterThan(config.process.shutdownGrace);
    }
  });

  it('let nobody connect to the pods but to the ports of metrics and webhooks', () => {
    const policies = [...manifests.values()].flat().filter(({ kind }) => kind === 'NetworkPolicy') as V1NetworkPolicy[];
    const denying = policies.filter(({ spec }) => spec?.ingress === undefined);
    expect(denying.map(({ spec }) => spec)).toEqual([{ podSelector: {}, policyTypes: ['Ingress'] }]);
    for (const process of ['worker', 'starter'] as const) {
      const labels = deploymentOf(process).spec?.template.metadata?.labels ?? {};
      const admitted = policies
        .filter(({ spec }) =>
          Object.entries(spec?.podSelector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value),
        )
        .flatMap(({ spec }) => (spec?.ingress ?? []).flatMap(({ ports = [] }) => ports.map(({ port }) => port)));
      const served = (containerOf(process).ports ?? []).map(({ name }) => name);
      // kubelet asks for the health from the pod's node, which no policy keeps out.
      expect(new Set(admitted)).toEqual(new Set(served.filter((name) => name !== 'health')));
    }
  });

  it('let the worker propose once the comments around the repository are taken away and the mode is changed', () => {
    const written = configurationFile()
      .replace('mode: observe', 'mode: propose')
      .replaceAll(/^# {1,3}(github:|owner:|repo:|tokenFile:|pathTemplate:)/gm, (line) => line.replace('# ', ''));
    const config = configOf('worker', written);
    expect(config.resize.mode).toBe('propose');
    expect(config.github).toMatchObject({ owner: 'acme', repo: 'gitops' });
    const credential = config.github?.credential;
    expect(credential?.kind === 'token' && credential.token.reveal()).toBe('replace-me');
  });

  it('let the starter take webhooks on its own port once the comments around them are taken away', () => {
    const written = configurationFile().replaceAll(/^# {1,3}(webhooks:|enabled:|address:|secretFile:)/gm, (line) =>
      line.replace('# ', ''),
    );
    const { address, secrets } = configOf('starter', written).webhooks;
    const { ports = [] } = containerOf('starter');
    expect(address).toEqual({
      host: '0.0.0.0',
      port: ports.find(({ name }) => name === 'webhooks')?.containerPort,
    });
    expect(secrets?.reveal()).toEqual(['replace-me']);
    expect(configOf('worker', written).webhooks).toMatchObject({ pollMs: 3_600_000, address: undefined });
    const { selector, ports: served } = (found('Service', 'headroom-webhooks') as V1Service).spec ?? {};
    expect(deploymentOf('starter').spec?.template.metadata?.labels).toMatchObject(selector ?? {});
    expect(served?.map(({ targetPort }) => targetPort)).toEqual(['webhooks']);
  });

  it('hand an App’s values to the worker where its configuration looks for them', () => {
    const stringData = exampleOf('github-app');
    const folder = containerOf('worker').volumeMounts?.find(({ name }) => name === 'github')?.mountPath;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const values: Readonly<Record<string, string>> = {
      'app-id': '1',
      'installation-id': '2',
      'private-key.pem': privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    };
    expect(Object.keys(stringData)).toEqual(Object.keys(values));
    const files = Object.entries(values).map(([name, text]) => [`${folder}/${name}`, text] as const);
    const written = [
      'github:',
      '  owner: acme',
      '  repo: gitops',
      `  appIdFile: ${folder}/app-id`,
      `  installationIdFile: ${folder}/installation-id`,
      `  privateKeyFile: ${folder}/private-key.pem`,
    ];
    const config = configOf('worker', `${configurationFile()}\n${written.join('\n')}\n`, new Map(files));
    expect(config.github?.credential.kind).toBe('app');
  });
});

describe('the image', () => {
  it('has the program that is the argument of each Deployment', () => {
    for (const process of ['worker', 'starter']) {
      const [program] = containerOf(process).args ?? [];
      expect(program).toBe(`${process}.js`);
      expect(PROGRAM_NAMES).toContain(process);
    }
  });
});

async function objectsOf(file: string): Promise<KubernetesObject[]> {
  return parseAllDocuments(await readFile(join(DEPLOY, file), 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors[0]?.message}`);
    return document.toJS() as KubernetesObject;
  });
}

async function apply(object: KubernetesObject, dryRun: 'All' | undefined): Promise<void> {
  const api = KubernetesObjectApi.makeApiClient(kubeConfig);
  // Server-side apply refuses a field that the type does not have.
  await api.patch(object, undefined, dryRun, 'manifests-test', true, PatchStrategy.ServerSideApply);
}

function found(kind: string, name: string): KubernetesObject {
  const object = [...manifests.values()]
    .flat()
    .find((manifest) => manifest.kind === kind && manifest.metadata?.name === name);
  if (object === undefined) throw new Error(`deploy has no ${kind} ${name}`);
  return object;
}

function deploymentOf(process: string): V1Deployment {
  return found('Deployment', `headroom-${process}`);
}

function containerOf(process: string): V1Container {
  const [container] = deploymentOf(process).spec?.template.spec?.containers ?? [];
  if (container === undefined) throw new Error(`the Deployment of the ${process} has no container`);
  return container;
}

function configurationFile(): string {
  return (found('ConfigMap', 'headroom') as V1ConfigMap).data?.['headroom.yaml'] ?? '';
}

/** What an example of a Secret has. */
function exampleOf(name: string): Readonly<Record<string, string>> {
  const [secret]: readonly V1Secret[] = manifests.get(`${name}.example.yaml`) ?? [];
  return secret?.stringData ?? {};
}

/** The configuration that the process would have in its pod, with this configuration file. */
function configOf(
  process: 'worker' | 'starter',
  configuration: string,
  secrets: ReadonlyMap<string, string> = new Map(),
): ReturnType<typeof loadConfig> {
  const { args = [], env = [], volumeMounts = [] } = containerOf(process);
  const pathOf = (volume: string) => volumeMounts.find(({ name }) => name === volume)?.mountPath;
  const files = new Map([
    [pathOf('configuration'), configuration],
    [`${pathOf('github')}/token`, exampleOf('github-token')['token']],
    [`${pathOf('webhooks')}/secret`, exampleOf('github-webhooks')['secret']],
    ...secrets,
  ]);
  return loadConfig({
    env: { ...IN_A_POD, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) },
    argv: args.slice(1),
    program: process,
    readFile: (path) => {
      const text = files.get(path);
      if (text === undefined) throw new Error(`nothing is mounted at ${path}`);
      return text;
    },
  });
}
