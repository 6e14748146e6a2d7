import type { CommandLineController } from '../controller.ts';

/** A budget is shared by clusters, so no command of one cluster is about it. */
export const githubBudgetCommands: CommandLineController = {
  pausedOtherwise:
    'several clusters share a budget, so it is paused in Temporal: send the signal pause to its workflow, github-budget/<host>/<credential>',
};
