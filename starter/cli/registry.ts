import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { CommandLineController } from './controller.ts';
import { githubBudgetCommands } from './github-budget/command.ts';
import { leaseGcCommands } from './lease-gc/command.ts';
import { lightsOutCommands } from './lights-out/command.ts';
import { memcachedCommands } from './memcached/command.ts';
import { nodeGroupCommands } from './node-group/command.ts';
import { quotaResizeCommands } from './quota-resize/command.ts';
import { quotaUsageCommands } from './quota-usage/command.ts';

/** What every controller brings to the command line. A name without a definition does not compile. */
export const controllers: Readonly<Record<ControllerName, CommandLineController>> = {
  'quota-resize': quotaResizeCommands,
  'quota-usage': quotaUsageCommands,
  'lights-out': lightsOutCommands,
  memcached: memcachedCommands,
  'node-group': nodeGroupCommands,
  'lease-gc': leaseGcCommands,
  'github-budget': githubBudgetCommands,
};
