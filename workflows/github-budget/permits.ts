import { upsertMemo } from '@temporalio/workflow';
import { type Answers, answersKey, type Limited, type Questions } from '../../domain/github-budget/ask.ts';
import * as budget from '../../domain/github-budget/budget.ts';
import { githubBudgetMetrics } from '../../domain/github-budget/metrics.ts';
import { type BudgetSummary, isOver, nextChange, summaryOf } from '../../domain/github-budget/summary.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import type { CommandAnswer } from '../kernel/commands.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { count, setGauge } from '../kernel/metrics.ts';
import type { BudgetCommand, BudgetStatus } from './messages.ts';

/** State that one run passes to the next through continue-as-new. */
export interface BudgetMemory {
  readonly state: budget.BudgetState;
  /** Which workers have answers in the memo, and when each answer was written. */
  readonly answered: Readonly<Record<string, EpochMs>>;
}

export type BudgetRun = ControllerRun<BudgetSummary, BudgetMemory>;

/** Workers look for an answer for 15 s; after 30 s nobody reads it and it is removed from the memo. */
const ANSWERS_KEPT_MS = 30_000;

/** The permits of one budget: who asked for one, who got one, and the status that people are shown. */
export class Permits {
  readonly #target: string;
  readonly #run: BudgetRun;
  /** Questions that no pass has answered yet. */
  #inbox: Questions[] = [];

  constructor(target: string, run: BudgetRun) {
    this.#target = target;
    this.#run = run;
  }

  /** Whether the workflow can end because its state affects no future write. */
  get isOver(): boolean {
    return this.#inbox.length === 0 && isOver(this.#state);
  }

  /** When the state next changes without a message; null when only a message changes it. */
  get nextChange(): EpochMs | null {
    return nextChange(this.#state, Date.now());
  }

  ask(questions: Questions): void {
    this.#inbox.push(questions);
    this.#run.requests.add('immediate');
  }

  limit(limited: Limited): void {
    this.#remember(budget.limit(this.#state, limited, Date.now()));
    this.#run.requests.add('immediate');
  }

  /** Evaluates an operator command without applying it. Pure. */
  evaluate(name: BudgetCommand, raw: unknown): CommandAnswer<BudgetMemory> {
    const { by, reason } = readCommandInput(raw);
    const { paused } = this.#state;
    const accepted = (state: budget.BudgetState, message: string): CommandAnswer<BudgetMemory> => ({
      kind: 'accepted',
      message,
      memory: { ...this.#run.memory, state },
    });
    if (name === 'pause') {
      return paused === null
        ? accepted(
            budget.pause(this.#state, { by, reason }, Date.now()),
            `paused by ${by}: nothing is written to GitHub with this credential until resume`,
          )
        : { kind: 'rejected', message: `already paused by ${paused.by} since ${formatInstant(paused.at)}` };
    }
    return paused === null
      ? { kind: 'rejected', message: 'not paused, so there is nothing to resume' }
      : accepted(budget.resume(this.#state), `resumed by ${by}`);
  }

  /**
   * Answers all waiting questions with one history event, removes old answers from the memo, and publishes the new
   * status.
   */
  answer(): void {
    const now = Date.now();
    this.#remember(budget.pruned(this.#state, now));
    if (this.#inbox.length > 0) this.#answerAll(this.#inbox.splice(0), now);
    setGauge(githubBudgetMetrics.waiting, { target: this.#target }, this.#state.queue.length);
    this.#run.publish(summaryOf(this.#state, now));
  }

  #answerAll(questions: readonly Questions[], now: EpochMs): void {
    const asks = questions.flatMap((question) => question.asks);
    const limits = questions.at(-1)?.limits ?? this.#state.limits;
    const [state, answers] = budget.grantPermits(this.#state, { asks, limits }, now);
    const memo: Record<string, Answers | null> = {};
    const answered = new Map(Object.entries(this.#run.memory.answered));
    for (const [from, at] of answered) {
      if (now - at <= ANSWERS_KEPT_MS) continue;
      memo[answersKey(from)] = null;
      answered.delete(from);
    }
    let begin = 0;
    for (const { from, batch, asks: own } of questions) {
      memo[answersKey(from)] = { batch, answers: answers.slice(begin, begin + own.length) };
      answered.set(from, now);
      begin += own.length;
    }
    upsertMemo(memo);
    for (const { granted } of answers) {
      count(githubBudgetMetrics.permits, { target: this.#target, granted: String(granted) });
    }
    this.#run.remember({ state, answered: Object.fromEntries(answered) });
  }

  /** The status at the moment of the query, even if it was not published yet. */
  get status(): BudgetStatus {
    const now = Date.now();
    const state = this.#state;
    const { phase, reason, detail } = summaryOf(state, now);
    const used = budget.used(state, now);
    const turns = budget.turns(state, now, state.queue.length);
    return {
      phase,
      reason,
      detail,
      since: formatInstant(this.#run.since),
      windows: state.limits.windows.map(({ ms, most }, index) => ({
        seconds: ms / 1000,
        most,
        used: used[index] ?? 0,
      })),
      queue: state.queue.map(({ id, priority, target, cluster, write, since }, index) => ({
        position: index + 1,
        id,
        priority,
        target,
        cluster,
        write,
        since: formatInstant(since),
        turn: state.paused === null ? formatInstant(turns[index] ?? now) : null,
      })),
      lastCommand: this.#run.lastCommand,
    };
  }

  get #state(): budget.BudgetState {
    return this.#run.memory.state;
  }

  #remember(state: budget.BudgetState): void {
    this.#run.remember({ ...this.#run.memory, state });
  }
}
