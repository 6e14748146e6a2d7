import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { Scaler } from '../../activities/lights-out/read-workload.ts';
import { GROUP, PLURAL, VERSION, type WorkloadType, workloadTypes } from '../../domain/lights-out/schedule/names.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import {
  type Autoscaler,
  type ScopedNamespace,
  type Workload,
  workloadName,
} from '../../domain/lights-out/workload/workload.ts';
import type { Log } from '../../platform/log/log.ts';
import { listPath } from '../kernel/api-get.ts';
import { type Informer, openInformer } from '../kernel/informer.ts';
import { openWhereServed } from '../kernel/where-served.ts';
import { isOtherNamespace, isOtherScaler, isOtherWorkload, scheduleNews } from './attention.ts';
import { type QueuedScheduleRequest, scheduleRequest, workloadsRequest } from './reconcile-request.ts';
import { selectsOtherwise, ScheduleRegistry, type WatchedSchedule } from './schedule-registry.ts';
import { Scalers } from './scalers.ts';
import { type Shaped, shapeNamespace, shapeScaler, shapeSchedule, shapeWorkload } from './shape.ts';
import { Resync } from './resync.ts';
import { WorkloadChanges } from './workload-changes.ts';

export interface ScheduleWatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  readonly protectedNamespaces: readonly string[];
  readonly gitopsManagers: readonly string[];
  /** Every workload is evaluated again after so many milliseconds, in case a reconcile request was lost. */
  readonly resyncMs: number;
  /** How often to check whether the cluster serves autoscalers, in milliseconds; default: a minute. */
  readonly servedMs?: number;
  readonly request: (request: QueuedScheduleRequest) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface ScheduleWatch {
  /** By a name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  readonly registry: ScheduleRegistry;
  /** The names of the existing schedules; null while they are unknown, because the watch is broken or not started. */
  existing(): ReadonlySet<string> | null;
  /** Whether the evaluations are done that a filled cache, a changed selection or the resync requested. */
  isEvaluated(): boolean;
  stop(): Promise<void>;
}

/** Another informer watches namespaces for other annotations. */
const NAMESPACES = 'namespaces (lights-out)';
/** KEDA is installed rarely, and its objects come later. */
const SERVED_MS = 60_000;

/**
 * Watches schedules, namespaces, workloads and their autoscalers, and enqueues a reconcile request for schedules whose
 * workflow has something to do. It uses the domain's evaluation but never decides: the workflow observes everything
 * again. It runs until stopped, and notices a CRD or a permission that is added later.
 */
