import { nothingToWatch, type StarterController } from '../controller.ts';

/** The first question for a permit starts the workflow. */
export const githubBudgetController: StarterController = nothingToWatch;
