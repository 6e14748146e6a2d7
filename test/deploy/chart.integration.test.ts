/** The charts as Helm itself takes them: what it refuses, and what follows from them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settingEntries } from '../../starter/config.ts';
import { installManifest, renderChart, runHelm } from '../../tools/manifests/render-chart.ts';
import { resolveServer } from '../../tools/resolver/resolve-server.ts';
import { chartSettings } from '../../tools/manifests/values-schema.ts';
import { EVERY_RIGHT } from '../kernel/stack/chart.ts';
import { configOf, containerOf, deploymentOf, found } from './pods.ts';
import { type Manifest, manifestsIn, objectsOf, rendered } from './rendered.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const run = promisify(execFile);
const read = (file: string): string => readFileSync(`${DEPLOY}${file}`, 'utf8');
/** The checksum of the configuration in the pods, which Kubernetes rolls when it changes. */
const checksumOf = (objects: readonly Manifest[]) =>
  deploymentOf('worker', objects).spec?.template.metadata?.annotations?.['checksum/config'];

describe('the charts', () => {
  it('have nothing that Helm finds wrong', async () => {
    for (const chart of ['chart', 'chart-crds']) await runHelm(['lint', '--strict', `${DEPLOY}${chart}`]);
  });

  it('are what install.yaml and the kustomize base are rendered from (npm run manifests)', async () => {
    expect(read('install.yaml')).toBe(await installManifest());
    const { stdout } = await run(await resolveServer('kustomize'), ['build', DEPLOY]);
    const byId = (objects: readonly Manifest[]) =>
      Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
    expect(byId(manifestsIn(stdout))).toEqual(byId(objectsOf('install.yaml')));
  });

  it('have the versions of the program', () => {
    const { version } = JSON.parse(readFileSync(`${DEPLOY}../package.json`, 'utf8')) as { version: string };
    for (const chart of ['chart', 'chart-crds']) {
      expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
    }
  });

  it('name another namespace than the default wherever that is', async () => {
    expect(JSON.stringify(await rendered(EVERY_RIGHT, 'capacity'))).not.toContain('namespace-resizer-system');
  });

  it('have no definition with what is switched on, and keep those of the other chart', async () => {
    const kinds = (await rendered(EVERY_RIGHT)).map(({ kind }) => kind);
    expect(kinds).not.toContain('CustomResourceDefinition');
    const definitions = manifestsIn(await renderChart({}, { chart: 'chart-crds' }));
    expect(definitions).toHaveLength(4);
    for (const { kind, metadata } of definitions) {
      expect(kind).toBe('CustomResourceDefinition');
      expect(metadata['annotations']).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
    }
    const others = { definitions: { memcached: false, 'node-group': false } };
    const [only, ...rest] = manifestsIn(await renderChart(others, { chart: 'chart-crds' }));
    expect([only?.metadata.name, rest]).toEqual(['lightsoutschedules.lightsout.techsupport.mk', []]);
  });
});

