/** How the objects of a Memcached are read, applied and deleted: as JSON, whatever their kind. */
import { ApiException, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { readKubernetesStatus } from '../../domain/kernel/kubernetes-status.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';
import { COUNT_SET_BACK, FIELD_MANAGER, REPLICAS_MANAGER } from '../../domain/memcached/api/names.ts';
import { type Body, EVERY_CHILD } from '../../domain/memcached/children/body.ts';
import { type ChildKind, childName, CHILD_TYPES } from '../../domain/memcached/children/children.ts';
import type { LiveObject } from '../../domain/memcached/plan/live.ts';
import { ENDPOINT_SLICES, SERVICE_NAME } from '../../domain/memcached/servers/endpoints.ts';
import { orNull, statusCode } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';

/** An object of a namespace. */
interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** How objects of a kind are read and written. */
interface ChildApi {
  read(named: Named): Promise<LiveObject>;
  patch(
    request: Named & { body: object; fieldManager?: string; force?: boolean },
    header: typeof SERVER_SIDE_APPLY,
  ): Promise<LiveObject>;
  delete(request: Named & { body: object }): Promise<unknown>;
}

/** The generic client has no path to the kinds without a group. */
function apiOf({ core, custom }: Kubernetes, kind: ChildKind): ChildApi {
  if (kind === 'Service') {
    return {
      read: async (named) => (await core.readNamespacedService(named)) as LiveObject,
      patch: async (request, header) => (await core.patchNamespacedService(request, header)) as LiveObject,
      delete: async (request) => await core.deleteNamespacedService(request),
    };
  }
  if (kind === 'ConfigMap') {
    return {
      read: async (named) => (await core.readNamespacedConfigMap(named)) as LiveObject,
      patch: async (request, header) => (await core.patchNamespacedConfigMap(request, header)) as LiveObject,
      delete: async (request) => await core.deleteNamespacedConfigMap(request),
    };
  }
  const type = CHILD_TYPES[kind];
  return {
    read: async (named) => (await custom.getNamespacedCustomObject({ ...type, ...named })) as LiveObject,
    patch: async (request, header) =>
      (await custom.patchNamespacedCustomObject({ ...type, ...request }, header)) as LiveObject,
    delete: async (request) => await custom.deleteNamespacedCustomObject({ ...type, ...request }),
  };
}

export const SERVER_SIDE_APPLY = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);

/** The cluster has no such kind. */
export const UNSERVED = 'unserved';

/** An object; null for one that does not exist. */
export async function readChild(
  kubernetes: Kubernetes,
  target: MemcachedTarget,
  kind: ChildKind,
): Promise<LiveObject | null | typeof UNSERVED> {
  const { namespace } = target;
  try {
    return await apiOf(kubernetes, kind).read({ namespace, name: childName(kind, target.name) });
  } catch (error) {
    if (statusCode(error) !== 404) throw error;
    return isUnserved(error) ? UNSERVED : null;
  }
}

/** Of an object that does not exist, the API server says which; of a kind that it does not know, nothing. */
function isUnserved(error: unknown): boolean {
  return error instanceof ApiException && readKubernetesStatus(error.body).details?.name === undefined;
}

/**
 * Applies an object. One that was read, and is known to be owned, has its fields taken over from other managers; one that was not
 * there is made, and whoever made another of that name meanwhile keeps it: that is a conflict (409).
 *
 * @param uid of the object that was read, null where there was none: another one in its place is a conflict (409) as well.
 * @param resourceVersion as it was read, where what is written follows from that: one that changed since is a conflict (409) too.
 */
export async function applyChild(
  kubernetes: Kubernetes,
  { namespace, name }: MemcachedTarget,
  {
    kind,
    body,
    uid,
    resourceVersion,
  }: {
    readonly kind: ChildKind;
    readonly body: Body;
    readonly uid: string | null;
    readonly resourceVersion?: unknown;
  },
): Promise<LiveObject> {
  const version = resourceVersion === undefined ? {} : { resourceVersion };
  const known = uid === null ? body : { ...body, metadata: { ...body.metadata, uid, ...version } };
  const fields = { body: known, fieldManager: FIELD_MANAGER, force: uid !== null };
  return await apiOf(kubernetes, kind).patch({ namespace, name: childName(kind, name), ...fields }, SERVER_SIDE_APPLY);
}

const JSON_PATCH = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);

/**
 * Replaces the managed fields of exactly the object that was read: one that changed since is a conflict (409).
 *
 * @param resourceVersion as it was read.
 */
export async function replaceManagedFields(
  kubernetes: Kubernetes,
  { namespace, name }: MemcachedTarget,
  kind: ChildKind,
  { managedFields, resourceVersion }: { readonly managedFields: readonly object[]; readonly resourceVersion: unknown },
): Promise<void> {
  const body = [
    { op: 'replace', path: '/metadata/managedFields', value: managedFields },
    { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
  ];
  await apiOf(kubernetes, kind).patch({ namespace, name: childName(kind, name), body }, JSON_PATCH);
}

/** Applies `spec.replicas` of the Deployment, and what it remembers of them, by a field manager that has nothing else. */
export async function applyReplicas(
  kubernetes: Kubernetes,
  { namespace, name }: MemcachedTarget,
  {
    uid,
    replicas,
    setBack,
  }: { readonly uid: string; readonly replicas: number; readonly setBack?: string | undefined },
): Promise<LiveObject> {
  const annotations = setBack === undefined ? {} : { annotations: { [COUNT_SET_BACK]: setBack } };
  const metadata = { name, namespace, uid, ...annotations };
  const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas } };
  const request = { namespace, name, body, fieldManager: REPLICAS_MANAGER, force: true };
  return await apiOf(kubernetes, 'Deployment').patch(request, SERVER_SIDE_APPLY);
}

/** Deletes exactly the object with this UID; one that is gone already is fine. */
export async function deleteChild(
  kubernetes: Kubernetes,
  { namespace, name }: MemcachedTarget,
  kind: ChildKind,
  uid: string,
): Promise<void> {
  const body = { preconditions: { uid } };
  await orNull(apiOf(kubernetes, kind).delete({ namespace, name: childName(kind, name), body }));
}

/** The EndpointSlices of the Service of a Memcached, which have its labels: the same ones that the starter watches. */
export async function readEndpointSlices(
  { custom }: Kubernetes,
  { namespace, name }: MemcachedTarget,
): Promise<readonly LiveObject[]> {
  const labelSelector = `${EVERY_CHILD},${SERVICE_NAME}=${name}`;
  const answer: unknown = await custom.listNamespacedCustomObject({ ...ENDPOINT_SLICES, namespace, labelSelector });
  return (answer as { readonly items: readonly LiveObject[] }).items;
}
