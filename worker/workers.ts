import type { ActivityInterceptorsFactory, Worker } from '@temporalio/worker';
import { notYet } from '../activities/kernel/not-yet.ts';
import { createPauseActivities } from '../activities/kernel/pause-activities.ts';
import { connectKubernetes } from '../activities/kubernetes/kubernetes.ts';
import { type ControllerName, runningControllers } from '../domain/kernel/controllers.ts';
import { activityTaskQueue, taskQueue } from '../domain/kernel/target.ts';
import type { Config } from './config.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../platform/temporal/heartbeat.ts';
import { begunFirst } from './begun-first.ts';
import { inputsOf } from './own-cluster.ts';
import type { ControllerContext, WorkerController, WorkerEnvironment, WorkflowEnvironment } from './controller.ts';

/** A Temporal worker of this process, with a name for its readiness and the log. */
export interface NamedWorker {
  readonly name: string;
  readonly worker: Worker;
}

type ActivityInterceptors = ActivityInterceptorsFactory[];
type ControllerActivities = ReadonlyMap<ControllerName, object>;
type Controllers = Readonly<Record<ControllerName, WorkerController>>;

/**
 * The worker that runs the workflows of every controller. All controllers share one: each further one that runs workflows
 * costs a thread and the bundle once more.
 */
export async function createWorkflowWorker(
  cluster: string,
  { worker: limits }: Pick<Config, 'worker'>,
  { quick, interceptors }: { readonly quick: object; readonly interceptors: ActivityInterceptors },
  { createWorker, ...environment }: WorkflowEnvironment,
): Promise<NamedWorker> {
  const worker = await createWorker({
    ...environment,
    taskQueue: taskQueue(cluster),
    maxCachedWorkflows: limits.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: limits.maxConcurrentWorkflowTasks,
    // Local ones alone: nobody is to have activities run here by a task queue.
    activities: quick,
    enableNonLocalActivities: false,
    interceptors: { activity: interceptors },
  });
  return { name: 'workflow worker', worker };
}

/** What is around every activity, in whichever worker: one order of turns for all. */
export function activityInterceptors(cluster: string, { worker }: Pick<Config, 'worker'>): ActivityInterceptors {
  return [inputsOf(cluster), begunFirst(worker.maxConcurrentActivities)];
}

/**
 * Those that workflows call within their tasks, of the controllers that run here. Workflows of all controllers come to every worker:
 * what this process does not run fails at once, and is done as an activity by one that does.
 */
export function quickActivities(controllers: Controllers, active: ControllerActivities): object {
  const named = [...active].flatMap(([name, activities]) => {
    const quick = controllers[name].quickActivities ?? [];
    return Object.entries(activities).filter(([activity]) => quick.includes(activity));
  });
  const notHere = async (): Promise<never> =>
    await Promise.reject(notYet('this process does not run the controller that it belongs to', 0));
  // The SDK's name for whatever has no function. Without any, it would leave local activities waiting.
  return { ...Object.fromEntries(named), default: notHere };
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
  interceptors: ActivityInterceptors,
  { createWorker, ...environment }: WorkerEnvironment,
): Promise<readonly NamedWorker[]> {
  const workers: NamedWorker[] = [];
  for (const [name, activities] of controllerActivities) {
    const worker = await createWorker({
      ...environment,
      taskQueue: activityTaskQueue(taskQueue(cluster), name),
      activities,
      interceptors: { activity: [...interceptors, heartbeatWhileRunning] },
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
