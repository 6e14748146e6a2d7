import { isDeepStrictEqual } from 'node:util';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { ClusterView } from '../../activities/lights-out/observe-schedule.ts';
import { Owners } from '../../activities/lights-out/owners.ts';
import { isOwnersKey, missingTargets, type Scaler } from '../../activities/lights-out/read-scaler.ts';
import type { KeptMemory } from '../../activities/lights-out/scaling-memory.ts';
import type { Calendar, Calendars } from '../../domain/lights-out/schedule/calendar.ts';
import {
  CALENDAR,
  GROUP,
  PLURAL,
  VERSION,
  type WorkloadType,
  workloadTypes,
} from '../../domain/lights-out/schedule/names.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import {
  type Autoscaler,
  type ScopedNamespace,
  type Workload,
  workloadName,
} from '../../domain/lights-out/workload/workload.ts';
import type { Log } from '../../platform/log/log.ts';
import { listPath } from '../../activities/kubernetes/api-get.ts';
import { type Informer, type InformerOptions, openInformer } from '../../activities/kubernetes/informer.ts';
import { openWhereServed } from '../kernel/where-served.ts';
import { isOtherNamespace, isOtherScaler, isOtherWorkload, isUnobserved, scheduleNews } from './attention.ts';
import { orphanRequest, type QueuedScheduleRequest, scheduleRequest, workloadsRequest } from './reconcile-request.ts';
import { selectsOtherwise, ScheduleRegistry, type WatchedSchedule } from './schedule-registry.ts';
import { Scalers } from './scalers.ts';
import { type Shaped, shapeCalendar, shapeNamespace, shapeScaler, shapeSchedule, shapeWorkload } from './shape.ts';
import { openOwners, type OwnerWatchOptions } from './owner-watch.ts';
import { Resync } from './resync.ts';
import { WorkloadChanges } from './workload-changes.ts';

export interface ScheduleWatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  /** Where the calendars are. */
  readonly systemNamespace: string;
  readonly protectedNamespaces: readonly string[];
  readonly gitopsManagers: readonly string[];
  /** Definitions of the owners whose number is set in place of that of their workloads; default: none. */
  readonly scaledOwners?: readonly string[];
  /** Every workload is evaluated again after so many milliseconds, in case a reconcile request was lost. */
  readonly resyncMs: number;
  /** How often to check whether the cluster serves autoscalers, in milliseconds; default: a minute. */
  readonly servedMs?: number;
  readonly request: (request: QueuedScheduleRequest) => void;
  /** The memory of a schedule, read now. */
  readonly memory: (schedule: string, scheduleUid: string) => Promise<KeptMemory>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface ScheduleWatch {
  /** By a name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  readonly registry: ScheduleRegistry;
  /** The names of the existing schedules; null while they are unknown, because the watch is broken or not started. */
  existing(): ReadonlySet<string> | null;
  /** The calendars that the caches hold. */
  calendars(): Calendars;
  /** What the caches hold, for an observation of this schedule. */
  view(schedule: string): ClusterView;
  /** Why the caches may lack something, in words; null while all of them are connected. */
  trouble(): string | null;
  /** Whether the evaluations are done that a filled cache, a changed selection or the resync requested. */
  isEvaluated(): boolean;
  stop(): Promise<void>;
}

/** Another informer watches namespaces for other annotations. */
const NAMESPACES = 'namespaces (lights-out)';
/** ConfigMaps are watched for other reasons, too. */
const CALENDARS = 'configmaps (calendars)';
/** KEDA is installed rarely, and its objects come later. */
const SERVED_MS = 60_000;

/**
 * Watches schedules, namespaces, workloads and their autoscalers, and enqueues a reconcile request for schedules whose
 * workflow has something to do. It uses the domain's evaluation but never decides: the workflow observes everything
 * again. It runs until stopped, and notices a CRD or a permission that is added later.
 */
