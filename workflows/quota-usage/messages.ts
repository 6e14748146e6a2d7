import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { UsageMode } from '../../domain/quota-usage/mode.ts';
import type { ObservedVersions } from '../../domain/quota-usage/observation.ts';
import type { UsagePhase, UsageReason } from '../../domain/quota-usage/verdict.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request. It says that something a quota counts has changed and carries no data to act on. */
export interface UsageRequest {
  /** What the watcher saw, for people who read the history. */
  readonly cause: string;
  /** The resourceVersions that the watcher's caches had reached. */
  readonly observed: ObservedVersions;
  /** Temporal's priority key for the count and the write; a smaller number is served first. */
  readonly priority?: number;
  /** The quota was deleted, which ends every wait and backoff of the episode. */
  readonly isGone?: boolean;
}

/**
 * The phase that the starter writes into the search attributes when it starts a workflow; the run then need not write
 * them itself, which saves one billed action.
 */
export const FIRST_PHASE = 'Counting' satisfies UsagePhase;

/** The quota, or something that it counts, changed. */
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
  /** The resourceVersions that the caches must have reached before the next count. */
  readonly observed: ObservedVersions;
  readonly lastCommand: string | null;
}

export const status = defineQuery<UsageStatus>('status');
