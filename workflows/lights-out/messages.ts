import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { LightsOutPhase } from '../../domain/lights-out/decide/verdict.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request. It says that something changed and carries no data to act on. */
export interface ScheduleRequest {
  /** What the watcher saw, for people who read the history. */
  readonly cause: string;
  readonly resourceVersion: string;
}

/**
 * The schedule itself changed or was deleted: the current step is interrupted, and everything is observed again at
 * once.
 */
export const scheduleChanged = defineSignal<[ScheduleRequest]>('scheduleChanged');

/** A workload or namespace differs from what the schedule wants; observed after the current step. */
export const workloadsChanged = defineSignal<[ScheduleRequest]>('workloadsChanged');

/** Input of a command. Every field may be missing, because people fill in a form. */
export interface LightsOutCommandInput {
  readonly by?: string;
  readonly reason?: string;
  /** For wake and sleep: a duration such as `3h` or `90m`. Either `for` or `until` is required. */
  readonly for?: string;
  /** For wake and sleep: the end, RFC 3339. Either `for` or `until` is required. */
  readonly until?: string;
  /** For wake, sleep and cancel: restricts the command to this namespace. */
  readonly namespace?: string;
  /** For approve: the digest of the workloads that the person saw, as `status.scope` has it. Others are not approved then. */
  readonly digest?: string;
}

/** The operator commands, each as a signal and as an update. */
export const {
  signals: commandSignals,
  updates: commandUpdates,
  descriptions: commandDescriptions,
} = defineCommands<LightsOutCommandInput>()({
  wake: 'wake everything, or one namespace, for a while: {"for": "3h", "namespace": "team-a"}',
  sleep: 'put everything, or one namespace, to sleep for a while: {"for": "3h"}',
  cancel: 'end what wake or sleep began',
  approve: 'let it put to sleep what is in its scope now: {"digest": "0123456789abcdef"}',
  pause: 'stop writing for this schedule until resume',
  resume: 'go on after a pause',
  reconcileNow: 'check again at once',
});
export type LightsOutCommand = keyof typeof commandDescriptions;

/** What the query `status` answers. Moments are RFC 3339. */
export interface LightsOutStatus {
  readonly target: ScheduleTarget;
  readonly phase: LightsOutPhase;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
  readonly since: string;
  /** Further sentences: workloads that are asleep, that are left alone, that fail. */
  readonly facts: readonly string[];
  /** The state by crons and exceptions; null before the first observation and for an invalid schedule. */
  readonly state: 'Up' | 'Down' | null;
  readonly nextUpscale: string | null;
  readonly nextDownscale: string | null;
  readonly overrides: readonly {
    readonly kind: 'wake' | 'sleep';
    readonly namespace: string | null;
    readonly until: string;
    readonly by: string;
    readonly reason: string;
  }[];
  readonly progress: { readonly total: number; readonly completed: number; readonly failed: number } | null;
  /** Workloads whose last write failed, each with the error message. */
  readonly failing: readonly { readonly workload: string; readonly message: string }[];
  readonly savedReplicaHours: string;
  /** The pause in force at the last read: of everything, the controller or the schedule. */
  readonly paused: { readonly by: string; readonly reason: string; readonly at: string | null } | null;
  readonly lastCommand: string | null;
}

export const status = defineQuery<LightsOutStatus>('status');
