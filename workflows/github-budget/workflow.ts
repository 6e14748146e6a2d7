import { makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { budgetAwaits } from '../../domain/github-budget/awaited.ts';
import { isLimited, isQuestions } from '../../domain/github-budget/ask.ts';
import { freshBudget, readBudget } from '../../domain/github-budget/budget.ts';
import { type BudgetLimits, budgetLimits, GITHUB_WRITES } from '../../domain/github-budget/limits.ts';
import { summaryOf } from '../../domain/github-budget/summary.ts';
import { githubBudgetTarget } from '../../domain/github-budget/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { type Carried, ControllerRun, readCarried } from '../kernel/controller-run.ts';
import { budgetCommands, limited, permitsAsked, status } from './messages.ts';
import { type BudgetMemory, type BudgetRun, Permits } from './permits.ts';

export interface GitHubBudgetInput {
  /** The limits that hold until the first question arrives, which brings its own. Default: GitHub's limits. */
  readonly limits?: BudgetLimits;
  /** State of the previous run, through continue-as-new. */
  readonly carried?: Carried<BudgetMemory>;
  /** Overrides `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

/**
 * History events after which a run continues as new. A question costs five events, or fewer when several arrive
 * together. The number is far below the server's limits because a worker that takes over replays the whole history
 * first.
 */
const HISTORY_EVENTS = 2_000;

/** How long a workflow that was started without a message waits for the first message, in milliseconds. */
const FIRST_MESSAGE_MS = 60_000;

/** Value of the cluster search attribute: a credential is shared by several clusters. */
const ALL_CLUSTERS = '*';

/**
 * The budget of writes to GitHub for one credential on one host. The workflow id is derived from the credential, so
 * that all workers of all clusters ask the same workflow. The workflow starts with the first question and ends when no
 * permit counts against the limits any more.
 */
export async function githubBudget(input: GitHubBudgetInput = {}): Promise<void> {
  const target = githubBudgetTarget(workflowInfo().workflowId);
  const carried = readCarried(input.carried);
  const run = createRun(target, input, carried);
  const permits = new Permits(target, run);
  handleMessages(run, permits);

  // The signal that started this run is served first; without a signal there is nothing to do.
  if (carried === undefined) {
    await run.wait({ until: Date.now() + FIRST_MESSAGE_MS, summary: 'wait for the first request for a permit' });
  }
  for (;;) {
    run.beginPass();
    permits.answer();
    // No await between this check and the return: otherwise a permit could be granted that the next run does not know
    // of.
    if (permits.isOver) return;
    if (run.isHistoryLong) return await next();
    const until = permits.nextChange;
    const when = until === null ? '' : `, until ${formatInstant(until)}`;
    await run.wait({ until, summary: `${run.status.phase}${when}`, isOver: () => permits.isOver });
  }

  async function next(): Promise<void> {
    await run.handlersFinished();
    // Without the current memo the next run would begin with the memo of this run's start, and the asking workers would
    // not find their answers.
    const continueWithMemo = makeContinueAsNewFunc<typeof githubBudget>({ memo: workflowInfo().memo ?? {} });
    await continueWithMemo({ ...input, carried: run.carry() });
  }
}

function createRun(
  target: string,
  { limits = budgetLimits(GITHUB_WRITES), continueAfterEvents = HISTORY_EVENTS }: GitHubBudgetInput,
  carried: Carried<BudgetMemory> | undefined,
): BudgetRun {
  const state = carried === undefined ? freshBudget(limits) : readBudget(carried.memory.state);
  return new ControllerRun<BudgetRun['status'], BudgetMemory>({
    identity: { controller: 'github-budget', target, cluster: ALL_CLUSTERS },
    awaits: budgetAwaits,
    carried,
    memory: { state, answered: carried?.memory.answered ?? {} },
    startedAs: null,
    first: summaryOf(state, Date.now()),
    historyEvents: continueAfterEvents,
  });
}

function handleMessages(run: BudgetRun, permits: Permits): void {
  // Questions are collected and answered together in the next pass, so that the most urgent write of all of them goes
  // first.
  setHandler(
    permitsAsked,
    (questions) => {
      if (isQuestions(questions)) permits.ask(questions);
    },
    { description: 'asks for permits to write to GitHub, each for one write' },
  );
  setHandler(
    limited,
    (raw) => {
      if (isLimited(raw)) permits.limit(raw);
    },
    { description: 'GitHub answered with a rate limit: nobody writes until it ends' },
  );
  setHandler(status, () => permits.status);
  run.handleCommands(budgetCommands, (name, raw) => permits.evaluate(name, raw));
}
