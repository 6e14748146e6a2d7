/** What the caches keep of an object: as much as an evaluation needs, so that ten thousand workloads stay small. */
import type { KubernetesObject, V1ObjectMeta, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import {
  horizontalScalerOf,
  kedaScalerOf,
  namespaceOf,
  type Scaler,
  WORKLOAD_READERS,
} from '../../activities/lights-out/read-workload.ts';
import { otherSchedule } from '../../activities/lights-out/read-schedule-object.ts';
import { GROUP, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import type { Autoscaler, ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { WatchedSchedule } from './schedule-registry.ts';

/** A cached object: what identifies it, for the cache itself, and what was read from it. */
export interface Shaped<T> extends KubernetesObject {
  readonly read?: T;
}

const SCALER_READERS: Readonly<Record<Autoscaler['kind'], (object: KubernetesObject) => Scaler | null>> = {
  HorizontalPodAutoscaler: (object) => horizontalScalerOf(object as V2HorizontalPodAutoscaler),
  ScaledObject: kedaScalerOf,
};

/** How workloads of a kind are cached. Their autoscalers are objects of their own, in caches of their own. */
export function shapeWorkload(kind: WorkloadType): (object: KubernetesObject) => Shaped<Workload> {
  return (object) => shaped(object, { ...WORKLOAD_READERS[kind](withDates(object)), autoscalers: [] });
}

/** How autoscalers of a kind are cached; one that scales no workload of a schedule by its name alone. */
export function shapeScaler(kind: Autoscaler['kind']): (object: KubernetesObject) => Shaped<Scaler> {
  return (object) => shaped(object, SCALER_READERS[kind](object) ?? undefined);
}

export function shapeNamespace(object: KubernetesObject): Shaped<ScopedNamespace> {
  return shaped(object, namespaceOf(withDates(object)));
}

/** A schedule is kept as it is: there are few, and who wrote its annotations when is in its managed fields. */
export function shapeSchedule(object: KubernetesObject): Shaped<WatchedSchedule> {
  const {
    name = '',
    uid = '',
    resourceVersion = '',
    generation = 0,
    deletionTimestamp,
    annotations,
  } = object.metadata ?? {};
  const { spec, status } = readSchedule(object);
  return shaped(object, {
    name,
    uid,
    resourceVersion,
    generation,
    isDeleting: deletionTimestamp !== undefined,
    annotations: Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => key.startsWith(`${GROUP}/`))),
    spec,
    status,
    seenByOthers: otherSchedule(object),
    object,
  });
}

function shaped<T>({ metadata }: KubernetesObject, read: T | undefined): Shaped<T> {
  const { name = '', namespace, uid = '', resourceVersion = '' } = metadata ?? {};
  return {
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion },
    ...(read === undefined ? {} : { read }),
  };
}

/** A list or a watch gives a moment as the text that was sent; those who read objects know it as the client has it. */
function withDates(object: KubernetesObject): KubernetesObject {
  const metadata: V1ObjectMeta = object.metadata ?? {};
  if (metadata.creationTimestamp === undefined) return object;
  return {
    ...object,
    metadata: Object.assign({}, metadata, { creationTimestamp: new Date(metadata.creationTimestamp) }),
  };
}
