/** The charts as Helm itself takes them: what it refuses, and what follows from them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { V1NetworkPolicy } from '@kubernetes/client-node';
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

describe('the kinds of owners that are named', () => {
  const rulesFor = (objects: readonly Manifest[], process: string): readonly unknown[] => {
    const { rules } = found('ClusterRole', `headroom-${process}-lights-out`, objects) as { readonly rules?: unknown };
    return (rules as readonly unknown[]).filter((rule) => /widgets|"example\.com/.test(JSON.stringify(rule)));
  };

  it('have rights and an entry of the policy of writes, each of its own, as a list or as text', async () => {
    const names = ['widgets.example.com', 'shops.a.example.org'];
    const objects = await rendered({ config: { lightsOut: { enabled: true, scaledOwners: names } } });
    expect(rulesFor(objects, 'worker')).toEqual([
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: ['widgets.example.com'],
        verbs: ['get'],
      },
      { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list'] },
      { apiGroups: ['example.com'], resources: ['widgets/scale'], verbs: ['patch'] },
    ]);
    const policy = JSON.stringify(found('ValidatingAdmissionPolicy', 'headroom-worker-writes', objects));
    for (const resource of ["'example.com/widgets/scale'", "'a.example.org/shops/scale'"])
      expect(policy).toContain(resource);
    const text = await rendered({ config: { lightsOut: { enabled: true, scaledOwners: names.join(', ') } } });
    expect(rulesFor(text, 'starter')).toEqual(rulesFor(objects, 'starter'));
    expect(rulesFor(text, 'starter')).toHaveLength(2);
    expect(JSON.stringify(await rendered({ config: { lightsOut: { enabled: true } } }))).not.toMatch(/\/scale['"]/);
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
    [
      'the kind of an owner in place of its definition',
      { config: { lightsOut: { scaledOwners: ['Widget'] } } },
      /scaledOwners\/0.*does not match/s,
    ],
    ['a definition twice', { config: { lightsOut: { scaledOwners: ['a.b', 'a.b'] } } }, /scaledOwners.*equal/s],
    ['half a digest', { image: { digest: 'sha256:abc' } }, /digest/],
    ['a password of the proxy', { proxy: { https: 'http://me:secret@proxy:3128' } }, /proxy\/https.*does not match/s],
    ['a key that is a path', { authorities: { configMap: 'a', key: '../ca.crt' } }, /key.*does not match/s],
    [
      'documents without a slash',
      { monitoring: { rules: { documents: 'https://docs' } } },
      /documents.*does not match/s,
    ],
    ['no port', { networkPolicy: { egress: { dns: { ports: [] } } } }, /ports.*minItems: got 0, want 1/s],
  ])('refuses %s with its name', async (_, values, words) => {
    await expect(renderChart(values)).rejects.toThrow(words);
  });

  it.each([
    [
      'a password of the collector',
      { tracing: { endpoint: 'http://me:secret@collector:4318' } },
      /tracing\/endpoint.*does not match/s,
    ],
    ['a proxy twice', { proxy: { https: 'proxy:3128', secret: 'proxy' } }, /keep https or secret/],
    [
      'a proxy at a port that nobody knows',
      { proxy: { secret: 'proxy' } },
      /networkPolicy.egress.proxy.ports: has to be/,
    ],
    ['authorities twice', { authorities: { configMap: 'a', secret: 'a' } }, /keep configMap or secret/],
    ['a key of no Secret', { secrets: { temporalTls: { caKey: 'ca.crt' } } }, /temporalTls.name, which is not set/],
  ])('and the chart itself refuses %s', async (_, values, words) => {
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
        .filter(({ path, setting }) => setting.secret === true || path === 'overview.certificate')
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
    const volume = { name: 'scripts', configMap: { name: 'scripts' } };
    const mount = { name: 'scripts', mountPath: '/etc/scripts', readOnly: true };
    const variable = { name: 'NODE_OPTIONS', value: '--max-old-space-size=1024' };
    const objects = await rendered({
      labels: { team: 'platform' },
      annotations: { owner: 'me' },
      image: { repository: 'images.example.com/headroom', digest, pullPolicy: 'Always', pullSecrets: ['pull'] },
      worker: { replicas: 5, resources, extraEnv: [variable] },
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
      secrets: { temporalTls: { name: 'temporal-tls', caKey: 'ca.crt' } },
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
      env: expect.arrayContaining([variable]),
    });
    expect(template?.spec?.volumes).toContainEqual({ name: 'temporal', secret: { secretName: 'temporal-tls' } });
    expect(template?.spec?.volumes).toContainEqual(volume);
    expect(container.volumeMounts).toContainEqual(mount);
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.filter((kind) => /NetworkPolicy|PodDisruptionBudget/.test(kind))).toEqual([]);
  });

  it('connect to Temporal with what is in the Secrets, mounted as folders, which kubelet renews', async () => {
    const objects = await rendered({
      secrets: { temporalApiKey: 'key', temporalTls: { name: 'temporal-tls', caKey: 'ca.crt' } },
    });
    const folder = '/etc/headroom/temporal';
    expect(writtenConfig(objects)).toMatchObject({
      temporal: {
        apiKeyFile: `${folder}-api-key/api-key`,
        tlsClientCertPath: `${folder}/tls.crt`,
        tlsClientKeyPath: `${folder}/tls.key`,
        tlsServerCaCertPath: `${folder}/ca.crt`,
      },
    });
    for (const process of PROCESSES) {
      expect(mounted(process, 'temporal', objects)).toEqual([folder, { secret: { secretName: 'temporal-tls' } }]);
      expect(mounted(process, 'temporal-api-key', objects)).toEqual([
        `${folder}-api-key`,
        { secret: { secretName: 'key' } },
      ]);
    }
  });

  it.each([
    [
      { configMap: 'corporate', key: 'bundle.pem' },
      '/etc/headroom/authorities/bundle.pem',
      { configMap: { name: 'corporate' } },
    ],
    [{ secret: 'corporate' }, '/etc/headroom/authorities/ca.crt', { secret: { secretName: 'corporate' } }],
  ])('trust the authorities of %j', async (authorities, caFile, source) => {
    const objects = await rendered({ authorities });
    expect(writtenConfig(objects)).toMatchObject({ network: { caFile } });
    for (const process of PROCESSES) {
      expect(mounted(process, 'authorities', objects)).toEqual(['/etc/headroom/authorities', source]);
    }
  });

  it.each([
    ['http://proxy.example:8080', 8080],
    ['proxy.example:3128/', 3128],
    ['http://[fd00::1]', 80],
    ['https://proxy.example', 443],
  ])('go through the proxy %s, to port %d', async (https, port) => {
    const config = { temporal: { address: 'temporal-frontend.temporal.svc:7233' } };
    const objects = await rendered({ config, proxy: { https } });
    for (const process of PROCESSES) {
      const { proxies } = configOf(process, objects).network;
      expect(proxies.to('https://api.github.com')).not.toBeNull();
      expect(proxies.to('https://temporal-frontend.temporal.svc:7233')).toBeNull();
    }
    expect(egressOf(objects)).toContainEqual({ ports: [{ port, protocol: 'TCP' }] });
  });

  it('reach GitHub and VPSie past the proxy only where its list or the values name them', async () => {
    const direct = { ports: [{ port: 443, protocol: 'TCP' }] };
    const of = async (proxy: object, more: object = {}) => {
      const policies = (await rendered({ proxy, ...more })).filter(({ kind }) => kind === 'NetworkPolicy');
      const own = policies.find(({ metadata }) => metadata.name === 'headroom-worker-egress');
      return (own as { readonly spec?: { readonly egress: readonly unknown[] } } | undefined)?.spec?.egress ?? null;
    };
    const nodeGroups = { config: { nodeGroups: { enabled: true } } };
    expect(await of({})).toEqual([direct]);
    expect(await of({}, nodeGroups)).toEqual([direct, direct]);
    expect(await of({ https: 'proxy:3128' })).toBeNull();
    expect(await of({ https: 'proxy:3128' }, nodeGroups)).toBeNull();
    expect(await of({ https: 'proxy:3128', noProxy: '.svc, .github.com' })).toEqual([direct]);
    expect(await of({ https: 'proxy:3128', noProxy: 'api.vpsie.com:443' }, nodeGroups)).toEqual([direct]);
    const apiUrl = { config: { github: { apiUrl: 'https://git.example.com:8443/api/v3' } } };
    expect(await of({ https: 'proxy:3128', noProxy: 'example.com' }, apiUrl)).toEqual([direct]);
    expect(await of({ https: 'proxy:3128', noProxy: 'ample.com' }, apiUrl)).toBeNull();
    const to = [{ ipBlock: { cidr: '192.0.2.0/24' } }];
    const named = { networkPolicy: { egress: { forge: { ports: [443], to } } } };
    expect(await of({ https: 'proxy:3128', noProxy: '192.0.2.0/24' }, named)).toEqual([{ to, ...direct }]);
  });

  it('reach past the proxy, with processes apart, only what their own controller reaches', async () => {
    const of = async (noProxy: string) => {
      const config = { nodeGroups: { enabled: true } };
      const policies = await rendered({ processes: 'apart', config, proxy: { https: 'proxy:3128', noProxy } });
      return policies.flatMap(({ kind, metadata }) =>
        kind === 'NetworkPolicy' && /^headroom-worker.*-egress$/.test(metadata.name) ? [metadata.name] : [],
      );
    };
    expect(await of('.svc')).toEqual([]);
    expect(await of('api.github.com')).toEqual(['headroom-worker-egress']);
    expect(await of('api.vpsie.com')).toEqual(['headroom-worker-node-group-egress']);
    expect(await of('*')).toEqual(['headroom-worker-egress', 'headroom-worker-node-group-egress']);
  });

  it.each([
    ['http://otel-collector.monitoring.svc:4318', {}, [{ ports: [{ port: 4318, protocol: 'TCP' }] }]],
    ['https://collector.example/otlp', {}, [{ ports: [{ port: 443, protocol: 'TCP' }] }]],
    ['https://collector.example', { https: 'proxy:3128' }, []],
    [
      'http://otel-collector.monitoring.svc:4318',
      { https: 'proxy:3128' },
      [{ ports: [{ port: 4318, protocol: 'TCP' }] }],
    ],
  ])('trace to %s with the proxy %j', async (endpoint, proxy, rules) => {
    const objects = await rendered({ tracing: { endpoint }, proxy });
    for (const process of PROCESSES) {
      expect(containerOf(process, objects).env).toContainEqual({
        name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
        value: endpoint,
      });
    }
    const before = egressOf(await rendered({ proxy })) ?? [];
    expect(egressOf(objects)).toHaveLength(before.length + rules.length);
    expect(egressOf(objects)).toEqual(expect.arrayContaining(rules));
  });

  it('trace to the peers that the values name', async () => {
    const to = [{ namespaceSelector: {} }];
    const tracing = { endpoint: 'http://collector.example:4318' };
    const networkPolicy = { egress: { collector: { ports: [4320], to } } };
    const ports = [4320, 4318].map((port) => ({ port, protocol: 'TCP' }));
    expect(egressOf(await rendered({ tracing, networkPolicy, proxy: { https: 'proxy:3128' } }))).toContainEqual({
      to,
      ports,
    });
  });

  it('go through a proxy of a Secret, to where the values say', async () => {
    const to = [{ ipBlock: { cidr: '192.0.2.1/32' } }];
    const objects = await rendered({
      proxy: { secret: 'proxy', noProxy: '.svc,10.0.0.0/8' },
      networkPolicy: { egress: { proxy: { ports: [3128], to } } },
    });
    for (const process of PROCESSES) {
      expect(containerOf(process, objects).env).toEqual([
        { name: 'NODE_COMPILE_CACHE', value: '/var/cache/headroom' },
        { name: 'HEADROOM_CONFIG', value: '/etc/headroom/headroom.yaml' },
        { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'https-proxy' } } },
        { name: 'NO_PROXY', value: '.svc,10.0.0.0/8' },
      ]);
    }
    expect(egressOf(objects)).toContainEqual({ to, ports: [{ port: 3128, protocol: 'TCP' }] });
    expect(egressOf(await rendered())).toHaveLength(3);
  });
});

const PROCESSES = ['worker', 'starter'] as const;

/** headroom.yaml as the chart wrote it. */
function writtenConfig(objects: readonly Manifest[]): unknown {
  const { data } = found('ConfigMap', 'headroom', objects) as { readonly data?: Readonly<Record<string, string>> };
  return parse(data?.['headroom.yaml'] ?? '');
}

/** Where a volume is mounted as a whole, and what it is. */
function mounted(process: (typeof PROCESSES)[number], volume: string, objects: readonly Manifest[]) {
  const mount = containerOf(process, objects).volumeMounts?.find(({ name }) => name === volume);
  expect(mount).toEqual({ name: volume, mountPath: mount?.mountPath, readOnly: true });
  const { name: _, ...source } =
    deploymentOf(process, objects).spec?.template.spec?.volumes?.find(({ name }) => name === volume) ?? {};
  return [mount?.mountPath, source];
}

/** What both may connect to. */
function egressOf(objects: readonly Manifest[]) {
  return (found('NetworkPolicy', 'headroom-egress', objects) as V1NetworkPolicy).spec?.egress;
}

/** A default in the documentation's words as somebody would write it in YAML. */
function valueOf(text: string): unknown {
  const value: unknown = parse(text);
  return typeof value === 'boolean' || typeof value === 'number' ? value : text;
}
