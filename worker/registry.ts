import type { ControllerName } from '../domain/kernel/controllers.ts';
import type { WorkerController } from './controller.ts';
import { githubBudgetController } from './github-budget/controller.ts';
import { leaseGcController } from './lease-gc/controller.ts';
import { lightsOutController } from './lights-out/controller.ts';
import { memcachedController } from './memcached/controller.ts';
import { nodeGroupController } from './node-group/controller.ts';
import { quotaResizeController } from './quota-resize/controller.ts';
import { quotaUsageController } from './quota-usage/controller.ts';

/** Every controller that the worker runs. A name without a definition does not compile. */
export const controllers: Readonly<Record<ControllerName, WorkerController>> = {
  'quota-resize': quotaResizeController,
  'quota-usage': quotaUsageController,
  'lights-out': lightsOutController,
  memcached: memcachedController,
  'node-group': nodeGroupController,
  'lease-gc': leaseGcController,
  'github-budget': githubBudgetController,
};