describe('the schema of the values', () => {
  it.each([
    [
      'a group that there is none of',
      { config: { quotas: {} } },
      /config.*additional properties 'quotas' not allowed/s,
    ],
    ['a misspelled setting', { config: { resize: { modes: 'observe' } } }, /resize.*additional properties 'modes'/s],
    ['a misspelled value', { webhook: {} }, /additional properties 'webhook' not allowed/],
    ['what the chart decides', { config: { kubernetes: { systemNamespace: 'a' } } }, /properties 'systemNamespace'/],
    [
      'a secret among the settings',
      { config: { github: { token: 'a' } } },
      /additional properties 'token' not allowed/,
    ],
    ['a mode that there is none of', { config: { quotaUsage: { mode: 'on' } } }, /mode.*one of 'off', 'own', 'audit'/s],
    ['YAML’s own off', { config: { quotaUsage: { mode: false } } }, /mode.*one of 'off', 'own', 'audit'/s],
    ['a switch in words', { config: { lightsOut: { enabled: 'false' } } }, /enabled.*got string, want boolean/s],
    [
      'a number in words',
      { config: { resize: { cooldownMinutes: 'ten' } } },
      /cooldownMinutes.*got string, want (?:integer|number)/s,
    ],
    [
      'a number that is too large',
      { config: { resize: { cooldownMinutes: 40_321 } } },
      /cooldownMinutes.*maximum: got 40,321, want 40,320/s,
    ],
    ['a name that cannot be one', { config: { kubernetes: { clusterName: 'a b' } } }, /clusterName.*does not match/s],
    ['certificates of nobody else', { webhooks: { certificates: 'vault' } }, /certificates.*one of 'self', 'cert-man/s],
    ['half a digest', { image: { digest: 'sha256:abc' } }, /digest/],
    ['no port', { networkPolicy: { egress: { dns: { ports: [] } } } }, /ports.*minItems: got 0, want 1/s],
  ])('refuses %s with its name', async (_, values, words) => {
    await expect(renderChart(values)).rejects.toThrow(words);
  });

  it('refuses an installation without a name for its cluster', async () => {
    await expect(renderChart({ config: { kubernetes: { clusterName: null } } })).rejects.toThrow(
      /kubernetes.*missing property 'clusterName'/s,
    );
  });

  it('takes the default of every setting as it is documented, and the process takes it from there', async () => {
    const config: Record<string, Record<string, unknown>> = {};
    for (const { group, key, setting } of chartSettings) {
      if (setting.default === undefined) continue;
      (config[group] ??= {})[key] = valueOf(setting.default);
    }
    const objects = await rendered({ config });
    const { origins } = configOf('worker', objects);
    const written = chartSettings.filter(({ setting }) => setting.default !== undefined).map(({ path }) => path);
    expect(written.length).toBeGreaterThan(20);
    expect(written.filter((path) => !origins.has(path))).toEqual([]);
  });

  it('has every setting but secrets and what the chart decides', () => {
    const decided = settingEntries.filter((entry) => !chartSettings.includes(entry)).map(({ path }) => path);
    expect(
      decided.filter((path) => !/Address$|File$|Path$|^webhooks\.|webhook(?:Certificate|Host)$/.test(path)),
    ).toEqual([
      'kubernetes.kubeconfig',
      'kubernetes.context',
      'kubernetes.systemNamespace',
      ...settingEntries
        .filter(({ setting }) => setting.secret === true)
        .map(({ path }) => path)
        .filter((path) => !path.startsWith('webhooks.')),
    ]);
  });
});

describe('the values of the pods', () => {
  it('roll them when the configuration changes, and only then', async () => {
    const [before, same, after] = await Promise.all([
      rendered(),
      rendered({ worker: { replicas: 3 } }),
      rendered({ config: { resize: { threshold: '85%' } } }),
    ]);
    expect(checksumOf(same)).toBe(checksumOf(before));
    expect(checksumOf(after)).not.toBe(checksumOf(before));
    expect(configOf('worker', after).resize.threshold).toBe('85');
  });

  it('are in them', async () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    const resources = { requests: { cpu: '1' } };
    const toleration = { key: 'spot', operator: 'Exists' };
    const volume = { name: 'authority', configMap: { name: 'authority' } };
    const mount = { name: 'authority', mountPath: '/etc/authority', readOnly: true };
    const proxy = { name: 'HTTPS_PROXY', value: 'http://proxy:3128' };
    const objects = await rendered({
      labels: { team: 'platform' },
      annotations: { owner: 'me' },
      image: { repository: 'images.example.com/headroom', digest, pullPolicy: 'Always', pullSecrets: ['pull'] },
      worker: { replicas: 5, resources, extraEnv: [proxy] },
      pods: {
        labels: { pod: 'yes' },
        annotations: { sidecar: 'no' },
        priorityClassName: 'system-cluster-critical',
        nodeSelector: { pool: 'system' },
        tolerations: [toleration],
        affinity: { nodeAffinity: {} },
        topologySpread: [],
        extraVolumes: [volume],
        extraVolumeMounts: [mount],
      },
      podDisruptionBudget: { enabled: false },
      networkPolicy: { enabled: false },
      secrets: { temporalApiKey: 'mine', temporalTls: { name: 'temporal-tls', caKey: 'ca.crt' } },
    });
    for (const { metadata } of objects.filter(({ kind }) => kind !== 'Namespace')) {
      expect(metadata).toMatchObject({ labels: { team: 'platform' }, annotations: { owner: 'me' } });
    }
    const { replicas, template } = deploymentOf('worker', objects).spec ?? {};
    expect(replicas).toBe(5);
    expect(template?.metadata).toMatchObject({
      labels: { team: 'platform', pod: 'yes' },
      annotations: { sidecar: 'no', 'prometheus.io/scrape': 'true' },
    });
    expect(template?.spec).toMatchObject({
      imagePullSecrets: [{ name: 'pull' }],
      priorityClassName: 'system-cluster-critical',
      nodeSelector: { pool: 'system' },
      tolerations: [toleration],
      affinity: { nodeAffinity: {} },
    });
    expect(template?.spec?.topologySpreadConstraints).toBeUndefined();
    const container = containerOf('worker', objects);
    expect(container).toMatchObject({
      image: `images.example.com/headroom@${digest}`,
      imagePullPolicy: 'Always',
      resources: { ...resources, limits: { memory: '1536Mi' } },
      env: expect.arrayContaining([proxy, expect.objectContaining({ name: 'TEMPORAL_API_KEY' })]),
    });
    const apiKey = container.env?.find(({ name }) => name === 'TEMPORAL_API_KEY')?.valueFrom?.secretKeyRef;
    expect(apiKey).toEqual({ name: 'mine', key: 'api-key', optional: false });
    expect(template?.spec?.volumes).toContainEqual({ name: 'temporal', secret: { secretName: 'temporal-tls' } });
    expect(template?.spec?.volumes).toContainEqual(volume);
    expect(container.volumeMounts).toContainEqual(mount);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.filter((kind) => /NetworkPolicy|PodDisruptionBudget/.test(kind))).toEqual([]);
  });

  it('connect to Temporal with the certificate of the Secret, from where it is mounted', async () => {
    const objects = await rendered({ secrets: { temporalTls: { name: 'temporal-tls', caKey: 'ca.crt' } } });
    const { data } = found('ConfigMap', 'headroom', objects) as { readonly data?: Readonly<Record<string, string>> };
    const folder = '/etc/headroom/temporal';
    expect(parse(data?.['headroom.yaml'] ?? '')).toMatchObject({
      temporal: {
        tlsClientCertPath: `${folder}/tls.crt`,
        tlsClientKeyPath: `${folder}/tls.key`,
        tlsServerCaCertPath: `${folder}/ca.crt`,
      },
    });
    for (const process of ['worker', 'starter'] as const) {
      expect(containerOf(process, objects).volumeMounts).toContainEqual({
        name: 'temporal',
        mountPath: folder,
        readOnly: true,
      });
    }
  });
});

/** A default in the documentation's words as somebody would write it in YAML. */
function valueOf(text: string): unknown {
  const value: unknown = parse(text);
  return typeof value === 'boolean' || typeof value === 'number' ? value : text;
}
