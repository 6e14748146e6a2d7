import { nothingToWatch, type StarterController } from '../controller.ts';

/** Whoever asks for a permit starts its workflow. */
export const githubBudgetController: StarterController = nothingToWatch;
