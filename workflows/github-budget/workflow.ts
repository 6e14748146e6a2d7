import { makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { isLimited, isQuestions } from '../../domain/github-budget/ask.ts';
import { freshBudget, upgradeBudget } from '../../domain/github-budget/budget.ts';
import { type BudgetLimits, budgetLimits, GITHUB_WRITES } from '../../domain/github-budget/limits.ts';
import { summaryOf } from '../../domain/github-budget/summary.ts';
import { githubBudgetTarget } from '../../domain/github-budget/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { type Carried, ControllerRun, upgradeCarried } from '../kernel/controller-run.ts';
import { budgetCommands, limited, permitsAsked, status } from './messages.ts';
import { type BudgetMemory, type BudgetRun, Permits } from './permits.ts';

export interface GitHubBudgetInput {
  /** Until somebody asks, whose limits hold from then on. Default: GitHub's own. */
  readonly limits?: BudgetLimits;
  /** Of the run before, through continue-as-new. */
  readonly carried?: Carried<BudgetMemory>;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

/**
 * History events after which a run continues as new. Questions are five events, or fewer when several arrive together. Well
 * below the server's limits, and few, because a worker that takes over from another replays them first.
 */
const HISTORY_EVENTS = 2_000;

/** How long one that was started without a message waits for the first, in milliseconds. */
const FIRST_MESSAGE_MS = 60_000;

/** What the search attribute says in place of a cluster: a credential is shared by several. */
const ALL_CLUSTERS = '*';

/**
 * The budget of writes to GitHub of one credential on one host. Its id is the credential's, so that all workers of all
 * clusters ask the same one. It starts with the first question and ends when no permit counts any more.
 */
export async function githubBudget(input: GitHubBudgetInput = {}): Promise<void> {
  const target = githubBudgetTarget(workflowInfo().workflowId);
  const carried = upgradeCarried(input.carried);
  const run = createRun(target, input, carried);
  const permits = new Permits(target, run);
  handleMessages(run, permits);

  // A message that this run was started with is served first; without one there is nothing to do.
  if (carried === undefined) {
    await run.wait({ until: Date.now() + FIRST_MESSAGE_MS, summary: 'waiting for the first question' });
  }
  for (;;) {
    run.beginPass();
    permits.answer();
    // Synchronous with the end, so that nobody is granted a permit that the next run does not know of.
    if (permits.isOver) return;
    if (run.isHistoryLong) return await next();
    const until = permits.nextChange;
    const when = until === null ? '' : `, until ${formatInstant(until)}`;
    await run.wait({ until, summary: `${run.status.phase}${when}`, isOver: () => permits.isOver });
  }

  async function next(): Promise<void> {
    await run.handlersFinished();
    // The next run would begin with the memo that this one began with, and answers would be looked for in vain.
    const continueWithMemo = makeContinueAsNewFunc<typeof githubBudget>({ memo: workflowInfo().memo ?? {} });
    await continueWithMemo({ ...input, carried: run.carry() });
  }
}

function createRun(
  target: string,
  { limits = budgetLimits(GITHUB_WRITES), continueAfterEvents = HISTORY_EVENTS }: GitHubBudgetInput,
  carried: Carried<BudgetMemory> | undefined,
): BudgetRun {
  const state = carried === undefined ? freshBudget(limits) : upgradeBudget(carried.memory.state);
  return new ControllerRun<BudgetRun['status'], BudgetMemory>({
    identity: { controller: 'github-budget', target, cluster: ALL_CLUSTERS },
    carried,
    memory: { state, answered: carried?.memory.answered ?? {} },
    startedAs: null,
    first: summaryOf(state, Date.now()),
    historyEvents: continueAfterEvents,
    facts: ({ facts }) => facts,
  });
}

function handleMessages(run: BudgetRun, permits: Permits): void {
  // All that arrived by now is answered together in the next pass, so that the most urgent of all askers goes first.
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
    { description: 'GitHub refused a request for a limit: nobody writes for a while' },
  );
  setHandler(status, () => permits.status);
  run.handleCommands(budgetCommands, (name, raw) => permits.evaluate(name, raw));
}
