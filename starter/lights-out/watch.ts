import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { Scaler } from '../../activities/lights-out/read-workload.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { GROUP, PLURAL, VERSION, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import type { Evaluation, PlanContext } from '../../domain/lights-out/workload/evaluation.ts';
import { holdsNamespace, isInScope } from '../../domain/lights-out/schedule/scope.ts';
import {
  type Autoscaler,
  type ScopedNamespace,
  type Workload,
  workloadName,
} from '../../domain/lights-out/workload/workload.ts';
import type { Log } from '../../platform/log/log.ts';
import { type Informer, openInformer } from '../kernel/informer.ts';
import {
  attention,
  isOtherNamespace,
  isOtherScaler,
  isOtherWish,
  isOtherWorkload,
  scalerAttention,
  scheduleNews,
} from './attention.ts';
import { type ScheduleQueuedHint, scheduleHint, workloadsHint } from './hint.ts';
import { selectsOtherwise, ScheduleBook, type WatchedSchedule } from './schedule-book.ts';
import { Scalers } from './scalers.ts';
import { type Shaped, shapeNamespace, shapeScaler, shapeSchedule, shapeWorkload } from './shape.ts';
import { Resync } from './resync.ts';
import { openWhereServed } from './where-served.ts';

export interface ScheduleWatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  readonly protectedNamespaces: readonly string[];
  readonly gitopsManagers: readonly string[];
  /** Every workload is evaluated again after this long, in milliseconds, in case a hint was lost. */
  readonly resyncMs: number;
  /** How often it is asked whether the cluster serves autoscalers, in milliseconds; a minute when absent. */
  readonly servedMs?: number;
  readonly hint: (hint: ScheduleQueuedHint) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface ScheduleWatch {
  /** By the name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  readonly book: ScheduleBook;
  /** The names of the schedules that there are; null while the watch of them is broken, or not yet there. */
  known(): ReadonlySet<string> | null;
  /** Whether everything is evaluated that a filled cache, a schedule that selects others, or the resync asked for. */
  isEvaluated(): boolean;
  stop(): Promise<void>;
}

/** There is another watch of them, for other annotations. */
const NAMESPACES = 'namespaces (lights-out)';
/** KEDA is installed once, and its objects come after it. */
const SERVED_MS = 60_000;

/**
 * Watches schedules, namespaces, workloads and their autoscalers in a cluster, and hints at the schedules whose workflow has a
 * reason to look. It evaluates with the domain's own rule and never decides: a workflow looks at everything afresh. It begins at
 * once and goes on until it is stopped; a definition or a right that comes later is found then.
 */
