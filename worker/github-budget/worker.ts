import type { Worker } from '@temporalio/worker';
import { githubBudgetTaskQueue } from '../../domain/github-budget/target.ts';
import type { WorkflowEnvironment } from '../controller.ts';

/** A budget for each credential and host, so a handful; one that was not kept is replayed in milliseconds. */
const CACHED_BUDGETS = 10;
/** The fewest that the SDK takes with a cache: one for what is cached and one for what is new. */
const TASKS_AT_ONCE = 2;

/** After how long another worker answers in place of one that was killed, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 2_000;

/**
 * A second worker for workflows: it runs the budgets of writes to GitHub, which clusters share, and no activities, so
 * that no cluster ever runs another's. Every process that writes to GitHub has one: whoever needs the budget runs it.
 */
export async function createGitHubBudgetWorker({ createWorker, ...environment }: WorkflowEnvironment): Promise<Worker> {
  return await createWorker({
    ...environment,
    taskQueue: githubBudgetTaskQueue,
    maxCachedWorkflows: CACHED_BUDGETS,
    maxConcurrentWorkflowTaskExecutions: TASKS_AT_ONCE,
    maxConcurrentWorkflowTaskPolls: TASKS_AT_ONCE,
    workflowThreadPoolSize: 1,
    stickyQueueScheduleToStartTimeout: TAKEN_OVER_AFTER_MS,
  });
}
