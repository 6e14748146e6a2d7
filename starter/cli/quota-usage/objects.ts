/** The objects that quotas count, read from the API when they are asked for, each resource once. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { type ListPage, listAll } from '../../../activities/kubernetes/list.ts';
import { type GroupResource, groupResourceName } from '../../../domain/kernel/group-resource.ts';
import type { ObjectsOf } from '../../../domain/quota-usage/calculate.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import type { Monitored } from '../../../domain/quota-usage/monitors.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import { type ApiGet, listPath, listPlainPages } from '../../../activities/kubernetes/api-get.ts';
import { shapeOf } from '../../quota-usage/shape.ts';

/** Lists at the same time, so that one look is no burst on the API server. */
const LISTS_AT_ONCE = 4;

type Listed = { readonly objects: readonly KubernetesObject[] } | { readonly unavailable: string };

const NONE: readonly KubernetesObject[] = [];

/** The resources of a cluster that can be listed. */
export interface Countable {
  readonly resources: readonly Monitored[];
  /** Groups (`metrics.k8s.io`) that did not say what they have. */
  readonly silentGroups: ReadonlySet<string>;
  readonly deviceClasses: DeviceClasses;
}

/** What was read of the cluster, or of one namespace. */
export class CountedObjects {
  readonly #get: ApiGet;
  readonly #countable: Countable;
  readonly #byName: ReadonlyMap<string, Monitored>;
  readonly #namespace: string | null;
  readonly #keep: 'whole' | 'counted';
  readonly #read = new Map<string, Promise<Listed>>();
  readonly #byNamespace = new Map<string, ReadonlyMap<string, readonly KubernetesObject[]> | string>();

  /**
   * @param namespace null for all of them.
   * @param keep all that is sent of an object, or what quotas count of it: of a whole cluster the rest is too much.
   */
  constructor(get: ApiGet, countable: Countable, namespace: string | null, keep: 'whole' | 'counted') {
    this.#get = get;
    this.#countable = countable;
    this.#byName = new Map(countable.resources.map((resource) => [groupResourceName(resource), resource]));
    this.#namespace = namespace;
    this.#keep = keep;
  }

  /** Reads these resources, as far as that was not done yet. */
  async read(resources: readonly GroupResource[]): Promise<void> {
    const wanted = new Map(resources.map((resource) => [groupResourceName(resource), resource]));
    wanted.delete(groupResourceName(DEVICE_CLASSES));
    await inParallel(LISTS_AT_ONCE, [...wanted], async ([name, resource]) => {
      const reading = this.#read.get(name) ?? this.#list(name, resource);
      this.#read.set(name, reading);
      const listed = await reading;
      if (this.#byNamespace.has(name)) return;
      this.#byNamespace.set(
        name,
        'unavailable' in listed
          ? listed.unavailable
          : Map.groupBy(listed.objects, ({ metadata }) => metadata?.namespace ?? ''),
      );
    });
  }

  /**
   * What was read of one namespace. A resource that was not is unavailable.
   *
   * @param without the UIDs of objects that are left out.
   */
  of(namespace: string, without: ReadonlySet<string> = new Set()): (resource: GroupResource) => Listed {
    return (resource) => {
      const name = groupResourceName(resource);
      if (name === groupResourceName(DEVICE_CLASSES)) {
        const { deviceClasses } = this.#countable;
        return 'unavailable' in deviceClasses ? deviceClasses : { objects: NONE };
      }
      const read = this.#byNamespace.get(name) ?? `${name} were not read`;
      if (typeof read === 'string') return { unavailable: read };
      const objects = read.get(namespace) ?? NONE;
      return { objects: objects.filter(({ metadata }) => !without.has(metadata?.uid ?? '')) };
    };
  }

  async #list(name: string, { group }: GroupResource): Promise<Listed> {
    const resource = this.#byName.get(name);
    if (resource === undefined) {
      const isSilent = this.#countable.silentGroups.has(group);
      return isSilent ? { unavailable: `the API group ${group} does not answer` } : { objects: NONE };
    }
    try {
      return { objects: await listAll(this.#pages(resource)) };
    } catch (error) {
      const code = statusCode(error);
      if (code === 403) return { unavailable: `you may not list ${name}` };
      // The CustomResourceDefinition was deleted meanwhile, and its objects with it.
      if (code === 404) return { objects: NONE };
      throw error;
    }
  }

  #pages(resource: Monitored): ListPage<KubernetesObject> {
    const { metadataOnly, shape } = shapeOf(resource);
    const path = listPath(resource, this.#namespace);
    const whole = listPlainPages<KubernetesObject>(this.#get, { path, metadataOnly });
    if (this.#keep === 'whole') return whole;
    return async (range) => {
      const page = await whole(range);
      return { ...page, items: page.items.map(shape) };
    };
  }
}

const DEVICE_CLASSES: GroupResource = { group: 'resource.k8s.io', resource: 'deviceclasses' };

/** What charges depend on besides the objects, for one namespace. */
export function contextOf(
  objectsOf: ObjectsOf,
  deviceClasses: UsageContext['deviceClasses'],
  now: number,
): UsageContext {
  const pods = objectsOf({ group: '', resource: 'pods' });
  const byName = new Map(
    ('objects' in pods ? pods.objects : []).map((pod) => [pod.metadata?.name ?? '', pod as Pod] as const),
  );
  return { now, deviceClasses, podNamed: (name) => byName.get(name) };
}

/** A DeviceClass as far as quotas know it. */
type DeviceClass = KubernetesObject & { readonly spec?: { readonly extendedResourceName?: string } };

/** The device classes of the cluster, or why they are not known. */
export type DeviceClasses =
  | { readonly byName: UsageContext['deviceClasses'] }
  | { readonly byName: UsageContext['deviceClasses']; readonly unavailable: string };

/** The extended resource that each device class stands for, where one of these limits may be about devices. */
export async function readDeviceClasses(
  get: ApiGet,
  countable: readonly Monitored[],
  limits: readonly string[],
): Promise<DeviceClasses> {
  const byName = new Map<string, string | null>();
  const claims = countable.find((resource) => groupResourceName(resource) === 'resourceclaims.resource.k8s.io');
  // Devices are limited by `<class>.deviceclass.resource.k8s.io/devices` or by `requests.<extended resource>`.
  if (claims === undefined || !limits.some((name) => name.includes('/'))) return { byName };
  const path = listPath({ ...DEVICE_CLASSES, version: claims.version });
  try {
    for (const deviceClass of await listAll(listPlainPages<DeviceClass>(get, { path, metadataOnly: false }))) {
      byName.set(deviceClass.metadata?.name ?? '', deviceClass.spec?.extendedResourceName ?? null);
    }
    return { byName };
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return { byName, unavailable: `you may not list ${groupResourceName(DEVICE_CLASSES)}` };
  }
}
