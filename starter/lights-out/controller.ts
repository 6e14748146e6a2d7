import { lightsOutAwaits } from '../../domain/lights-out/awaited.ts';
import { memoryOf } from '../../activities/lights-out/scale.ts';
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { activityTaskQueue, cacheTaskQueue } from '../../domain/kernel/target.ts';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { protectedNamespaces } from '../../domain/lights-out/protected-namespaces.ts';
import { webhookTrials } from '../admission/webhook-trial.ts';
import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import { createApiGet } from '../../activities/kubernetes/api-get.ts';
import { keepRunning } from '../kernel/keep-running.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { scheduleAdmission } from './admission.ts';
import {
  createScheduleRequestSender,
  type QueuedScheduleRequest,
  scheduleRequest,
  startRequest,
} from './reconcile-request.ts';
import { Foresight } from './foresight.ts';
import { registerScheduleMetrics } from './metrics.ts';
import { scheduleOverview } from './overview.ts';
import { createCachedObservation } from './observation.ts';
import { type ScheduleWatch, type ScheduleWatchOptions, watchSchedules } from './watch.ts';
import { lightsOutAccess } from './access.ts';

export const lightsOutController: StarterController = {
  isEnabled: ({ lightsOut }) => lightsOut.enabled,
  access: lightsOutAccess,
  writeTrials: ({ lightsOut }) => webhookTrials('headroom-lights-out', lightsOut),
  start,
};

/** An observation waits for a cache that is behind for a moment, and is computed in milliseconds. */
const WORKERS = 20;
/** Two changes of a schedule in this span are one reconcile request, in milliseconds. */
const SCHEDULE_GAP_MS = 1_000;

/**
 * Watches the schedules of the cluster and what they select, wakes their workflows, and has admission webhooks where an
 * address is configured for them.
 */
function start(context: StarterContext): RunningController {
  const { headroom, kubeConfig, client, metrics, outlooks, pauseOf } = context;
  const { config, cluster, log, signal, onStop } = headroom;
  const queue = startWorkQueue<QueuedScheduleRequest>(context, 'lights-out reconcile requests', {
    send: createScheduleRequestSender(client, log),
    kindOf: ({ about }) => about,
    gapMs: SCHEDULE_GAP_MS,
  });

  const { systemNamespace } = config.kubernetes;
  const kubernetes = connectKubernetes(kubeConfig);
  const memory: ScheduleWatchOptions['memory'] = async (schedule, scheduleUid) =>
    await memoryOf({ kubernetes, systemNamespace }, schedule, scheduleUid).all();
  const watch = watchSchedules({
    kubeConfig,
    cluster,
    systemNamespace,
    protectedNamespaces: protectedNamespaces(config),
    gitopsManagers: config.lightsOut.gitopsManagers,
    scaledOwners: config.lightsOut.scaledOwners ?? [],
    resyncMs: config.starter.resyncInterval,
    request: (request) => queue.add(request),
    memory,
    log,
    signal,
  });
  const foresight = new Foresight({
    registry: watch.registry,
    watch,
    outlooks,
    get: createApiGet(kubeConfig),
    memory,
    pauseOf,
    log,
  });
  onStop('lights-out watches', async () => {
    await foresight.stop();
    await watch.stop();
  });
  const kept = keepRunning({
    client,
    cluster,
    workflowType: 'lightsOut',
    idPrefix: lightsOutId({ cluster, schedule: '' }),
    subjects: 'schedules',
    seen: () => watch.registry.all,
    existing: () => watch.existing(),
    onMissing: ({ name: schedule, resourceVersion }) =>
      queue.add(startRequest({ cluster, schedule }, 'its workflow does not run', resourceVersion)),
    onGone: (schedule) => queue.add(scheduleRequest({ cluster, schedule }, 'the schedule is gone', '')),
    everyMs: config.starter.resyncInterval,
    log,
    signal,
  });
  onStop('lights-out workflows', async () => await kept);
  registerScheduleMetrics(metrics, watch.registry);
  hostObservations(context, { watch, kubernetes, memory }).catch((error: unknown) => {
    if (!signal.aborted) headroom.stop('the host of the observations of schedules failed', error);
  });
  return {
    informers: watch.informers,
    workflows: { noun: 'schedule', statusCommand: 'kubectl headroom lights-out status', awaits: lightsOutAwaits },
    overview: scheduleOverview(cluster, watch.registry),
    admission: scheduleAdmission(config, () =>
      watch.registry.all.flatMap(({ name, spec }) => (spec === null ? [] : [{ name, spec }])),
    ),
  };
}

/** Answers the observations of the workflows from the caches. */
async function hostObservations(
  { headroom, pauses, cacheHost }: StarterContext,
  {
    watch,
    kubernetes,
    memory,
  }: Pick<ScheduleWatchOptions, 'memory'> & { readonly watch: ScheduleWatch; readonly kubernetes: Kubernetes },
): Promise<void> {
  const { config, cluster } = headroom;
  const { gitopsManagers, retryMin, retryMax, contestedMin, contestedMax } = config.lightsOut;
  const activities = createCachedObservation({
    cluster,
    watch,
    kubernetes,
    memory,
    pausesFor: pauses.around,
    protectedNamespaces: protectedNamespaces(config),
    gitopsManagers,
    timings: { retryMin, retryMax, contestedMin, contestedMax },
    now: Date.now,
  });
  const taskQueue = activityTaskQueue(cacheTaskQueue(cluster), 'lights-out');
  await cacheHost.run({ taskQueue, activities, workers: WORKERS }, 'observations of schedules');
}