export function watchSchedules(options: ScheduleWatchOptions): ScheduleWatch {
  const { cluster, request } = options;
  const isKnown = (): boolean => schedules.isSynced() && schedules.staleSeconds() === 0;
  const namespaceOf = (name: string): ScopedNamespace | undefined => namespaces.get(name)?.read;
  const workloadsIn = (namespace?: string): readonly Workload[] =>
    [...workloads.values()].flatMap((informer) => informer.list(namespace).flatMap(({ read }) => read ?? []));
  const enqueueSchedule = (schedule: string, cause: string, resourceVersion: string): void =>
    request(scheduleRequest({ cluster, schedule }, cause, resourceVersion));
  const enqueueWorkloads = ({ name, spec }: WatchedSchedule, cause: string, resourceVersion: string): void =>
    request(workloadsRequest({ cluster, schedule: name }, { cause, resourceVersion, isDryRun: spec?.dryRun === true }));

  const registry = new ScheduleRegistry({
    ...options,
    schedules: () => schedules.list().flatMap(({ read }) => read ?? []),
  });
  const scalers = new Scalers();
  const resync = new Resync({
    evaluators: () => registry.evaluators(Date.now()),
    workloads: () =>
      workloadsIn().flatMap((workload) => {
        const namespace = namespaceOf(workload.namespace);
        return namespace === undefined ? [] : [{ workload: scalers.with(workload), namespace }];
      }),
    // While the watch of schedules is broken, an unknown schedule may exist.
    orphanedBy: ({ workload, namespace }) => (isKnown() ? registry.orphanedBy(workload, namespace) : null),
    onWork: enqueueWorkloads,
    onOrphan: (schedule, workload) =>
      enqueueSchedule(
        schedule,
        `the schedule is gone, and ${workloadName(workload)} has its annotation`,
        workload.resourceVersion,
      ),
    log: options.log,
  });
  const changes = new WorkloadChanges({
    registry,
    scalers,
    namespace: namespaceOf,
    workloadsIn,
    target: ({ kind, namespace, name }) => workloads.get(kind)?.get(name, namespace)?.read,
    request: enqueueWorkloads,
  });
  const wiring: Wiring = { options, registry, scalers, resync, changes, enqueueSchedule, listed: new Set() };

  const schedules = openSchedules(wiring);
  const namespaces = openNamespaces(wiring);
  const workloads = new Map(workloadTypes.map((kind) => [kind, openWorkloads(wiring, kind)] as const));
  const informers = {
    [PLURAL]: schedules,
    [NAMESPACES]: namespaces,
    ...Object.fromEntries(
      [...workloads].map(([kind, informer]) => [WORKLOAD_KINDS[kind].resource.resource, informer] as const),
    ),
    horizontalpodautoscalers: openScalers(wiring, 'HorizontalPodAutoscaler'),
    scaledobjects: openScalers(wiring, 'ScaledObject'),
  };

  const resyncTimer = setInterval(() => resync.request({ except: null }), options.resyncMs);
  return {
    informers,
    registry,
    isEvaluated: () => resync.isDone,
    // A schedule that cannot be parsed still exists.
    existing: () => (isKnown() ? new Set(schedules.list().map(({ metadata }) => metadata?.name ?? '')) : null),
    stop: async () => {
      clearInterval(resyncTimer);
      await resync.stop();
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

/** What the informers share. */
interface Wiring {
  readonly options: ScheduleWatchOptions;
  readonly registry: ScheduleRegistry;
  readonly scalers: Scalers;
  readonly resync: Resync;
  readonly changes: WorkloadChanges;
  readonly enqueueSchedule: (schedule: string, cause: string, resourceVersion: string) => void;
  /** The informers whose cache was filled once. */
  readonly listed: Set<string>;
}

/** Changes while a cache is being filled are evaluated when it is filled. */
function evaluateOnceFilled({ listed, resync }: Wiring, name: string, informer: Informer<KubernetesObject>): void {
  if (listed.has(name) || !informer.isSynced()) return;
  listed.add(name);
  resync.request({ except: null });
}

function openSchedules(wiring: Wiring): Informer<Shaped<WatchedSchedule>> {
  const { options, registry, resync, enqueueSchedule } = wiring;
  const informer = openInformer<Shaped<WatchedSchedule>>(
    options.kubeConfig,
    {
      name: PLURAL,
      path: listPath({ group: GROUP, version: VERSION, resource: PLURAL }),
      shape: shapeSchedule,
      onChange: ({ read: schedule }, last) => {
        registry.changed();
        if (schedule === undefined) return;
        const news = scheduleNews(last?.read, schedule);
        if (news !== null) enqueueSchedule(schedule.name, news, schedule.resourceVersion);
        if (selectsOtherwise(last?.read, schedule)) resync.request({ except: schedule.name });
      },
      onDelete: ({ read: schedule }) => {
        registry.changed();
        if (schedule === undefined) return;
        enqueueSchedule(schedule.name, 'the schedule is gone', schedule.resourceVersion);
        resync.request({ except: schedule.name });
      },
      onState: () => evaluateOnceFilled(wiring, PLURAL, informer),
    },
    options,
  );
  return informer;
}

function openNamespaces(wiring: Wiring): Informer<Shaped<ScopedNamespace>> {
  const { options, listed, changes } = wiring;
  const informer = openInformer<Shaped<ScopedNamespace>>(
    options.kubeConfig,
    {
      name: NAMESPACES,
      path: listPath({ group: '', version: 'v1', resource: 'namespaces' }),
      shape: shapeNamespace,
      onChange: ({ metadata, read: namespace }, last) => {
        if (namespace === undefined || (last?.read !== undefined && !isOtherNamespace(last.read, namespace))) return;
        if (listed.has(NAMESPACES)) changes.namespaceChanged(last?.read, namespace, metadata?.resourceVersion ?? '');
      },
      onDelete: () => {},
      onState: () => evaluateOnceFilled(wiring, NAMESPACES, informer),
    },
    options,
  );
  return informer;
}

function openWorkloads(wiring: Wiring, kind: WorkloadType): Informer<Shaped<Workload>> {
  const { options, listed, changes } = wiring;
  const { resource: served } = WORKLOAD_KINDS[kind];
  const informer = openInformer<Shaped<Workload>>(
    options.kubeConfig,
    {
      name: served.resource,
      path: listPath(served),
      shape: shapeWorkload(kind),
      onChange: ({ read: workload }, last) => {
        if (workload === undefined || (last?.read !== undefined && !isOtherWorkload(last.read, workload))) return;
        if (listed.has(served.resource)) changes.workloadChanged(last?.read, workload);
      },
      onDelete: (_, last) => changes.workloadChanged(last?.read, undefined),
      onState: () => evaluateOnceFilled(wiring, served.resource, informer),
    },
    options,
  );
  return informer;
}

const SCALER_RESOURCES: Readonly<
  Record<Autoscaler['kind'], { readonly group: string; readonly version: string; readonly resource: string }>
> = {
  HorizontalPodAutoscaler: { group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' },
  // KEDA's.
  ScaledObject: { group: 'keda.sh', version: 'v1alpha1', resource: 'scaledobjects' },
};

function openScalers(wiring: Wiring, kind: Autoscaler['kind']): Informer<Shaped<Scaler>> {
  const { options, listed, changes, scalers } = wiring;
  const served = SCALER_RESOURCES[kind];
  const informer = openWhereServed<Shaped<Scaler>>(
    options.kubeConfig,
    {
      ...served,
      shape: shapeScaler(kind),
      onChange: ({ read: scaler }, last) => {
        if (listed.has(served.resource) && isOtherScaler(last?.read, scaler)) changes.scalerChanged(last?.read, scaler);
        else scalers.put(last?.read, scaler);
      },
      onDelete: (_, last) => changes.scalerChanged(last?.read, undefined),
      onState: () => evaluateOnceFilled(wiring, served.resource, informer),
    },
    { everyMs: options.servedMs ?? SERVED_MS, log: options.log, signal: options.signal },
  );
  return informer;
}
