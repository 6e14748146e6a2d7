import { type ActivityInterfaceFor, type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { activityTaskQueue } from '../../domain/kernel/target.ts';

type ActivityFunction = (...args: unknown[]) => Promise<unknown>;
interface Activity extends ActivityFunction {
  executeWithOptions(options: ActivityOptions, args: unknown[]): Promise<unknown>;
}

/**
 * Proxies for a controller's activities. They run on a task queue of the controller's own, so that a backlog of one
 * controller delays no other. The queue name is computed at each call because `workflowInfo()` is not available while a
 * module is loaded.
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
