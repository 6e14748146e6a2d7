import { get, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { KubeConfig, type KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { shapeOf } from '../../starter/quota-usage/shape.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { chartObjects, EVERY_RIGHT } from '../kernel/stack/chart.ts';
import { type ApiField, type ApiTypes, readApi } from './api-types.ts';
import { fieldsOf, readLedger } from './ledger.ts';

/** What Headroom reads of these kinds, it has written itself: its own definitions and webhooks. */
const OWN = new Set(['customresourcedefinitions', 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations']);

const group = z.object({ name: z.string(), preferredVersion: z.object({ version: z.string() }) });
const groups = z.object({ groups: z.array(group) });
const resources = z.object({ resources: z.array(z.object({ name: z.string(), kind: z.string() })) });
const role = z.object({
  kind: z.enum(['ClusterRole', 'Role']),
  rules: z.array(z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()) })),
});

const ledger = readLedger();
let plane: ControlPlane;
let config: KubeConfig;
/** The types of the kinds that Headroom's roles are about. */
let roots: readonly string[];
let types: ApiTypes;

beforeAll(async () => {
  plane = await borrowControlPlane();
  config = new KubeConfig();
  config.loadFromFile(plane.adminKubeconfig);
  const served = groups.parse(await json('/apis')).groups;
  const paths = new Map([['', { path: 'api/v1', version: 'v1' }]]);
  for (const {
    name,
    preferredVersion: { version },
  } of served)
    paths.set(name, { path: `apis/${name}/${version}`, version });
  const found: string[] = [];
  const all = new Map<string, Readonly<Record<string, ApiField>>>();
  for (const [of, names] of Map.groupBy(resourcesOf(await chartObjects(EVERY_RIGHT)), ({ group: of }) => of)) {
    const place = paths.get(of);
    // What others serve, such as KEDA, has no description here.
    if (place === undefined) continue;
    const kinds = resources.parse(await json(`/${place.path}`)).resources;
    const api = readApi(await json(`/openapi/v3/${place.path}`));
    for (const [name, fields] of api.types) all.set(name, fields);
    for (const { resource } of names) {
      const kind = kinds.find(({ name }) => name === resource)?.kind ?? '';
      const type = api.typeOfKind({ group: of, version: place.version, kind });
      if (type === undefined) throw new Error(`the API server does not describe ${resource}`);
      found.push(type);
    }
  }
  roots = [...new Set(found)].toSorted();
  types = all;
});

afterAll(async () => {
  await plane.stop();
});

describe('the ledger of fields', () => {
  it('has every field of what Headroom reads or writes, and no other one', () => {
    const asked = new Set<string>();
    const differences: string[] = [];
    const walk = (type: string): void => {
      if (asked.has(type)) return;
      asked.add(type);
      const fields = types.get(type) ?? {};
      const rows = ledger.get(type);
      const known = rows === undefined ? [] : fieldsOf(rows);
      differences.push(
        ...Object.keys(fields)
          .filter((field) => !known.includes(field))
          .map((field) => `${type}.${field} is not in the ledger`),
        ...known.filter((field) => !Object.hasOwn(fields, field)).map((field) => `${type}.${field} is not in the API`),
      );
      for (const field of Object.keys(rows?.used ?? {})) {
        const { type: next, values = [] } = fields[field] ?? { type: null };
        if (next !== null) walk(next);
        const listed = rows?.values[field] ?? [];
        if (listed.toString() !== values.toString())
          differences.push(`the values of ${type}.${field} are ${values.join(', ')}`);
      }
    };
    for (const root of roots) walk(root);
    const unasked = [...ledger.keys()]
      .filter((type) => !asked.has(type))
      .map((type) => `nothing used leads to ${type}`);
    expect([...differences, ...unasked]).toEqual([]);
  });

  it('takes no feature for off that is on', async () => {
    const gates = new Set([...ledger.values()].flatMap(({ gated }) => Object.keys(gated)));
    const metrics = await textOf('/metrics');
    const off = [...metrics.matchAll(/^kubernetes_feature_enabled\{name="(\w+)",stage="\w+"\} 0$/gm)].map(
      ([, name]) => name,
    );
    expect([...gates].filter((gate) => !off.includes(gate))).toEqual([]);
  });
});

async function json(path: string): Promise<unknown> {
  return JSON.parse(await textOf(path));
}

/** What the API server answers, of whatever type. */
async function textOf(path: string): Promise<string> {
  const options: RequestOptions = { headers: { accept: '*/*' } };
  await config.applyToHTTPSOptions(options);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${config.getCurrentCluster()?.server ?? ''}${path}`, options, resolve).on('error', reject);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`GET ${path}: ${answer.statusCode} ${body}`);
  return body;
}

/** What worker and starter may read or write, but for what they only count. */
function resourcesOf(
  objects: readonly KubernetesObject[],
): readonly { readonly group: string; readonly resource: string }[] {
  return objects.flatMap((object) => {
    const read = role.safeParse(object);
    if (!read.success) return [];
    const isCounting = object.metadata?.name === 'headroom-starter-quota-usage-reading';
    return read.data.rules
      .flatMap(({ apiGroups, resources: names }) =>
        apiGroups.flatMap((of) => names.map((resource) => ({ group: of, resource }))),
      )
      .filter((each) => !each.resource.includes('/') && !OWN.has(each.resource))
      .filter((each) => !isCounting || !shapeOf(each).metadataOnly);
  });
}
