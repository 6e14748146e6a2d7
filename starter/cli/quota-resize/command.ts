/** What people ask and tell the episodes of quotas, and what they find out of a quota and of a checkout. */
import { quotaResizeId } from '../../../domain/quota-resize/target.ts';
import { commandDescriptions, commandUpdates, status } from '../../../workflows/quota-resize/messages.ts';
import type { CommandLineController, OperatorCommand } from '../controller.ts';
import { quotaArgument, quotaTargetForm } from '../quota-target.ts';
import { settingsInForce, workersOf } from '../settings-in-force.ts';
import { defineExplain } from './explain/command.ts';
import { addPlanCommand } from './plan.ts';
import { addSourcesCommand } from './sources.ts';
import { statusText } from './status.ts';

const operatorCommands: readonly OperatorCommand[] = [
  {
    name: 'approve',
    update: commandUpdates.approve.name,
    description: commandDescriptions.approve,
    addOptions: (command) => {
      command.option('--head <sha>', 'approve only this head commit of the pull request, the one that you reviewed');
    },
    input: ({ head }) => (head === undefined ? {} : { head }),
    // The client of Kubernetes takes its time to load, which the other commands need not wait for.
    prepare: async ({ loaded, target, workflow, given }) => {
      const { prepareApproval } = await import('./approve.ts');
      const cluster = loaded.config.kubernetes.clusterName;
      return await prepareApproval(loaded, { cluster, ...quotaArgument(target) }, workflow, given);
    },
  },
  { name: 'reject', update: commandUpdates.reject.name, description: commandDescriptions.reject },
  { name: 'reconcile-now', update: commandUpdates.reconcileNow.name, description: commandDescriptions.reconcileNow },
  { name: 'skip-cooldown', update: commandUpdates.skipCooldown.name, description: commandDescriptions.skipCooldown },
];

export const quotaResizeCommands: CommandLineController = {
  target: quotaTargetForm(quotaResizeId),
  status: {
    description: 'show what Headroom is doing about a quota',
    ask: async (workflow, { client, config, sources }) => {
      const answer = await workflow.query(status);
      const inForce = settingsInForce(config, sources, await workersOf(client, config));
      return { json: { ...answer, settings: inForce.settings }, text: statusText(answer, inForce, Date.now()) };
    },
  },
  operatorCommands,
  addCommands: (program, tools) => {
    addSourcesCommand(program, tools);
    addPlanCommand(program, tools);
  },
  explain: defineExplain,
};
