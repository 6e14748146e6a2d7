/** The API server takes the objects of every Memcached that Headroom's admission takes. */
import { CoreV1Api, CustomObjectsApi, type V1Pod } from '@kubernetes/client-node';
import { sample, tuple } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_SIDE_APPLY } from '../../activities/memcached/child-api.ts';
import { withDefaults } from '../../domain/memcached/api/defaults.ts';
import { KUBERNETES_RULES } from '../../domain/memcached/api/kubernetes-rules.ts';
import { type Memcached, memcachedSpec, type WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { ownProblems } from '../../domain/memcached/api/own-rules.ts';
import { readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { specProblems } from '../../domain/memcached/api/validation.ts';
import { CHILD_BODIES, CHILD_TYPES, childKinds, childName } from '../../domain/memcached/children/children.ts';
import { podTemplate } from '../../domain/memcached/children/pod-template.ts';
import { amount } from '../kernel/long.ts';
import { seed } from '../kernel/seed.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { anyName, anySpec } from './any-spec.ts';
import { defineMemcacheds } from './definitions.ts';

const NAMESPACE = 'accepted';
const MEMCACHEDS = { group: GROUP, version: VERSION, plural: PLURAL } as const;

let plane: ControlPlane;
let custom: CustomObjectsApi;
let core: CoreV1Api;
beforeAll(async () => {
  plane = await borrowControlPlane();
  const config = accessOf(plane.adminKubeconfig);
  custom = config.makeApiClient(CustomObjectsApi);
  core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
  await defineMemcacheds(plane.adminKubeconfig);
  await eventually('pods have an account', async () =>
    core.readNamespacedServiceAccount({ namespace: NAMESPACE, name: 'default' }).then(() => true),
  );
  await eventually('Memcacheds are served', async () => {
    await custom.listClusterCustomObject(MEMCACHEDS);
    return true;
  });
});
afterAll(async () => await plane?.stop());

/** A dry run: null where the API server takes it, else what it says. */
async function refusal(write: Promise<unknown>): Promise<string | null> {
  try {
    await write;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const problemsOf = (spec: WrittenSpec): readonly string[] => [...specProblems(spec), ...ownProblems(spec)];

/** Whether the definition and the validating webhook take it, after the defaults of the mutating one. */
async function isAdmitted(name: string, spec: WrittenSpec): Promise<boolean> {
  if (problemsOf(spec).length > 0) return false;
  const body = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name }, spec };
  const request = { ...MEMCACHEDS, namespace: NAMESPACE, body, dryRun: 'All' };
  return (await refusal(custom.createNamespacedCustomObject(request))) === null;
}

/** What the API server has against the objects of a Memcached that is admitted; null for one that is not. */
async function refusedObjects(name: string, written: WrittenSpec): Promise<readonly string[] | null> {
  const filled = withDefaults(written) as WrittenSpec;
  if (!(await isAdmitted(name, filled))) return null;
  const read = readMemcached({ metadata: { name, namespace: NAMESPACE, uid: 'uid', generation: 1 }, spec: filled });
  if (read.spec === null) return read.problems;
  return await refusalsOf({ ...read, spec: read.spec });
}

/** What the API server has against the objects of a Memcached. */
async function refusalsOf(memcached: Memcached): Promise<readonly string[]> {
  const refusals = await Promise.all(
    // The definition of ServiceMonitors is somebody else's, and not in this cluster.
    childKinds.map(async (kind) => {
      const body = CHILD_BODIES[kind](memcached, { secretHash: '', isTakenOver: false, slots: [] });
      if (body === null || kind === 'ServiceMonitor') return [];
      const { group, version, plural } = CHILD_TYPES[kind];
      const name = childName(kind, memcached.name);
      const request = { namespace: NAMESPACE, name, body, dryRun: 'All', fieldManager: 'test' };
      const write =
        group === ''
          ? applyToCore(plural, request)
          : custom.patchNamespacedCustomObject({ ...request, group, version, plural, force: true }, SERVER_SIDE_APPLY);
      const said = await refusal(write);
      return said === null ? [] : [`${kind}: ${said}`];
    }),
  );
  return [...refusals.flat(), ...(await refusalOfPod(memcached))];
}

/** As the controller makes it of the Deployment's template; more is asked of a pod than of a template. */
async function refusalOfPod(memcached: Memcached): Promise<readonly string[]> {
  const { metadata, spec } = podTemplate(memcached, { secretHash: '', isTakenOver: false });
  const body = { metadata: { ...(metadata as object), name: 'pod' }, spec } as V1Pod;
  const said = await refusal(core.createNamespacedPod({ namespace: NAMESPACE, body, dryRun: 'All' }));
  return said === null ? [] : [`Pod: ${said}`];
}

interface Applied {
  readonly namespace: string;
  readonly name: string;
  readonly body: object;
  readonly dryRun: string;
  readonly fieldManager: string;
}

async function applyToCore(plural: string, request: Applied): Promise<unknown> {
  const forced = { ...request, force: true };
  return plural === 'services'
    ? await core.patchNamespacedService(forced, SERVER_SIDE_APPLY)
    : await core.patchNamespacedConfigMap(forced, SERVER_SIDE_APPLY);
}

describe.concurrent('the objects of a Memcached', () => {
  it.each<[string, WrittenSpec]>([
    ['a warm-up as long as the deadline of a rollout', { highAvailability: { warmUpSeconds: 600 } }],
    ['the longest warm-up', { highAvailability: { warmUpSeconds: 3600 } }],
    ['a tag that is too long for a label', { image: `registry.example/memcached:1.6.39-${'x'.repeat(70)}` }],
    ['a tag whose end is none of a label', { image: 'registry.example/memcached:1.6.39_' }],
    ['a digest behind a tag', { image: `memcached:1.6.39@sha256:${'a'.repeat(64)}` }],
    ['a port and no tag', { image: 'registry.example:5000/memcached' }],
  ])('are taken: %s', async (_, spec) => {
    expect(await refusedObjects('sessions', spec)).toEqual([]);
  });
});

/** Of so many that are drawn, the first ones that are asked for. */
function drawn(count: number, isWanted: (spec: WrittenSpec) => boolean): readonly (readonly [string, WrittenSpec])[] {
  const all = sample(tuple(anyName, anySpec), { seed, numRuns: 25 * count });
  const wanted = all.filter(([, spec]) => isWanted(withDefaults(spec))).slice(0, count);
  // Else it would say nothing.
  expect(wanted.length).toBeGreaterThan(count / 2);
  return wanted;
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all([next(), next(), next(), next()]);
}

it('are taken, whatever admission takes', async () => {
  const specs = drawn(amount({ short: 300, long: 5000 }), (spec) => problemsOf(spec).length === 0);
  const refused: string[] = [];
  let admitted = 0;
  await inTurn(specs, async ([name, spec]) => {
    const said = await refusedObjects(name, spec);
    if (said !== null) admitted += 1;
    if (said !== null && said.length > 0) refused.push(`${name} ${JSON.stringify(spec)}: ${said.join('; ')}`);
  });
  expect(refused).toEqual([]);
  expect(admitted).toBeGreaterThan(specs.length / 2);
});

it('are not taken, where admission refuses them because the API server would', async () => {
  const ofKubernetes = (spec: WrittenSpec) => KUBERNETES_RULES.flatMap(({ problems }) => problems(spec)).length;
  const specs = drawn(amount({ short: 100, long: 1500 }), (spec) => {
    const count = ofKubernetes(spec);
    return count > 0 && problemsOf(spec).length === count;
  });
  const taken: string[] = [];
  await inTurn(specs, async ([, written]) => {
    const spec = memcachedSpec.parse(withDefaults(written));
    const memcached = { name: 'sessions', namespace: NAMESPACE, uid: 'uid', generation: 1, annotations: {}, spec };
    if ((await refusalsOf(memcached)).length === 0) taken.push(JSON.stringify(written));
  });
  expect(taken).toEqual([]);
});
