import { defineQuery, defineSignal } from '@temporalio/workflow';
import { ASKED, LIMITED, type Limited, type Questions } from '../../domain/github-budget/ask.ts';
import type { BudgetPhase, BudgetReason } from '../../domain/github-budget/summary.ts';
import type { CommandInput } from '../../domain/kernel/command-input.ts';
import { defineCommands } from '../kernel/commands.ts';

/**
 * Permits are asked for. The answers are in the memo, where the asker looks for them. An update would give them by itself,
 * but the server takes ten updates of a workflow at once, and drops those when there is an eleventh.
 */
export const permitsAsked = defineSignal<[Questions]>(ASKED);
/** GitHub refused a request for a limit. */
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
  /** In the order of their turn, which is not known during a pause. */
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
