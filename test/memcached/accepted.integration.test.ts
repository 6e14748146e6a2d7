/** The API server takes the objects of every Memcached that Headroom's admission takes. */
import { CoreV1Api, CustomObjectsApi } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVER_SIDE_APPLY } from '../../activities/memcached/child-api.ts';
import { withDefaults } from '../../domain/memcached/api/defaults.ts';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { ownProblems } from '../../domain/memcached/api/own-rules.ts';
import { readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { specProblems } from '../../domain/memcached/api/validation.ts';
import { CHILD_BODIES, CHILD_TYPES, childKinds, childName } from '../../domain/memcached/children/children.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { defineMemcacheds } from './definitions.ts';

const NAMESPACE = 'accepted';
const MEMCACHEDS = { group: GROUP, version: VERSION, plural: PLURAL } as const;

let plane: ControlPlane;
let custom: CustomObjectsApi;
beforeAll(async () => {
  plane = await borrowControlPlane();
  const config = accessOf(plane.adminKubeconfig);
  custom = config.makeApiClient(CustomObjectsApi);
  await config.makeApiClient(CoreV1Api).createNamespace({ body: { metadata: { name: NAMESPACE } } });
  await defineMemcacheds(plane.adminKubeconfig);
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

/** Whether the definition and the validating webhook take it, after the defaults of the mutating one. */
async function isAdmitted(name: string, spec: WrittenSpec): Promise<boolean> {
  if (specProblems(spec).length > 0 || ownProblems(spec).length > 0) return false;
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
  const memcached = { ...read, spec: read.spec };
  const refusals = await Promise.all(
    // The definition of ServiceMonitors is somebody else's, and not in this cluster.
    childKinds.map(async (kind) => {
      const body = CHILD_BODIES[kind](memcached, { secretHash: '', isTakenOver: false, slots: [] });
      if (body === null || kind === 'ServiceMonitor') return [];
      const { group, version, plural } = CHILD_TYPES[kind];
      const request = { namespace: NAMESPACE, name: childName(kind, name), body, dryRun: 'All', fieldManager: 'test' };
      const write =
        group === ''
          ? applyToCore(plural, request)
          : custom.patchNamespacedCustomObject({ ...request, group, version, plural, force: true }, SERVER_SIDE_APPLY);
      const said = await refusal(write);
      return said === null ? [] : [`${kind}: ${said}`];
    }),
  );
  return refusals.flat();
}

interface Applied {
  readonly namespace: string;
  readonly name: string;
  readonly body: object;
  readonly dryRun: string;
  readonly fieldManager: string;
}

async function applyToCore(plural: string, request: Applied): Promise<unknown> {
  const core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
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
