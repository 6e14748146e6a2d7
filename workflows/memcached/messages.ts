import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { MemcachedPhase, MemcachedReason } from '../../domain/memcached/decide/verdict.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request. It says that something changed and carries no data to act on. */
export interface MemcachedRequest {
  /** What the watcher saw, for people who read the history. */
  readonly cause: string;
  readonly resourceVersion: string;
  /** The Memcached was deleted, which ends every wait of the episode, a pause included. */
  readonly isGone?: boolean;
}

/** The Memcached or an object of it changed, or is gone. */
export const memcachedChanged = defineSignal<[MemcachedRequest]>('memcachedChanged');

/**
 * The phase that the starter writes into the search attributes when it starts a workflow; the run then need not write
 * them itself, which saves one billed action.
 */
export const FIRST_PHASE = 'Starting' satisfies MemcachedPhase;

/** Input of a command; both fields may be missing, because people fill in a form. */
export interface MemcachedCommandInput {
  readonly by?: string;
  readonly reason?: string;
}

/** The operator commands, each as a signal and as an update. */
export const {
  signals: commandSignals,
  updates: commandUpdates,
  descriptions: commandDescriptions,
} = defineCommands<MemcachedCommandInput>()({
  pause: 'write nothing for this Memcached until resume',
  resume: 'go on after a pause',
  reconcileNow: 'compare again at once, and try again what failed',
});

/** What the query `status` answers. Moments are RFC 3339. */
export interface MemcachedRunStatus {
  readonly target: MemcachedTarget;
  readonly phase: MemcachedPhase;
  readonly reason: MemcachedReason;
  /** One sentence. */
  readonly detail: string;
  /** Further sentences: what is as it is on purpose. */
  readonly facts: readonly string[];
  readonly since: string;
  readonly paused: Pause | null;
  readonly lastCommand: string | null;
}

export const status = defineQuery<MemcachedRunStatus>('status');
