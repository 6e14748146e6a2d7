import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { activityTaskQueue } from '../../domain/kernel/target.ts';

type ActivityFunction = (...args: unknown[]) => Promise<unknown>;
interface Activity extends ActivityFunction {
  executeWithOptions(options: ActivityOptions, args: unknown[]): Promise<unknown>;
}

/**
 * The activities of a controller, on the task queue of its own beside that of the workflow: a backlog of one controller
 * delays no other. The queue is asked for at each call, because it is not known yet where a module is loaded.
 */
export function controllerActivities<Activities extends object>(
  controller: ControllerName,
  options: Omit<ActivityOptions, 'taskQueue'>,
): ActivityInterfaceFor<Activities> {
  const proxies = proxyActivities<Activities>(options);
  return new Proxy(proxies, {
    get(target, name): Activity {
      const activity = Reflect.get(target, name) as Activity;
      const executeWithOptions: Activity['executeWithOptions'] = async (callOptions, args) => {
        const taskQueue = activityTaskQueue(workflowInfo().taskQueue, controller);
        return await activity.executeWithOptions({ ...callOptions, taskQueue }, args);
      };
      return Object.assign(async (...args: unknown[]) => await executeWithOptions({}, args), { executeWithOptions });
    },
  });
}
