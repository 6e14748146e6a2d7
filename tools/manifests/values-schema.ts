/** The JSON schema of the chart's values, so that Helm refuses what is wrong before anything is applied. */
import { z } from 'zod';
import { settingEntries } from '../../starter/config.ts';
import type { SettingEntry } from '../../platform/config/settings.ts';
import { boolean } from '../../domain/kernel/settings/forms.ts';
import { autoMerge } from '../../domain/quota-resize/settings/policy.ts';

/** A part of a JSON schema (draft 7). */
type JsonSchema = Readonly<Record<string, unknown>>;

/** What the chart itself decides, or what does not make sense in a pod. */
const DECIDED_BY_THE_CHART: ReadonlySet<string> = new Set([
  'kubernetes.kubeconfig',
  'kubernetes.context',
  'kubernetes.systemNamespace',
  'temporal.tlsClientCertPath',
  'temporal.tlsClientKeyPath',
  'temporal.tlsServerCaCertPath',
  'temporal.apiKeyFile',
  'network.caFile',
  'process.healthAddress',
  'process.metricsAddress',
  'github.tokenFile',
  'github.appIdFile',
  'github.installationIdFile',
  'github.privateKeyFile',
  'overview.certificate',
  'webhooks.secretFile',
  ...['lightsOut', 'memcached', 'nodeGroups'].flatMap((group) =>
    ['webhookAddress', 'webhookCertificate', 'webhookHost'].map((key) => `${group}.${key}`),
  ),
]);

/** The settings that `config` of the values may have. */
export const chartSettings: readonly SettingEntry[] = settingEntries.filter(
  ({ path, setting }) => setting.secret !== true && !DECIDED_BY_THE_CHART.has(path),
);

/** What Kubernetes itself defines, and its API server checks. */
const ofKubernetes = z.looseObject({});
const named = z.looseObject({ name: z.string().min(1) });
const texts = z.record(z.string(), z.string());
/** One segment of a DNS name, as namespaces have it. */
const label = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
/** A DNS name, as Secrets have it. */
const secretName = z.string().regex(/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/);
/** A key of a Secret or a ConfigMap, which is a file's name where it is mounted. */
const dataKey = z.string().regex(/^[-._a-zA-Z0-9]{1,253}$/);
/** A text, or none. */
const orNone = (form: z.ZodString): z.ZodType => z.union([z.literal(''), form]);

const process = z.strictObject({
  replicas: z.int().min(0),
  resources: ofKubernetes,
  extraEnv: z.array(named),
});

const port = z.int().min(1).max(65_535);
const peers = z.strictObject({ ports: z.array(port).min(1), to: z.array(ofKubernetes) });

