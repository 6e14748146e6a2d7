/** `headroom usage [<namespace>[/<quota>]]`: how full quotas are, what uses them, what waits, and whether they are right. */
import type { Command } from 'commander';
import { quotaUsageId } from '../../../domain/quota-usage/target.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import type { CommandLineController, CommandTools } from '../controller.ts';
import { quotaTargetForm } from '../quota-target.ts';
import { type UsageArgument, usageArgument } from './argument.ts';

interface UsageFlags {
  readonly allResources?: boolean;
  readonly diff?: boolean;
}

export const quotaUsageCommands: CommandLineController = {
  target: quotaTargetForm(quotaUsageId),
  addCommands: addUsageCommand,
};

function addUsageCommand(program: Command, tools: CommandTools): void {
  const usage = program
    .command('usage')
    .description('how full quotas are, what uses them, and what waits for room; it only reads')
    .argument('[namespace[/quota]]', 'a namespace, or one ResourceQuota of it; without it all quotas', usageArgument)
    .option('--all-resources', 'without an argument: every limit of each quota, not the fullest alone')
    .option(
      '--diff',
      'count everything anew and show only where the status of a quota is wrong; ends with 1 if one is',
    );
  usage.action(async (argument: UsageArgument | undefined, options: UsageFlags) => {
    if (options.diff === true && options.allResources === true) {
      usage.error('error: --diff shows every limit that differs: leave out --all-resources', {
        exitCode: exitCodes.configuration,
      });
    }
    if (options.allResources === true && argument !== undefined) {
      usage.error('error: of a namespace or a quota every limit is shown: leave out --all-resources', {
        exitCode: exitCodes.configuration,
      });
    }
    await tools.run(async (loaded) => {
      // The client of Kubernetes takes its time to load, which the other commands need not wait for.
      const { answerUsage } = await import('./answer.ts');
      await answerUsage(loaded, argument ?? null, options, tools);
    });
  });
}