export function watchSchedules(options: ScheduleWatchOptions): ScheduleWatch {
  const { enqueueSchedule, enqueueWorkloads, enqueueOrphan } = requestsOf(options);
  const isKnown = (): boolean => schedules.isSynced() && schedules.staleSeconds() === 0;
  const namespaceOf = (name: string): ScopedNamespace | undefined => namespaces.get(name)?.read;
  const workloadsIn = (namespace?: string): readonly Workload[] =>
    [...workloads.values()].flatMap((informer) => informer.list(namespace).flatMap(({ read }) => read ?? []));
  const calendarsNow = (): Calendars => calendarsIn(calendars);
  const registry = new ScheduleRegistry({
    ...options,
    schedules: () => schedules.list().flatMap(({ read }) => read ?? []),
    calendars: calendarsNow,
  });
  const owners = new Owners();
  const scalers = new Scalers(owners, workloadsIn);
  const resync = new Resync({
    ...options,
    evaluators: () => registry.evaluators(Date.now()),
    workloads: () =>
      workloadsIn().flatMap((workload) => {
        const namespace = namespaceOf(workload.namespace);
        return namespace === undefined ? [] : [{ workload: scalers.with(workload), namespace }];
      }),
    // While the watch of schedules is broken, an unknown schedule may exist.
    orphanedBy: ({ workload, namespace }) => (isKnown() ? registry.orphanedBy(workload, namespace) : null),
    // A change of a calendar while no starter was there.
    onBegin: () => enqueueOtherCalendars(wiring, 'it has observed other calendars'),
    onWork: enqueueWorkloads,
    onOrphan: enqueueOrphan,
  });
  const changes = new WorkloadChanges({
    registry,
    scalers,
    namespace: namespaceOf,
    workloadsIn,
    targets: (scaler) =>
      targetsOf(scaler, workloadsIn, (of) => workloads.get(of.kind)?.get(of.name, of.namespace)?.read),
    request: enqueueWorkloads,
  });
  const wiring: Wiring = { options, registry, scalers, resync, changes, enqueueSchedule, listed: new Set() };

  const schedules = openSchedules(wiring);
  const calendars = openCalendars(wiring);
  const namespaces = openNamespaces(wiring);
  const workloads = new Map(workloadTypes.map((kind) => [kind, openWorkloads(wiring, kind)] as const));
  const held = [openScalers(wiring, 'HorizontalPodAutoscaler'), openScalers(wiring, 'ScaledObject')] as const;
  const informers = {
    [PLURAL]: schedules,
    [CALENDARS]: calendars,
    [NAMESPACES]: namespaces,
    ...Object.fromEntries(
      [...workloads].map(([kind, informer]) => [WORKLOAD_KINDS[kind].resource.resource, informer] as const),
    ),
    horizontalpodautoscalers: held[0],
    scaledobjects: held[1],
    ...openAllOwners(wiring, { owners, workloadsIn }),
  };

  const resyncTimer = setInterval(() => resync.request({ except: null }), options.resyncMs);
  return {
    informers,
    registry,
    isEvaluated: () => resync.isDone,
    // A schedule that cannot be parsed still exists.
    existing: () => (isKnown() ? new Set(schedules.list().map(({ metadata }) => metadata?.name ?? '')) : null),
    calendars: calendarsNow,
    view: (schedule) => ({
      others: registry.othersThan(schedule),
      namespaces: namespaces.list().flatMap(({ read }) => read ?? []),
      workloads: workloadsIn().map((workload) => scalers.with(workload)),
      missing: missingIn(held, ({ kind, namespace, name }) => workloads.get(kind)?.get(name, namespace)),
      owners,
    }),
    trouble: () => troubleOf(informers),
    stop: async () => {
      clearInterval(resyncTimer);
      await resync.stop();
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

function requestsOf({ cluster, request }: ScheduleWatchOptions) {
  return {
    enqueueSchedule: (schedule: string, cause: string, resourceVersion: string): void =>
      request(scheduleRequest({ cluster, schedule }, cause, resourceVersion)),
    enqueueWorkloads: ({ name, spec }: WatchedSchedule, cause: string, resourceVersion: string): void =>
      request(
        workloadsRequest({ cluster, schedule: name }, { cause, resourceVersion, isDryRun: spec?.dryRun === true }),
      ),
    enqueueOrphan: (schedule: string, workload: Workload): void => {
      const cause = `the schedule is gone, and ${workloadName(workload)} has its annotation`;
      request(orphanRequest({ cluster, schedule }, cause, workload.resourceVersion));
    },
  };
}

/** Once the calendars are known. */
function enqueueOtherCalendars({ registry, listed, enqueueSchedule }: Wiring, cause: string): void {
  if (!listed.has(CALENDARS)) return;
  for (const { name, resourceVersion } of registry.withOtherCalendars(Date.now())) {
    enqueueSchedule(name, cause, resourceVersion);
  }
}

function calendarsIn(informer: Informer<Shaped<Calendar>>): Calendars {
  const all = informer.list();
  return new Map(all.flatMap(({ metadata, read }) => (read === undefined ? [] : [[metadata?.name ?? '', read]])));
}

/** The targets of annotated autoscalers that are not there. */
function missingIn(
  scalers: readonly Informer<Shaped<Scaler>>[],
  target: (of: NonNullable<Scaler['of']>) => unknown,
): readonly Workload[] {
  const all = scalers.flatMap((informer) => informer.list().flatMap(({ read }) => read ?? []));
  return missingTargets(
    [],
    all.filter(({ of }) => of !== null && target(of) === undefined),
  );
}

/** The workloads that an autoscaler scales: one by itself, or those of an owner. */
function targetsOf(
  { of, namespace, target }: Scaler,
  workloadsIn: (namespace: string) => readonly Workload[],
  find: (of: NonNullable<Scaler['of']>) => Workload | undefined,
): readonly Workload[] {
  if (of === null) return workloadsIn(namespace).filter((workload) => isOwnersKey(workload, target));
  const workload = find(of);
  return workload === undefined ? [] : [workload];
}

function troubleOf(informers: ScheduleWatch['informers']): string | null {
  const found = Object.entries(informers).find(([, informer]) => !informer.isSynced() || informer.staleSeconds() > 0);
  return found === undefined ? null : `the watch of ${found[0]} is not connected`;
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

/** By the names of their definitions. */
function openAllOwners(
  wiring: Wiring,
  { owners, workloadsIn }: Pick<OwnerWatchOptions, 'owners' | 'workloadsIn'>,
): Readonly<Record<string, Informer<KubernetesObject>>> {
  const { options, listed, changes } = wiring;
  const opened = (options.scaledOwners ?? []).map((definition) => {
    const informer = openOwners({
      kubeConfig: options.kubeConfig,
      definition,
      owners,
      changes,
      workloadsIn,
      everyMs: options.servedMs ?? SERVED_MS,
      onState: () => evaluateOnceFilled(wiring, definition, informer),
      isListed: () => listed.has(definition),
      log: options.log,
      signal: options.signal,
    });
    return [definition, informer] as const;
  });
  return Object.fromEntries(opened);
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
        // While the cache is being filled, whoever has nothing to do is not woken: the evaluation that follows wakes the
        // others, and who has no workflow gets one.
        const isFirst = last === undefined && !wiring.listed.has(PLURAL);
        if (news !== null && (!isFirst || isUnobserved(schedule)))
          enqueueSchedule(schedule.name, news, schedule.resourceVersion);
        // What one that was there selects no more, another may have to take over, also one that was asked a moment ago.
        if (!selectsOtherwise(last?.read, schedule)) return;
        if (last?.read === undefined) resync.request({ except: schedule.name });
        else resync.request({ except: null, before: last.read.seenByOthers });
      },
      onDelete: ({ read: schedule }) => {
        registry.changed();
        if (schedule === undefined) return;
        enqueueSchedule(schedule.name, 'the schedule is gone', schedule.resourceVersion);
        resync.request({ except: null, before: schedule.seenByOthers });
      },
      onState: () => evaluateOnceFilled(wiring, PLURAL, informer),
    },
    options,
  );
  return informer;
}

function openCalendars(wiring: Wiring): Informer<Shaped<Calendar>> {
  const { options, registry } = wiring;
  const changed = ({ metadata }: Shaped<Calendar>): void => {
    registry.calendarsChanged();
    enqueueOtherCalendars(wiring, `the calendar ${metadata?.name ?? ''} changed`);
  };
  const informer = openInformer<Shaped<Calendar>>(
    options.kubeConfig,
    {
      name: CALENDARS,
      path: listPath({ group: '', version: 'v1', resource: 'configmaps' }, options.systemNamespace),
      labelSelector: CALENDAR,
      shape: shapeCalendar,
      onChange: (calendar, last) => {
        if (!isDeepStrictEqual(last?.read, calendar.read)) changed(calendar);
      },
      onDelete: changed,
      onState: () => evaluateOnceFilled(wiring, CALENDARS, informer),
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
  const { resource: served, isOptional } = WORKLOAD_KINDS[kind];
  const watched: Omit<InformerOptions<Shaped<Workload>>, 'name' | 'path'> = {
    shape: shapeWorkload(kind),
    onChange: ({ read: workload }, last) => {
      if (workload === undefined || (last?.read !== undefined && !isOtherWorkload(last.read, workload))) return;
      if (listed.has(served.resource)) changes.workloadChanged(last?.read, workload);
    },
    onDelete: (_, last) => changes.workloadChanged(last?.read, undefined),
    onState: () => evaluateOnceFilled(wiring, served.resource, informer),
  };
  const informer = isOptional
    ? openWhereServed(
        options.kubeConfig,
        { ...watched, ...served },
        { everyMs: options.servedMs ?? SERVED_MS, log: options.log, signal: options.signal },
      )
    : openInformer(options.kubeConfig, { ...watched, name: served.resource, path: listPath(served) }, options);
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