/** All values but `config`. */
const chartValues = z.strictObject({
  processes: z.enum(['together', 'apart']),
  secrets: z.strictObject({
    github: z.strictObject({ name: secretName, kind: z.enum(['token', 'app']) }),
    githubWebhooks: secretName,
    temporalApiKey: orNone(secretName),
    temporalTls: z.strictObject({ name: orNone(secretName), caKey: orNone(dataKey) }),
  }),
  proxy: z.strictObject({
    // A password would be in the Deployment: it belongs into a Secret.
    https: orNone(z.string().regex(/^(https?:\/\/)?[^@\s/]+\/?$/)),
    secret: orNone(secretName),
    noProxy: z.string(),
  }),
  authorities: z.strictObject({ configMap: orNone(secretName), secret: orNone(secretName), key: dataKey }),
  // Credentials are headers, which come from a Secret by extraEnv.
  tracing: z.strictObject({ endpoint: orNone(z.string().regex(/^https?:\/\/[^@\s/?#]+(\/[^@\s?#]*)?$/)) }),
  overview: z.strictObject({ certificate: orNone(secretName) }),
  webhooks: z.strictObject({ certificates: z.enum(['self', 'cert-manager', 'none']) }),
  rights: z.strictObject({
    countSecrets: z.boolean(),
    memcachedSecrets: z.array(label),
    kwokNodes: z.boolean(),
  }),
  image: z.strictObject({
    repository: z.string().min(1),
    tag: z.string(),
    digest: orNone(z.string().regex(/^sha256:[0-9a-f]{64}$/)),
    pullPolicy: z.enum(['', 'Always', 'IfNotPresent', 'Never']),
    pullSecrets: z.array(secretName),
  }),
  worker: process,
  starter: process,
  pods: z.strictObject({
    labels: texts,
    annotations: texts,
    priorityClassName: z.string(),
    nodeSelector: texts,
    tolerations: z.array(ofKubernetes),
    affinity: ofKubernetes,
    topologySpread: z.array(ofKubernetes),
    extraVolumes: z.array(named),
    extraVolumeMounts: z.array(named),
  }),
  podDisruptionBudget: z.strictObject({
    enabled: z.boolean(),
    maxUnavailable: z.union([z.int().min(1), z.string().regex(/^[1-9][0-9]?%$/)]),
  }),
  networkPolicy: z.strictObject({
    enabled: z.boolean(),
    metricsNamespaces: z.array(label),
    egress: z.strictObject({
      dns: peers,
      apiServer: peers,
      temporal: peers,
      forge: peers,
      nodeProvider: peers,
      collector: peers.extend({ ports: z.array(port) }),
      proxy: peers.extend({ ports: z.array(port) }),
      extra: z.array(ofKubernetes),
    }),
  }),
  monitoring: z.strictObject({
    podMonitor: z.strictObject({
      enabled: z.boolean(),
      labels: texts,
      interval: orNone(z.string().regex(/^[0-9]+(ms|s|m|h)$/)),
    }),
    rules: z.strictObject({
      enabled: z.boolean(),
      labels: texts,
      documents: orNone(z.string().regex(/^https?:\/\/.*\/$/)),
    }),
    dashboards: z.strictObject({ enabled: z.boolean(), labels: texts }),
  }),
  namespace: z.strictObject({ create: z.boolean() }),
  labels: texts,
  annotations: texts,
  /** Helm's own, for charts within charts. */
  global: ofKubernetes,
});

/** The text of values.schema.json. */
export function valuesSchema(): string {
  const { properties = {}, $schema } = z.toJSONSchema(chartValues.partial(), { target: 'draft-7', io: 'input' });
  const schema = {
    $schema,
    $comment:
      'Written by `npm run manifests` from the settings of the code and tools/manifests/values-schema.ts: change those.',
    type: 'object',
    additionalProperties: false,
    required: ['config'],
    properties: { config: configSchema(), ...properties },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Two levels, group and key. */
function configSchema(): JsonSchema {
  const groups = [...Map.groupBy(chartSettings, ({ group }) => group)].map(([group, members]) => {
    const required = members.filter(({ setting }) => setting.required === true).map(({ key }) => key);
    const properties = Object.fromEntries(members.map((entry) => [entry.key, settingSchema(entry)]));
    return [group, objectSchema(properties, required)] as const;
  });
  const required = groups.filter(([, schema]) => 'required' in schema).map(([group]) => group);
  return objectSchema(Object.fromEntries(groups), required);
}

function objectSchema(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[]): JsonSchema {
  return { type: 'object', additionalProperties: false, ...(required.length > 0 && { required }), properties };
}

/** A setting as it is written in YAML: a number as a number, and true and false as these. */
function settingSchema({ setting }: SettingEntry): JsonSchema {
  const { type, description } = setting;
  const scalar = scalarSchema(type);
  if (setting.isStructured === true) return { description, type: ['array', 'string'], items: { type: 'object' } };
  if (setting.isList !== true) return { description, ...scalar };
  const { entries } = setting;
  if (entries === undefined) return { description, type: ['array', 'string'], items: { type: ['string', 'number'] } };
  const one = entries.source.slice(1, -1);
  const items = { type: 'string', pattern: entries.source };
  return { description, type: ['array', 'string'], items, uniqueItems: true, pattern: `^(?:${one}(?:, *${one})*)?$` };
}

/** A number in digits, or what its type is made from. */
const DIGITS: ReadonlySet<unknown> = new Set(['^[0-9]+$', '^[0-9]+(\\.[0-9]+)?$']);

function scalarSchema(type: z.ZodType): JsonSchema {
  if (type === boolean) return { type: 'boolean' };
  if (type === autoMerge) return { enum: [true, false, 'github'] };
  const options = { target: 'draft-7', unrepresentable: 'any' } as const;
  const { $schema: _, ...written } = z.toJSONSchema(type, { ...options, io: 'input' });
  if (written.enum !== undefined) return { enum: written.enum };
  const { $schema: __, ...read } = z.toJSONSchema(type, { ...options, io: 'output' });
  // What begins as digits only and becomes a number.
  if (DIGITS.has(written.pattern)) return read;
  // Everything else is read from its text, and of some, such as a percentage, a number is one as well.
  const { pattern, ...rest } = written;
  return { ...rest, ...(isForHelm(pattern) && { pattern }), type: ['string', 'number'] };
}

/** Helm's expressions are RE2, which looks neither ahead nor back; the process itself refuses what they would at its start. */
function isForHelm(pattern: string | undefined): boolean {
  return pattern !== undefined && !/\(\?(?:[!=]|<[!=])/.test(pattern);
}
