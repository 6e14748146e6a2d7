import { defineQuery, defineSignal } from '@temporalio/workflow';
import { ASKED, LIMITED, type Limited, type Questions } from '../../domain/github-budget/ask.ts';
import type { BudgetPhase, BudgetReason } from '../../domain/github-budget/summary.ts';
import type { CommandInput } from '../../domain/kernel/command-input.ts';
import { defineCommands } from '../kernel/commands.ts';

/**
 * Asks for permits. The answers are written to the workflow's memo, which the asking worker reads. An update would
 * return the answer directly, but Temporal accepts at most ten updates of a workflow at the same time and drops all of
 * them when an eleventh arrives.
 */
export const permitsAsked = defineSignal<[Questions]>(ASKED);
/** GitHub answered a request with a rate limit. */
export const limited = defineSignal<[Limited]>(LIMITED);

/** The operator commands, each as a signal and as an update. */
export const budgetCommands = defineCommands<CommandInput>()({
  pause: 'stop all writes to GitHub with this credential, in every cluster, until resume',
  resume: 'go on after a pause',
});
export type BudgetCommand = keyof typeof budgetCommands.descriptions;

/** What the query `status` answers. Moments are RFC 3339. */
export interface BudgetStatus {
  readonly phase: BudgetPhase;
  readonly reason: BudgetReason;
  readonly detail: string;
  readonly since: string;
  readonly windows: readonly { readonly seconds: number; readonly most: number; readonly used: number }[];
  /** In the order in which the writes get a permit; that order is unknown during a pause. */
  readonly queue: readonly {
    readonly position: number;
    readonly id: string;
    readonly priority: string;
    readonly target: string;
    readonly cluster: string;
    readonly write: string;
    readonly since: string;
    readonly turn: string | null;
  }[];
  /** The last operator command and what it did. */
  readonly lastCommand: string | null;
}

export const status = defineQuery<BudgetStatus>('status');
