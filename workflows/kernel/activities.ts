import { type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { activityTaskQueue } from '../../domain/kernel/target.ts';

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
