import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { CancelledFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import {
  type Answer,
  type Answers,
  answersKey,
  type Ask,
  ASKED,
  LIMITED,
  type Limited,
  type Questions,
} from '../../../domain/github-budget/ask.ts';
import type { BudgetLimits } from '../../../domain/github-budget/limits.ts';
import { githubBudgetId, githubBudgetTaskQueue } from '../../../domain/github-budget/target.ts';
import { formatSpan } from '../../../domain/kernel/time.ts';
import type { WritePermits, PermitAsk } from '../write-permits.ts';
import { inBatches } from '../../kernel/batch.ts';
import { unlessCancelled } from '../../kernel/cancellation.ts';
import { failure } from '../../kernel/failure.ts';

export interface GitHubPermitsOptions {
  readonly client: Client;
  /** GitHub's host: `api.github.com`. */
  readonly host: string;
  /** Identifies the credential of the writes without revealing it. */
  readonly credentialId: string;
  readonly limits: BudgetLimits;
  readonly log: Logger;
}

/** An answer, and when its question was sent. */
interface Sent {
  readonly at: number;
  readonly answer: Answer;
}

type BudgetWorkflow = (input: { readonly limits: BudgetLimits }) => Promise<void>;

/** The name of the workflow type in `workflows/github-budget`. */
const WORKFLOW_TYPE = 'githubBudget';

/**
 * Milliseconds after which another worker takes over the workflow task of a killed worker; a task normally takes about
 * ten.
 */
const TASK_MS = 5_000;
/** How long to wait for an answer of the budget workflow, in milliseconds: enough for two lost tasks. */
const ANSWER_MS = 15_000;
/** First delay in milliseconds before reading the answers; it doubles each time. */
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;
/** Wait at most so many milliseconds inside the activity: a retry of the activity would repeat its GitHub reads. */
const PATIENCE_MS = 5_000;
/** Timers may fire up to a millisecond early, which would cost another question. */
const TOO_EARLY_MS = 2;
/** Retry delay in milliseconds after the budget workflow gave no answer. */
const NO_ANSWER_RETRY_MS = 5_000;

/**
 * Permits for the writes of one credential, from the workflow that all workers with the credential ask.
 *
 * A permit is for one write, which must begin at once. Its validity is measured in this process, from before the
 * question was sent. The grant cannot be older, so no two clocks are compared; if the answer comes too late, a new
 * permit is asked for.
 */
export function createGitHubPermits(options: GitHubPermitsOptions): WritePermits {
  const { limits, log } = options;
  const budget = new BudgetWorkflowClient(options);
  return {
    acquire: async (wanted) => await acquirePermit(budget, wanted, { limits, log }),
    limited: async (waitMs, words) => await budget.limited(waitMs, words),
  };
}

/** Asks until a permit is granted in time, or until waiting in the activity is no longer worthwhile. */
async function acquirePermit(
  budget: BudgetWorkflowClient,
  wanted: PermitAsk,
  { limits, log }: Pick<GitHubPermitsOptions, 'limits' | 'log'>,
): Promise<void> {
  const { workflowId } = budget;
  const question: Ask = { ...wanted, call: randomUUID() };
  let patience = PATIENCE_MS;
  for (;;) {
    const { at, answer } = await budget.answerTo(question);
    if (answer.granted) {
      const late = performance.now() - at;
      if (late <= limits.takenWithinMs) return;
      log.debug({ budget: workflowId, write: wanted.write, ms: late }, 'a GitHub permit came too late to be used');
      patience -= late;
      if (patience <= 0) {
        throw failure({
          type: 'WriteBudgetSpent',
          message: `no GitHub permit: the answers of ${workflowId} take ${formatSpan(late)}, longer than a permit is good for`,
          nextRetryDelayMs: NO_ANSWER_RETRY_MS,
        });
      }
    } else if (answer.waitMs > patience) {
      throw failure({
        type: 'WriteBudgetSpent',
        message: waitMessage(answer, workflowId),
        nextRetryDelayMs: answer.waitMs,
        benign: true,
      });
    } else {
      patience -= answer.waitMs;
      await unlessCancelled(async () => await sleep(answer.waitMs + TOO_EARLY_MS));
    }
  }
}

/** Sends questions to a budget's workflow, which is started if necessary, and reads the answers. */
class BudgetWorkflowClient {
  readonly workflowId: string;
  readonly #options: GitHubPermitsOptions;
  /** Identifies this process's answers in the memo. Short, because the server warns about memos above 2 KB. */
  readonly #from = randomUUID().slice(0, 8);
  #batches = 0;
  /** One signal at a time, with all questions that have accumulated. */
  readonly #ask = inBatches<Ask, Sent>(async (asks) => await this.#askAll(asks));

  constructor(options: GitHubPermitsOptions) {
    this.#options = options;
    this.workflowId = githubBudgetId(options);
  }

  /** @throws {ApplicationFailure} WriteBudgetSpent when there is no answer in time. */
  async answerTo(question: Ask): Promise<Sent> {
    try {
      return await unlessCancelled(async () => await this.#ask(question));
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      throw failure({
        type: 'WriteBudgetSpent',
        message: `no GitHub permit: ${this.workflowId} on the task queue ${githubBudgetTaskQueue} gives no answer: ${reasonOf(error)}`,
        nextRetryDelayMs: NO_ANSWER_RETRY_MS,
        ...(error instanceof Error ? { cause: error } : {}),
      });
    }
  }

  /** Reports to the budget that GitHub rate-limits this credential. */
  async limited(waitMs: number, words: string): Promise<void> {
    const { client, log } = this.#options;
    try {
      await client.withDeadline(Date.now() + ANSWER_MS, async () => await this.#signal(LIMITED, { waitMs, words }));
    } catch (error) {
      // Only logged: the caller is about to report the rate limit itself, and other writers will be rate-limited too.
      log.warn(
        { budget: this.workflowId, waitMs, error: reasonOf(error) },
        'could not tell the others that GitHub limits',
      );
    }
  }

  async #askAll(asks: readonly Ask[]): Promise<readonly Sent[]> {
    const { client, limits } = this.#options;
    const at = performance.now();
    const batch = (this.#batches += 1);
    const answers = await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      await this.#signal(ASKED, { from: this.#from, batch, asks, limits });
      return await this.#answersTo(batch, at + ANSWER_MS);
    });
    return answers.map((answer) => ({ at, answer }));
  }

  async #signal(signal: string, argument: Questions | Limited): Promise<void> {
    const { client, limits } = this.#options;
    await client.workflow.signalWithStart<BudgetWorkflow, [Questions | Limited]>(WORKFLOW_TYPE, {
      workflowId: this.workflowId,
      taskQueue: githubBudgetTaskQueue,
      workflowTaskTimeout: TASK_MS,
      args: [{ limits }],
      signal,
      signalArgs: [argument],
    });
  }

  /** Reads the answers from the memo, which needs no worker and adds nothing to the history. */
  async #answersTo(batch: number, giveUpAt: number): Promise<readonly Answer[]> {
    const handle = this.#options.client.workflow.getHandle(this.workflowId);
    for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_POLL_MS)) {
      await sleep(pauseMs);
      const { memo } = await handle.describe();
      const found = memo?.[answersKey(this.#from)] as Answers | undefined;
      if (found?.batch === batch) return found.answers;
      if (performance.now() > giveUpAt) throw new Error(`no answer within ${formatSpan(ANSWER_MS)}`);
    }
  }
}

function waitMessage(
  { position, of, waitMs, because }: Extract<Answer, { granted: false }>,
  workflowId: string,
): string {
  const why = because === undefined ? '' : `: ${because}`;
  return `waits for a GitHub permit: place ${position} of ${of} (${workflowId})${why}; asks again in ${formatSpan(waitMs)}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
