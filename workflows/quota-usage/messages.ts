import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { UsageMode } from '../../domain/quota-usage/mode.ts';
import type { ObservedVersions } from '../../domain/quota-usage/observation.ts';
import type { UsagePhase, UsageReason } from '../../domain/quota-usage/verdict.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request that something a quota counts changed, never the data to act on. */
export interface UsageRequest {
  /** What the watcher saw, for the history's reader. */
  readonly cause: string;
  /** How far the watcher's caches had come. */
  readonly observed: ObservedVersions;
  /** Temporal's priority key for the count and the write; a smaller one goes first. */
  readonly priority?: number;
  /** The quota was deleted: whatever this episode rests for is over. */
  readonly isGone?: boolean;
}

/** The phase that whoever starts a run writes into its search attributes, which saves the run an action of its own. */
export const FIRST_PHASE = 'Counting' satisfies UsagePhase;

/** The quota, or something that it counts, changed. */
export const usageChanged = defineSignal<[UsageRequest]>('usageChanged');

/** What comes with a command; both may be missing, because people type it into a form. */
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
  /** Null until the first pass is over. */
  readonly mode: Exclude<UsageMode, 'off'> | null;
  readonly phase: UsagePhase;
  readonly reason: UsageReason | 'FirstObservation';
  readonly detail: string;
  readonly since: string;
  readonly paused: Pause | null;
  /** How far the caches must have come for the next count. */
  readonly observed: ObservedVersions;
  readonly lastCommand: string | null;
}

export const status = defineQuery<UsageStatus>('status');
