/** Whether the custom resources of what is switched on are defined, as this release has them. */
import { ApiextensionsV1Api } from '@kubernetes/client-node';
import { orNull } from '../../../activities/kubernetes/failure.ts';
import { OwnerKinds } from '../../../activities/lights-out/owners.ts';
import { lightsOutDefinition } from '../../../domain/lights-out/schedule/definition.ts';
import { memcachedDefinition } from '../../../domain/memcached/api/definition.ts';
import { nodeGroupDefinition, vpsieNodeDefinition } from '../../../domain/node-group/api/definition.ts';
import type { Definition } from '../../../platform/kubernetes/access.ts';
import type { Config } from '../../config.ts';
import type { DoctorContext } from './context.ts';
import type { Findings } from './finding.ts';

/** Fields that are named. */
const NAMED = 5;

interface Expected {
  readonly file: string;
  readonly isOn: (config: Config) => boolean;
  readonly definitions: readonly (() => Definition)[];
}

const expected: readonly Expected[] = [
  { file: 'lights-out', isOn: ({ lightsOut }) => lightsOut.enabled, definitions: [lightsOutDefinition] },
  { file: 'memcached', isOn: ({ memcached }) => memcached.enabled, definitions: [memcachedDefinition] },
  {
    file: 'node-group',
    isOn: ({ nodeGroups }) => nodeGroups.enabled,
    definitions: [nodeGroupDefinition, vpsieNodeDefinition],
  },
];

export async function lookAtDefinitions(context: DoctorContext, findings: Findings): Promise<void> {
  const { config, kubeConfig } = context;
  const api = kubeConfig.makeApiClient(ApiextensionsV1Api);
  const on = expected.filter(({ isOn }) => isOn(config));
  await lookAtOwners(context, findings);
  if (on.length === 0) findings.ok('Nothing that is on has custom resources.');
  for (const { file, definitions } of on) {
    const mend = `kubectl apply --server-side -f deploy/chart-crds/definitions/${file}.yaml`;
    for (const definition of definitions.map((make) => make())) {
      const { name } = definition.metadata;
      const found = await orNull(api.readCustomResourceDefinition({ name }));
      if (found === null) {
        findings.wrong(`There is no CustomResourceDefinition ${name}.`, mend);
        continue;
      }
      const missing = [...missingFields(versionsOf(definition.spec), versionsOf(found.spec))];
      const versions = found.spec.versions.map((version) => version.name).join(', ');
      if (missing.length === 0) findings.ok(`${name} (${versions}) has all that this release has.`);
      else {
        const named = missing.slice(0, NAMED).join(', ');
        findings.wrong(
          `${name} (${versions}) is of another release: it has no ${named}${missing.length > NAMED ? ` and ${missing.length - NAMED} more` : ''}, so the API server drops what is written there.`,
          mend,
        );
      }
    }
  }
}

/** The kinds whose number schedules are to set in place of that of the workloads they own. */
async function lookAtOwners({ config, kubernetes }: DoctorContext, findings: Findings): Promise<void> {
  const { enabled, scaledOwners = [] } = config.lightsOut;
  if (!enabled) return;
  const kinds = new OwnerKinds(kubernetes, scaledOwners);
  for (const name of scaledOwners) {
    const kind = await kinds.of(name);
    if (kind !== null)
      findings.ok(`${name} has a scale subresource, by which schedules set spec.${kind.path.join('.')}.`);
    else
      findings.wrong(
        `lightsOut.scaledOwners names ${name}, which is not defined, is not of namespaces, or has no scale subresource: its workloads are scaled themselves, and its operator may set them back.`,
        `Look at kubectl get customresourcedefinition ${name} -o yaml (subresources.scale), and correct the name or take it out.`,
      );
  }
}

/** The fields of each version that is served, by its name. */
function versionsOf(spec: unknown): Readonly<Record<string, unknown>> {
  const { versions } = plain(spec) as {
    versions: { name: string; served: boolean; schema?: { openAPIV3Schema?: unknown } }[];
  };
  const served = versions.filter((version) => version.served);
  return Object.fromEntries(served.map(({ name, schema }) => [name, schema?.openAPIV3Schema ?? {}]));
}

/** As it is in JSON: the client has classes for what it read. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function* missingFields(
  wanted: Readonly<Record<string, unknown>>,
  found: Readonly<Record<string, unknown>>,
): Generator<string> {
  for (const [version, schema] of Object.entries(wanted)) {
    if (version in found) yield* missingProperties(schema, found[version], version);
    else yield version;
  }
}

/** The paths of properties that one schema has and the other has not. */
function* missingProperties(wanted: unknown, found: unknown, path: string): Generator<string> {
  for (const [key, schema] of Object.entries(propertiesOf(wanted))) {
    const other = propertiesOf(found)[key];
    if (other === undefined) yield `${path}.${key}`;
    else yield* missingProperties(schema, other, `${path}.${key}`);
  }
  const [items, otherItems] = [wanted, found].map((schema) => (schema as { items?: unknown }).items);
  if (items !== undefined && otherItems !== undefined) yield* missingProperties(items, otherItems, `${path}[]`);
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as { properties?: Readonly<Record<string, unknown>> }).properties ?? {};
}