export function watchSchedules(options: ScheduleWatchOptions): ScheduleWatch {
  const { kubeConfig, cluster, hint } = options;
  const isKnown = (): boolean => schedules.isSynced() && schedules.staleSeconds() === 0;
  const book = new ScheduleBook({ ...options, schedules: () => schedules.list().flatMap(({ read }) => read ?? []) });

  const hintSchedule = (schedule: string, cause: string, resourceVersion: string): void =>
    hint(scheduleHint({ cluster, schedule }, cause, resourceVersion));
  const hintWorkloads = ({ name, spec }: WatchedSchedule, cause: string, resourceVersion: string): void =>
    hint(workloadsHint({ cluster, schedule: name }, { cause, resourceVersion, isDryRun: spec?.dryRun === true }));

  const scalers = new Scalers();
  const resync = new Resync({
    evaluators: () => book.evaluators(Date.now()),
    workloads: () =>
      workloads.flatMap((informer) =>
        informer.list().flatMap(({ read: workload }) => {
          const namespace = namespaces.get(workload?.namespace ?? '')?.read;
          return workload === undefined || namespace === undefined
            ? []
            : [{ workload: scalers.with(workload), namespace }];
        }),
      ),
    // One that is not known may be there all the same while its watch is broken.
    orphanedBy: ({ workload, namespace }) => (isKnown() ? book.orphanedBy(workload, namespace) : null),
    onWork: hintWorkloads,
    onOrphan: (schedule, workload) =>
      hintSchedule(
        schedule,
        `the schedule is gone, and ${workloadName(workload)} has its mark`,
        workload.resourceVersion,
      ),
    log: options.log,
  });
  const listed = new Set<string>();
  /** What changed while a cache was filled is evaluated when it is filled. */
  const filled = (name: string, informer: () => Informer<KubernetesObject>): void => {
    if (listed.has(name) || !informer().isSynced()) return;
    listed.add(name);
    resync.request({ except: null });
  };

  function workloadChanged(last: Workload | undefined, now: Workload | undefined): void {
    const [before, after] = [last && scalers.with(last), now && scalers.with(now)];
    const one = after ?? before;
    // Where its namespace is not known yet, the workload is evaluated when that comes.
    const namespace = one === undefined ? undefined : namespaces.get(one.namespace)?.read;
    if (one === undefined || namespace === undefined) return;
    const isWished = after !== undefined && isOtherWish(before, after);
    for (const { schedule, context } of book.evaluators(Date.now())) {
      const news =
        isWished && isInScope(after, namespace, context.spec, context.protectedNamespaces)
          ? 'its annotations changed'
          : attention(
              () => evaluatedBy(context, before, namespace),
              evaluatedBy(context, after, namespace),
              context.spec.dryRun,
            );
      if (news !== null) hintWorkloads(schedule, `${workloadName(one)}: ${news}`, one.resourceVersion);
    }
  }

  /** What an autoscaler scaled before, and scales now, is evaluated with it as it was and as it is. */
  function scalerChanged(before: Scaler | undefined, after: Scaler | undefined): void {
    const were = [before, after].flatMap((one) => {
      const workload = one === undefined ? undefined : targetOf(one);
      return workload === undefined ? [] : [scalers.with(workload)];
    });
    scalers.put(before, after);
    for (const was of new Map(were.map((one) => [one.uid, one])).values()) {
      const namespace = namespaces.get(was.namespace)?.read;
      const is = scalers.with({ ...was, autoscalers: [] });
      for (const { schedule, context } of book.evaluators(Date.now())) {
        const [before, after] = [evaluatedBy(context, was, namespace), evaluatedBy(context, is, namespace)];
        const news = scalerAttention(before, after, context.spec.dryRun);
        if (news === null) continue;
        hintWorkloads(schedule, `an autoscaler of ${workloadName(was)} changed: ${news}`, was.resourceVersion);
      }
    }
  }

  function targetOf({ of: { kind, namespace, name } }: Scaler): Workload | undefined {
    const informer = kind === 'Deployment' ? deployments : kind === 'StatefulSet' ? statefulsets : undefined;
    return informer?.get(name, namespace)?.read;
  }

  function namespaceChanged(
    before: ScopedNamespace | undefined,
    after: ScopedNamespace,
    resourceVersion: string,
  ): void {
    const inside = workloads
      .flatMap((informer) => informer.list(after.name))
      .flatMap(({ read }) => (read === undefined ? [] : [scalers.with(read)]));
    const isWished = isOtherWish(before, after);
    if (inside.length === 0 && !isWished) return;
    for (const { schedule, context } of book.evaluators(Date.now())) {
      if (isWished && holdsNamespace(context.spec, after, context.protectedNamespaces)) {
        hintWorkloads(schedule, `the annotations of the namespace ${after.name} changed`, resourceVersion);
        continue;
      }
      for (const workload of inside) {
        const news = attention(
          () => evaluatedBy(context, workload, before),
          evaluatedBy(context, workload, after),
          context.spec.dryRun,
        );
        if (news === null) continue;
        const cause = `the namespace ${after.name} changed: ${workloadName(workload)}: ${news}`;
        hintWorkloads(schedule, cause, resourceVersion);
        break;
      }
    }
  }

  const { informer: schedules } = openInformer<Shaped<WatchedSchedule>>(
    kubeConfig,
    {
      name: PLURAL,
      path: `/apis/${GROUP}/${VERSION}/${PLURAL}`,
      shape: shapeSchedule,
      onChange: ({ read: schedule }, last) => {
        book.changed();
        if (schedule === undefined) return;
        const news = scheduleNews(last?.read, schedule);
        if (news !== null) hintSchedule(schedule.name, news, schedule.resourceVersion);
        if (selectsOtherwise(last?.read, schedule)) resync.request({ except: schedule.name });
      },
      onDelete: ({ read: schedule }) => {
        book.changed();
        if (schedule === undefined) return;
        hintSchedule(schedule.name, 'the schedule is gone', schedule.resourceVersion);
        resync.request({ except: schedule.name });
      },
      onState: () => filled(PLURAL, () => schedules),
    },
    options,
  );
  const { informer: namespaces } = openInformer<Shaped<ScopedNamespace>>(
    kubeConfig,
    {
      name: NAMESPACES,
      path: '/api/v1/namespaces',
      shape: shapeNamespace,
      onChange: ({ metadata, read: namespace }, last) => {
        if (namespace === undefined || (last?.read !== undefined && !isOtherNamespace(last.read, namespace))) return;
        if (listed.has(NAMESPACES)) namespaceChanged(last?.read, namespace, metadata?.resourceVersion ?? '');
      },
      onDelete: () => {},
      onState: () => filled(NAMESPACES, () => namespaces),
    },
    options,
  );
  const openWorkloads = (kind: WorkloadType, name: string, path: string): Informer<Shaped<Workload>> => {
    const { informer } = openInformer<Shaped<Workload>>(
      kubeConfig,
      {
        name,
        path,
        shape: shapeWorkload(kind),
        onChange: ({ read: workload }, last) => {
          if (workload === undefined || (last?.read !== undefined && !isOtherWorkload(last.read, workload))) return;
          if (listed.has(name)) workloadChanged(last?.read, workload);
        },
        onDelete: (_, last) => workloadChanged(last?.read, undefined),
        onState: () => filled(name, () => informer),
      },
      options,
    );
    return informer;
  };
  const deployments = openWorkloads('Deployment', 'deployments', '/apis/apps/v1/deployments');
  const statefulsets = openWorkloads('StatefulSet', 'statefulsets', '/apis/apps/v1/statefulsets');
  const cronjobs = openWorkloads('CronJob', 'cronjobs', '/apis/batch/v1/cronjobs');
  const workloads = [deployments, statefulsets, cronjobs];
  const openScalers = (kind: Autoscaler['kind'], served: { group: string; version: string; resource: string }) => {
    const { resource } = served;
    const informer: Informer<Shaped<Scaler>> = openWhereServed<Shaped<Scaler>>(
      kubeConfig,
      {
        ...served,
        shape: shapeScaler(kind),
        onChange: ({ read: scaler }, last) => {
          if (listed.has(resource) && isOtherScaler(last?.read, scaler)) scalerChanged(last?.read, scaler);
          else scalers.put(last?.read, scaler);
        },
        onDelete: (_, last) => scalerChanged(last?.read, undefined),
        onState: () => filled(resource, () => informer),
      },
      { everyMs: options.servedMs ?? SERVED_MS, log: options.log, signal: options.signal },
    );
    return informer;
  };
  const horizontalpodautoscalers = openScalers('HorizontalPodAutoscaler', {
    group: 'autoscaling',
    version: 'v2',
    resource: 'horizontalpodautoscalers',
  });
  // KEDA's.
  const scaledobjects = openScalers('ScaledObject', {
    group: 'keda.sh',
    version: 'v1alpha1',
    resource: 'scaledobjects',
  });
  const informers = {
    [PLURAL]: schedules,
    [NAMESPACES]: namespaces,
    deployments,
    statefulsets,
    cronjobs,
    horizontalpodautoscalers,
    scaledobjects,
  };

  const resyncTimer = setInterval(() => resync.request({ except: null }), options.resyncMs);
  return {
    informers,
    book,
    isEvaluated: () => resync.isDone,
    // An object that cannot be read is there all the same.
    known: () => (isKnown() ? new Set(schedules.list().map(({ metadata }) => metadata?.name ?? '')) : null),
    stop: async () => {
      clearInterval(resyncTimer);
      await resync.stop();
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

/** Null where there was, or is, nothing to evaluate. */
function evaluatedBy(
  context: PlanContext,
  workload: Workload | undefined,
  namespace: ScopedNamespace | undefined,
): Evaluation | null {
  return workload === undefined || namespace === undefined ? null : evaluate(workload, namespace, context);
}
