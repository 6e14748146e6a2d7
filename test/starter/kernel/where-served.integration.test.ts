import { ApiextensionsV1Api, CustomObjectsApi, type KubernetesObject } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { listPath } from '../../../activities/kubernetes/api-get.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { openWhereFound } from '../../../starter/kernel/where-served.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';

const GADGETS = { group: 'gadgets.example.net', plural: 'gadgets' } as const;
const NAME = `${GADGETS.plural}.${GADGETS.group}`;

let plane: ControlPlane;
let extensions: ApiextensionsV1Api;
let custom: CustomObjectsApi;

beforeAll(async () => {
  plane = await borrowControlPlane();
  const admin = accessOf(plane.adminKubeconfig);
  [extensions, custom] = [admin.makeApiClient(ApiextensionsV1Api), admin.makeApiClient(CustomObjectsApi)];
});
afterAll(async () => {
  await extensions?.deleteCustomResourceDefinition({ name: NAME }).catch(() => {});
  await plane?.stop();
});

function definition(served: 'v1' | 'v2') {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    spec: {
      group: GADGETS.group,
      names: { kind: 'Gadget', plural: GADGETS.plural },
      scope: 'Namespaced',
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: name === served,
        storage: name === 'v1',
        schema: { openAPIV3Schema },
      })),
    },
  };
}

it('a resource is watched where it is, also when it comes to be elsewhere', async () => {
  await extensions.createCustomResourceDefinition({ body: definition('v1') });
  const stop = new AbortController();
  const seen: string[] = [];
  const informer = openWhereFound<KubernetesObject>(
    loadKubeConfig({ kubeconfig: plane.adminKubeconfig, context: undefined, requestTimeoutMs: 5_000 }, {}),
    {
      resource: NAME,
      find: async (get) => {
        const answer = await get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${NAME}`, {
          accept: 'application/json',
        });
        if (answer.kind !== 'answer') return null;
        const { spec } = answer.body as ReturnType<typeof definition>;
        const version = spec.versions.find(({ served }) => served)?.name ?? '';
        return { path: listPath({ group: GADGETS.group, version, resource: GADGETS.plural }) };
      },
      onChange: ({ metadata }) => seen.push(metadata?.name ?? ''),
      onDelete: () => {},
    },
    { everyMs: 200, log: pino({ level: 'silent' }), signal: stop.signal },
  );
  onTestFinished(async () => {
    stop.abort();
    await informer.stop();
  });
  const create = async (version: string, name: string): Promise<void> => {
    const body = { apiVersion: `${GADGETS.group}/${version}`, kind: 'Gadget', metadata: { name } };
    await eventually('it is created', async () => {
      return await custom.createNamespacedCustomObject({ ...GADGETS, version, namespace: 'default', body }).then(
        () => true,
        () => false,
      );
    });
  };
  await create('v1', 'first');
  await eventually('the first is seen', () => seen.includes('first'));
  const { metadata } = await extensions.readCustomResourceDefinition({ name: NAME });
  const { resourceVersion = '' } = metadata ?? {};
  const next = definition('v2');
  const body = { ...next, metadata: { ...next.metadata, resourceVersion } };
  await extensions.replaceCustomResourceDefinition({ name: NAME, body });
  // A watch that is open goes on for minutes; the next one is refused.
  informer.relist();
  await eventually('the watch is refused', () => informer.trouble() !== null || seen.length > 1);
  await create('v2', 'second');
  await eventually('the second is seen', () => seen.includes('second'), 60_000);
  expect(informer.trouble()).toBeNull();
}, 120_000);
