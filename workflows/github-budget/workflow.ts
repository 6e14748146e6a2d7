import {
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  metricMeter,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { type Answers, answersKey, isLimited, isQuestions, type Questions } from '../../domain/github-budget/ask.ts';
import * as budget from '../../domain/github-budget/budget.ts';
import { type BudgetLimits, budgetLimits, GITHUB_WRITES } from '../../domain/github-budget/limits.ts';
import { isOver, nextChange, standingOf } from '../../domain/github-budget/standing.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { githubBudgetTarget } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { createPublisher, type Standing } from '../kernel/visibility.ts';
import { type BudgetStatus, limited, pause, permitsAsked, resume, status } from './messages.ts';

export interface GitHubBudgetInput {
  /** Until somebody asks, whose limits hold from then on. Default: GitHub's own. */
  readonly limits?: BudgetLimits;
  /** The state of the run before, through continue-as-new. */
  readonly state?: budget.BudgetState;
  /** Who has answers in the memo, and since when. */
  readonly answered?: Readonly<Record<string, number>>;
  /** What people were shown by the run before. */
  readonly shown?: Standing;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. */
  readonly continueAfterEvents?: number;
}

/**
 * History events after which a run continues as new. Questions are five events, or fewer when several arrive together. Well
 * below the server's limits, and few, because a worker that takes over from another replays them first.
 */
const HISTORY_EVENTS = 2_000;

/** Answers are looked for as long as the asker has patience, which is 15 s; afterwards they are taken away. */
const ANSWERS_KEPT_MS = 30_000;

/** How long one that was started without a message waits for the first, in milliseconds. */
const FIRST_MESSAGE_MS = 60_000;

/** What the search attribute says in place of a cluster: a credential is shared by several. */
const ALL_CLUSTERS = '*';

/**
 * The budget of writes to GitHub of one credential on one host. Its id is the credential's, so that all workers of all
 * clusters ask the same one. It starts with the first question and ends when no permit counts any more.
 */
export async function githubBudget(input: GitHubBudgetInput = {}): Promise<void> {
  const { continueAfterEvents = HISTORY_EVENTS } = input;
  const identity = {
    controller: 'github-budget',
    target: githubBudgetTarget(workflowInfo().workflowId),
    cluster: ALL_CLUSTERS,
  };
  const publish = createPublisher(identity, input.shown);
  const asked = metricMeter.createCounter(
    'headroom_github_permits',
    '1',
    'How often a permit to write to GitHub was asked for, by whether it was granted.',
  );
  const waiting = metricMeter.createGauge(
    'headroom_github_permits_waiting',
    'int',
    '1',
    'How many writes to GitHub wait for a permit.',
  );
  let state =
    input.state === undefined
      ? budget.freshBudget(input.limits ?? budgetLimits(GITHUB_WRITES))
      : budget.upgradeBudget(input.state);
  let heard = input.state !== undefined;
  let inbox: Questions[] = [];
  /** Who has answers in the memo, and since when. */
  let answered = new Map(Object.entries(input.answered ?? {}));
  let standing = show();

  const change = (next: budget.BudgetState): void => {
    state = next;
    heard = true;
    standing = show();
  };
  // All that arrived by now is answered together below, so that the most urgent of all askers goes first.
  setHandler(
    permitsAsked,
    (questions) => {
      if (isQuestions(questions)) inbox.push(questions);
    },
    { description: 'asks for permits to write to GitHub, each for one write' },
  );
  setHandler(
    limited,
    (said) => {
      if (isLimited(said)) change(budget.limit(state, said, Date.now()));
    },
    { description: 'GitHub refused a request for a limit: nobody writes for a while' },
  );
  setHandler(pause, (raw) => change(budget.pause(state, readCommandInput(raw), Date.now())), {
    description: 'stop all writes to GitHub with this credential, in every cluster, until resume',
  });
  setHandler(resume, () => change(budget.resume(state)), { description: 'go on after a pause' });
  setHandler(status, describeBudget);

  // A message that this run was started with is handled first; without one there is nothing to do.
  await condition(() => heard || inbox.length > 0, FIRST_MESSAGE_MS);
  for (;;) {
    const now = Date.now();
    state = budget.settled(state, now);
    answer(now);
    standing = show();
    // Synchronous with the end, so that nobody is granted a permit that the next run does not know of.
    if (isOver(state)) return;
    if (isHistoryLong()) {
      await condition(allHandlersFinished);
      // The next run would begin with the memo that this one began with, and answers would be looked for in vain.
      const continueWithMemo = makeContinueAsNewFunc<typeof githubBudget>({ memo: workflowInfo().memo ?? {} });
      return await continueWithMemo({ ...input, state, shown: standing, answered: Object.fromEntries(answered) });
    }
    const wakeAt = nextChange(state, now);
    const moved = (): boolean => inbox.length > 0 || isHistoryLong() || isOver(state) || isSoonerThan(wakeAt);
    // A change that has become due later is looked at when the old timer fires: that is cheaper than a new timer each time.
    if (wakeAt === null) await condition(moved);
    else await condition(moved, wakeAt - now, { summary: `${standing.phase}, until ${formatInstant(wakeAt)}` });
  }

  /** Answers all questions that wait for it, in one event of the history, and takes answers away that were read long ago. */
  function answer(now: number): void {
    const questions = inbox;
    inbox = [];
    const newest = questions.at(-1);
    if (newest === undefined) return;
    const asks = questions.flatMap((one) => one.asks);
    const [next, answers] = budget.take(state, { asks, limits: newest.limits }, now);
    state = next;
    const memo: Record<string, Answers | null> = {};
    for (const [from, at] of answered) if (now - at > ANSWERS_KEPT_MS) memo[answersKey(from)] = null;
    answered = new Map([...answered].filter(([from]) => memo[answersKey(from)] !== null));
    let begin = 0;
    for (const { from, batch, asks: own } of questions) {
      memo[answersKey(from)] = { batch, answers: answers.slice(begin, begin + own.length) };
      answered.set(from, now);
      begin += own.length;
    }
    upsertMemo(memo);
    for (const { granted } of answers) asked.add(1, { target: identity.target, granted: String(granted) });
  }

  function isSoonerThan(wakeAt: number | null): boolean {
    const next = nextChange(state, Date.now());
    return next !== null && (wakeAt === null || next < wakeAt);
  }

  function isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > continueAfterEvents;
  }

  function show(): Standing {
    const now = Date.now();
    waiting.set(state.queue.length, { target: identity.target });
    return publish(standingOf(state, now), now);
  }

  function describeBudget(): BudgetStatus {
    const now = Date.now();
    const { phase, reason, detail } = standingOf(state, now);
    const used = budget.used(state, now);
    const turns = budget.turns(state, now, state.queue.length);
    return {
      phase,
      reason,
      detail,
      since: formatInstant(standing.since),
      windows: state.limits.windows.map(({ ms, most }, index) => ({
        seconds: ms / 1000,
        most,
        used: used[index] ?? 0,
      })),
      queue: state.queue.map(({ id, urgency, target, cluster, write, since }, index) => ({
        place: index + 1,
        id,
        urgency,
        target,
        cluster,
        write,
        since: formatInstant(since),
        turn: state.paused === null ? formatInstant(turns[index] ?? now) : null,
      })),
    };
  }
}
