import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { UsageMemory } from '../../domain/quota-usage/decide.ts';
import type { UsageMode } from '../../domain/quota-usage/mode.ts';
import type { Reached } from '../../domain/quota-usage/observation.ts';
import type { UsagePhase, UsageReason } from '../../domain/quota-usage/verdict.ts';

/** A hint that something a quota counts changed, never the data to act on. */
export interface UsageHint {
  /** What the watcher saw, for the history's reader. */
  readonly cause: string;
  /** How far the watcher's caches had come. */
  readonly reached: Reached;
  /** Temporal's priority key for the count and the write; a smaller one goes first. */
  readonly priority?: number;
  /** The quota was deleted: whatever this episode rests for is over. */
  readonly isGone?: boolean;
}

/** The phase that whoever starts a run writes into its search attributes, which saves the run an action of its own. */
export const FIRST_PHASE = 'Counting' satisfies UsagePhase;

/** The quota, or something that it counts, changed. */
export const usageChanged = defineSignal<[UsageHint]>('usageChanged');

/** What comes with a command; both may be missing, because people type it into a form. */
export interface UsageCommandInput {
  readonly by?: string;
  readonly reason?: string;
}

/** Operator commands, as signals that people can send from the UI, and as updates that answer what they did. */
export const usageCommands = ['pause', 'resume', 'reconcileNow'] as const;
export type UsageCommand = (typeof usageCommands)[number];

export const commandSignals: Readonly<Record<UsageCommand, SignalDefinition<[UsageCommandInput]>>> = {
  pause: defineSignal('pause'),
  resume: defineSignal('resume'),
  reconcileNow: defineSignal('reconcileNow'),
};

export const commandUpdates: Readonly<Record<UsageCommand, UpdateDefinition<string, [UsageCommandInput]>>> = {
  pause: defineUpdate('pause'),
  resume: defineUpdate('resume'),
  reconcileNow: defineUpdate('reconcileNow'),
};

/** What each command does, for people who choose one in a list. */
export const commandDescriptions: Readonly<Record<UsageCommand, string>> = {
  pause: "stop writing this quota's status until resume",
  resume: 'go on after a pause',
  reconcileNow: 'count again at once',
};

/** What the query `status` answers. Moments are RFC 3339. */
export interface UsageStatus {
  readonly target: QuotaTarget;
  /** Null until the first look is over. */
  readonly mode: Exclude<UsageMode, 'off'> | null;
  readonly phase: UsagePhase;
  readonly reason: UsageReason | 'FirstLook';
  readonly detail: string;
  readonly since: string;
  readonly paused: UsageMemory['paused'];
  /** How far the caches must have come for the next count. */
  readonly reached: Reached;
  readonly lastCommand: string | null;
}

export const status = defineQuery<UsageStatus>('status');
