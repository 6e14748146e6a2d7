import {
  ActivityCancellationType,
  type ActivityOptions,
  type LocalActivityOptions,
  patched,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { activityTaskQueue } from '../../domain/kernel/target.ts';
import { isCancelled } from './failure.ts';

type ActivityFunction = (...args: never[]) => Promise<unknown>;

/** An activity that is called with a line for people alone, which the Temporal UI shows beside it. */
interface SummarizedActivity<Activity extends ActivityFunction> {
  executeWithOptions(
    options: Pick<ActivityOptions, 'scheduleToCloseTimeout'> & { readonly summary: string },
    args: Parameters<Activity>,
  ): ReturnType<Activity>;
}

export type SummarizedActivities<Activities> = {
  readonly [Name in keyof Activities]: Activities[Name] extends ActivityFunction
    ? SummarizedActivity<Activities[Name]>
    : never;
};

/**
 * Proxies for a controller's activities. They run on a task queue of the controller's own, so that a backlog of one
 * controller delays no other. The queue name is computed at each call because `workflowInfo()` is not available while a
 * module is loaded.
 */
export function controllerActivities<Activities extends object>(
  controller: ControllerName,
  options: Omit<ActivityOptions, 'taskQueue'>,
): SummarizedActivities<Activities> {
  const proxies: object = proxyActivities<Activities>(options);
  const proxy = new Proxy(proxies, {
    get(target, name): SummarizedActivity<ActivityFunction> {
      const activity = Reflect.get(target, name) as {
        readonly executeWithOptions: (options: ActivityOptions, args: never[]) => Promise<unknown>;
      };
      return {
        executeWithOptions: async (callOptions, args) => {
          const taskQueue = activityTaskQueue(workflowInfo().taskQueue, controller);
          return await activity.executeWithOptions({ ...callOptions, taskQueue }, args);
        },
      };
    },
  });
  return proxy as SummarizedActivities<Activities>;
}

/**
 * Limit in milliseconds for an attempt within a workflow task, the waiting for a slot included: half of the 10 s after which the
 * server gives a workflow task to another worker.
 */
const QUICK_MS = 5_000;

const quick: LocalActivityOptions = {
  scheduleToCloseTimeout: QUICK_MS,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { maximumAttempts: 1 },
};

/**
 * Activities that take some requests to the cluster's API server and can be made again at any time. They run within the workflow
 * task, as local activities: one event of the history instead of six. One that is not done at once is made as `activities`
 * makes it, with its retries and where people see that it waits; so every failure that a workflow sees is one of an activity. The worker of workflows has to know them (`quickActivities` of
 * the controller).
 */
export function quickly<Activities extends object, Name extends keyof Activities & string>(
  activities: Pick<SummarizedActivities<Activities>, Name>,
): Pick<SummarizedActivities<Activities>, Name> {
  const proxies: object = proxyLocalActivities<Activities>(quick);
  return new Proxy(activities, {
    get(target, name): SummarizedActivity<ActivityFunction> {
      const later = Reflect.get(target, name) as SummarizedActivity<ActivityFunction>;
      const now = Reflect.get(proxies, name) as SummarizedActivity<ActivityFunction>;
      return {
        executeWithOptions: async (options, args) => {
          if (!patched('quick-steps')) return await later.executeWithOptions(options, args);
          try {
            return await now.executeWithOptions(options, args);
          } catch (error) {
            if (isCancelled(error)) throw error;
            return await later.executeWithOptions(options, args);
          }
        },
      };
    },
  });
}
