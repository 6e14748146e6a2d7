/** Reduces cached objects to what an evaluation needs, so that ten thousand workloads take little memory. */
import type { KubernetesObject, V1ConfigMap, V2HorizontalPodAutoscaler } from '@kubernetes/client-node';
import { horizontalScalerOf, kedaScalerOf, type Scaler } from '../../activities/lights-out/read-scaler.ts';
import { namespaceOf, withDates, WORKLOAD_READERS } from '../../activities/lights-out/read-workload.ts';
import { otherSchedule } from '../../activities/lights-out/read-schedule-object.ts';
import { type Calendar, readCalendar } from '../../domain/lights-out/schedule/calendar.ts';
import { GROUP, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import type { Autoscaler, ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { WatchedSchedule } from './schedule-registry.ts';

/** A cached object: its identity for the cache, and the data read from it. */
export interface Shaped<T> extends KubernetesObject {
  readonly read?: T;
}

const SCALER_READERS: Readonly<Record<Autoscaler['kind'], (object: KubernetesObject) => Scaler | null>> = {
  HorizontalPodAutoscaler: (object) => horizontalScalerOf(object as V2HorizontalPodAutoscaler),
  ScaledObject: kedaScalerOf,
};

/** Caches workloads of a kind; their autoscalers are in separate caches. */
export function shapeWorkload(kind: WorkloadType): (object: KubernetesObject) => Shaped<Workload> {
  return (object) => shaped(object, { ...WORKLOAD_READERS[kind](withDates(object)), autoscalers: [] });
}

/** Caches autoscalers of a kind; one without a suitable target by its name only. */
export function shapeScaler(kind: Autoscaler['kind']): (object: KubernetesObject) => Shaped<Scaler> {
  return (object) => shaped(object, SCALER_READERS[kind](object) ?? undefined);
}

export function shapeNamespace(object: KubernetesObject): Shaped<ScopedNamespace> {
  return shaped(object, namespaceOf(withDates(object)));
}

/** Caches what a calendar says. */
export function shapeCalendar(object: KubernetesObject): Shaped<Calendar> {
  const { data = {} }: V1ConfigMap = object;
  return shaped(object, readCalendar(object.metadata?.name ?? '', data));
}

/** A schedule is cached completely: there are few, and the managed fields tell who wrote its annotations. */
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

export function shaped<T>({ metadata }: KubernetesObject, read: T | undefined): Shaped<T> {
  const { name = '', namespace, uid = '', resourceVersion = '' } = metadata ?? {};
  return {
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion },
    ...(read === undefined ? {} : { read }),
  };
}
