import type { Worker } from '@temporalio/worker';
import { createPauseActivities } from '../activities/kernel/pause-activities.ts';
import { connectKubernetes } from '../activities/kubernetes/kubernetes.ts';
import { type ControllerName, runningControllers } from '../domain/kernel/controllers.ts';
import { activityTaskQueue, taskQueue } from '../domain/kernel/target.ts';
import type { Config } from './config.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../platform/temporal/heartbeat.ts';
import { attemptsBegun } from './attempts-begun.ts';
import { begunFirst } from './begun-first.ts';
import { inputsOf } from './own-cluster.ts';
import type { ControllerContext, WorkerController, WorkerEnvironment, WorkflowEnvironment } from './controller.ts';

/** A Temporal worker of this process, with a name for its readiness and the log. */
export interface NamedWorker {
  readonly name: string;
  readonly worker: Worker;
}

type ControllerActivities = ReadonlyMap<ControllerName, object>;
type Controllers = Readonly<Record<ControllerName, WorkerController>>;

/**
 * The worker that runs the workflows of every controller. All controllers share one: each further one that runs workflows
 * costs a thread and the bundle once more.
 */
export async function createWorkflowWorker(
  cluster: string,
  { worker: limits }: Pick<Config, 'worker'>,
  { createWorker, ...environment }: WorkflowEnvironment,
): Promise<NamedWorker> {
  const worker = await createWorker({
    ...environment,
    taskQueue: taskQueue(cluster),
    maxCachedWorkflows: limits.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: limits.maxConcurrentWorkflowTasks,
  });
  return { name: 'workflow worker', worker };
}

/** The activities of every controller that runs here and has any. */
export function createActivities(controllers: Controllers, context: ControllerContext): ControllerActivities {
  const all = runningControllers(controllers, context.config).map(
    (name) => [name, controllers[name].createActivities(context)] as const,
  );
  const active = all.filter(([, activities]) => Object.keys(activities).length > 0);
  const { kubeConfig, pauses, config } = context;
  const { systemNamespace } = config.kubernetes;
  const pausing = createPauseActivities({ kubernetes: connectKubernetes(kubeConfig), systemNamespace, pauses });
  return new Map(active.map(([name, activities]) => [name, { ...activities, ...pausing }]));
}

/**
 * For each controller that has activities, a worker for them alone, with a task queue and slots of its own: a
 * backlog of one controller delays no other.
 */
export async function createActivityWorkers(
  cluster: string,
  { worker: limits }: Pick<Config, 'worker'>,
  controllerActivities: ControllerActivities,
  { createWorker, ...environment }: WorkerEnvironment,
): Promise<readonly NamedWorker[]> {
  const workers: NamedWorker[] = [];
  // One order of turns for all.
  const begun = begunFirst(limits.maxConcurrentActivities);
  for (const [name, activities] of controllerActivities) {
    const worker = await createWorker({
      ...environment,
      taskQueue: activityTaskQueue(taskQueue(cluster), name),
      activities,
      interceptors: { activity: [attemptsBegun, inputsOf(cluster), begun, heartbeatWhileRunning] },
      // The SDK would hold heartbeats back for most of their timeout.
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
      maxConcurrentActivityTaskExecutions: limits.maxConcurrentActivities,
      // An activity under way may end by itself in this time; then it is cancelled and another worker repeats it.
      shutdownGraceTime: environment.shutdownForceTime / 2,
    });
    workers.push({ name: `activity worker of ${name}`, worker });
  }
  return workers;
}

/** The workers of controllers whose workflows do not belong to one cluster. */
export async function createSharedWorkers(
  controllers: Controllers,
  config: Config,
  environment: WorkflowEnvironment,
): Promise<readonly NamedWorker[]> {
  const workers: NamedWorker[] = [];
  for (const name of runningControllers(controllers, config)) {
    const { createSharedWorker } = controllers[name];
    if (createSharedWorker === undefined) continue;
    workers.push({ name: `worker of ${name}`, worker: await createSharedWorker(environment) });
  }
  return workers;
}
