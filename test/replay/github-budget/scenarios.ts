/** Budgets of writes to GitHub, to be recorded: they need Temporal and a worker, and nothing else. */
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { createGitHubPermits } from '../../../activities/forge/github/budget-permits.ts';
import type { PermitAsk, WritePermits } from '../../../activities/forge/write-permits.ts';
import type { BudgetLimits } from '../../../domain/github-budget/limits.ts';
import { type WritePriority, writePriorities } from '../../../domain/github-budget/write-priority.ts';
import { githubBudgetId, githubBudgetTaskQueue } from '../../../domain/github-budget/target.ts';
import { budgetCommands } from '../../../workflows/github-budget/messages.ts';
import type { githubBudget } from '../../../workflows/github-budget/workflow.ts';
import { persist } from '../../github-budget/budget-servers.ts';
import { withRepository } from '../platforms.ts';
import { type Scenario, type Stage, stage } from '../stages.ts';

const HOST = 'github.example';
/** Two in three seconds: the whole life of a budget in a few of them. */
const LIMITS: BudgetLimits = { windows: [{ ms: 1_000, most: 2 }], validMs: 2_000, takenWithinMs: 1_000 };

interface Servers {
  readonly client: Client;
}

function permitsOf({ client }: Servers, credentialId: string): WritePermits {
  return createGitHubPermits({ client, host: HOST, credentialId, limits: LIMITS, log: pino({ enabled: false }) });
}

function ask(id: string, priority: WritePriority): PermitAsk {
  return { id, priority, target: 'team-a/compute', cluster: 'test', write: 'open pull request' };
}

const together: Readonly<Record<string, Scenario<Servers>>> = {
  lived: async (servers, name) => {
    const handle = servers.client.workflow.getHandle<typeof githubBudget>(
      githubBudgetId({ host: HOST, credentialId: name }),
    );
    const permits = permitsOf(servers, name);
    await Promise.all(writePriorities.map(async (priority) => await persist(permits, ask(priority, priority))));
    const { runId } = await handle.describe();
    await permits.limited(1_000, 'You have exceeded a secondary rate limit');
    await persist(permits, ask('after the limit', 'demand'));
    await handle.signal(budgetCommands.signals.pause, { by: 'alice', reason: 'an incident' });
    await permits.acquire(ask('in the pause', 'approved')).catch(() => {});
    await handle.executeUpdate(budgetCommands.updates.resume, { args: [{ by: 'alice' }] });
    await persist(permits, ask('in the pause', 'approved'));
    await handle.result();
    return { workflowId: handle.workflowId, runId };
  },

  continued: async (servers, name) => {
    const handle = await servers.client.workflow.start<typeof githubBudget>('githubBudget', {
      workflowId: githubBudgetId({ host: HOST, credentialId: name }),
      taskQueue: githubBudgetTaskQueue,
      args: [{ limits: LIMITS, continueAfterEvents: 20 }],
    });
    const permits = permitsOf(servers, name);
    for (const round of ['a', 'b', 'c']) {
      await Promise.all(
        writePriorities.map(async (priority) => await persist(permits, ask(`${round} ${priority}`, priority))),
      );
    }
    await servers.client.workflow.getHandle(handle.workflowId).result();
    return { workflowId: handle.workflowId, runId: handle.firstExecutionRunId };
  },
};

export const stages: readonly Stage[] = [stage(withRepository, { together })];
