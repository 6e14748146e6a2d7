import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asyncLocalStorage } from '@temporalio/activity';
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
import { failure } from '../../kernel/failure.ts';

export interface GitHubPermitsOptions {
  readonly client: Client;
  /** Of GitHub: `api.github.com`. */
  readonly host: string;
  /** Names the credential that the writes are made with, and gives nothing of it away. */
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

/** After how long another worker takes the task of one that was killed over it, in milliseconds; a task takes some ten. */
const TASK_MS = 5_000;
/** How long the budget may take to answer, in milliseconds: as long as two tasks that were lost. */
const ANSWER_MS = 15_000;
/** The answers are looked for after so many milliseconds, and then after twice as many each time. */
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 250;
/** Up to so many milliseconds are waited here: the activity would ask GitHub again for all that it knows by now. */
const PATIENCE_MS = 5_000;
/** Timers fire up to a millisecond early, which would cost another question. */
const TOO_EARLY_MS = 2;
/** After how long a budget that did not answer is asked again, in milliseconds. */
const NO_ANSWER_RETRY_MS = 5_000;

/**
 * The permits of one credential, from the workflow that all workers with this credential ask.
 *
 * A permit is good for one write, which must begin at once. Its time is measured here, from before the question was sent:
 * the grant cannot have been earlier, so no two clocks are compared, and an answer that comes too late is asked for again.
 */
export function createGitHubPermits(options: GitHubPermitsOptions): WritePermits {
  const { limits, log } = options;
  const budget = new BudgetWorkflowClient(options);
  return {
    acquire: async (wanted) => await takePermit(budget, wanted, { limits, log }),
    limited: async (waitMs, words) => await budget.limited(waitMs, words),
  };
}

/** Asks until a permit is granted in time, for as long as it is worth it to wait here. */
async function takePermit(
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
      await unlessCancelled(sleep(answer.waitMs + TOO_EARLY_MS), workflowId);
    }
  }
}

/** Sends questions to the workflow of a budget, which it starts where there is none, and finds the answers. */
class BudgetWorkflowClient {
  readonly workflowId: string;
  readonly #options: GitHubPermitsOptions;
  /** Tells the answers to this process from those to others. Short, because the server warns of a memo of more than 2 KB. */
  readonly #from = randomUUID().slice(0, 8);
  #batches = 0;
  /** One signal at a time, with all the questions that there are by then. */
  readonly #ask = inBatches<Ask, Sent>(async (asks) => await this.#askAll(asks));

  constructor(options: GitHubPermitsOptions) {
    this.#options = options;
    this.workflowId = githubBudgetId(options);
  }

  /** @throws {ApplicationFailure} WriteBudgetSpent when there is no answer in time. */
  async answerTo(question: Ask): Promise<Sent> {
    try {
      return await unlessCancelled(this.#ask(question), this.workflowId);
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

  /** Tells the budget that GitHub limits this credential. */
  async limited(waitMs: number, words: string): Promise<void> {
    const { client, log } = this.#options;
    try {
      await client.withDeadline(Date.now() + ANSWER_MS, async () => await this.#signal(LIMITED, { waitMs, words }));
    } catch (error) {
      // Whoever calls is about to report GitHub's refusal, which matters more; the others will be refused, too.
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

  /** Looks for the answers in the memo, which needs no worker and adds nothing to the history. */
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

/** @throws {CancelledFailure} as soon as nobody wants the activity any more. */
async function unlessCancelled<T>(answer: Promise<T>, workflowId: string): Promise<T> {
  const signal = asyncLocalStorage.getStore()?.cancellationSignal;
  if (signal === undefined) return await answer;
  const cancelled = Promise.withResolvers<never>();
  const onAbort = (): void => cancelled.reject(new CancelledFailure(`waiting for ${workflowId} was cancelled`));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer, cancelled.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
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
