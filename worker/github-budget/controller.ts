import type { WorkerController } from '../controller.ts';
import { createGitHubBudgetWorker } from './worker.ts';

/** Its workflow has no activities: it only answers questions. Every process that writes to GitHub runs it. */
export const githubBudgetController: WorkerController = {
  workflowTypes: ['githubBudget'],
  access: [],
  isEnabled: ({ github }) => github !== undefined,
  createActivities: () => ({}),
  createSharedWorker: createGitHubBudgetWorker,
};
