import type { Worker } from '@temporalio/worker';
import { githubBudgetTaskQueue } from '../../domain/github-budget/target.ts';
import type { WorkflowEnvironment } from '../controller.ts';

/** There is one budget per credential and host, so a handful; an evicted one is replayed in milliseconds. */
const CACHED_BUDGETS = 10;
/** The SDK's minimum with a cache: one for cached and one for new workflows. */
const TASKS_AT_ONCE = 2;

/** Milliseconds after which another worker takes over from a killed one. */
const TAKEN_OVER_AFTER_MS = 2_000;

/**
 * A separate worker for the write budgets, which clusters share. It runs no activities, so that no cluster ever runs
 * another's. Every process that writes to GitHub has one.
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
