import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { UsageMode } from '../../domain/quota-usage/mode.ts';
import type { RollUp, WrittenMinute } from '../../domain/quota-usage/roll-up.ts';
import type { UsagePhase, UsageReason } from '../../domain/quota-usage/verdict.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request. It says that something a quota counts has changed and carries no data to act on. */
export interface UsageRequest {
  /** What the watcher saw, for people who read the history. */
  readonly cause: string;
  /** A pause keeps the status from being written: the run is to read what holds. */
  readonly isPaused?: boolean;
  /** What the API server said when it refused to have the status written, for people. */
  readonly refused?: string;
  /** The quota was deleted, which ends every wait and backoff of the episode. */
  readonly isGone?: boolean;
}

/**
 * The phase that the starter writes into the search attributes when it starts a workflow; the run then need not write
 * them itself, which saves one billed action.
 */
export const FIRST_PHASE = 'Counting' satisfies UsagePhase;

/** There is something to tell of the quota, or it is over. */
export const usageChanged = defineSignal<[UsageRequest]>('usageChanged');

/** Input of a command; both fields may be missing, because people fill in a form. */
export interface UsageCommandInput {
  readonly by?: string;
  readonly reason?: string;
}

/** The operator commands, each as a signal and as an update. */
export const {
  signals: commandSignals,
  updates: commandUpdates,
  descriptions: commandDescriptions,
} = defineCommands<UsageCommandInput>()({
  pause: "stop writing this quota's status until resume",
  resume: 'go on after a pause',
  reconcileNow: 'count again at once',
});

/** What the query `status` answers. Moments are RFC 3339. */
export interface UsageStatus {
  readonly target: QuotaTarget;
  /** Null until the first pass has finished. */
  readonly mode: Exclude<UsageMode, 'off'> | null;
  readonly phase: UsagePhase;
  readonly reason: UsageReason | 'FirstObservation';
  readonly detail: string;
  readonly since: string;
  readonly paused: Pause | null;
  readonly lastCommand: string | null;
}

export const status = defineQuery<UsageStatus>('status');

/** The phase of the roll-up, which the starter writes into the search attributes. */
export type RollUpPhase = 'Writing';
export const ROLL_UP_PHASE = 'Writing' satisfies RollUpPhase;

/** To the roll-up: the owner has written statuses in these minutes. */
export const usageWritten = defineSignal<[readonly WrittenMinute[]]>('usageWritten');

/** What the roll-up knows. */
export const rollUpStatus = defineQuery<RollUp>('status');
