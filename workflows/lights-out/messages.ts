import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ScheduleTarget } from '../../domain/kernel/target.ts';
import type { LightsOutPhase } from '../../domain/lights-out/decide/verdict.ts';

/** A hint that something changed, never the data to act on. */
export interface ScheduleHint {
  /** What the watcher saw, for the history's reader. */
  readonly cause: string;
  readonly resourceVersion: string;
}

/** The schedule itself changed, or was deleted: whatever is under way looks afresh at once. */
export const scheduleChanged = defineSignal<[ScheduleHint]>('scheduleChanged');

/** A workload or namespace is not as the schedule wants it: looked at after what is under way. */
export const workloadsChanged = defineSignal<[ScheduleHint]>('workloadsChanged');

/** What comes with a command. Everything may be missing, because people type it into a form. */
export interface LightsOutCommandInput {
  readonly by?: string;
  readonly reason?: string;
  /** Of wake and sleep: how long, as `3h` or `90m`. One of `for` and `until` is needed. */
  readonly for?: string;
  /** Of wake and sleep: until when, RFC 3339. */
  readonly until?: string;
  /** Of wake, sleep and cancel: only this namespace. */
  readonly namespace?: string;
}

/** Operator commands, as signals that people can send from the UI, and as updates that answer what they did. */
export const lightsOutCommands = ['wake', 'sleep', 'cancel', 'approve', 'pause', 'resume', 'reconcileNow'] as const;
export type LightsOutCommand = (typeof lightsOutCommands)[number];

export const commandSignals: Readonly<Record<LightsOutCommand, SignalDefinition<[LightsOutCommandInput]>>> = {
  wake: defineSignal('wake'),
  sleep: defineSignal('sleep'),
  cancel: defineSignal('cancel'),
  approve: defineSignal('approve'),
  pause: defineSignal('pause'),
  resume: defineSignal('resume'),
  reconcileNow: defineSignal('reconcileNow'),
};

export const commandUpdates: Readonly<Record<LightsOutCommand, UpdateDefinition<string, [LightsOutCommandInput]>>> = {
  wake: defineUpdate('wake'),
  sleep: defineUpdate('sleep'),
  cancel: defineUpdate('cancel'),
  approve: defineUpdate('approve'),
  pause: defineUpdate('pause'),
  resume: defineUpdate('resume'),
  reconcileNow: defineUpdate('reconcileNow'),
};

/** What each command does, for people who choose one in a list. */
export const commandDescriptions: Readonly<Record<LightsOutCommand, string>> = {
  wake: 'wake everything, or one namespace, for a while: {"for": "3h", "namespace": "team-a"}',
  sleep: 'put everything, or one namespace, to sleep for a while: {"for": "3h"}',
  cancel: 'end what wake or sleep began',
  approve: 'let the first run put workloads to sleep',
  pause: 'stop writing for this schedule until resume',
  resume: 'go on after a pause',
  reconcileNow: 'look again at once',
};

/** What the query `status` answers. Moments are RFC 3339. */
export interface LightsOutStatus {
  readonly target: ScheduleTarget;
  readonly phase: LightsOutPhase;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
  readonly since: string;
  /** Further sentences: what is put down, left alone, failing. */
  readonly facts: readonly string[];
  /** What the crons and exceptions say; null before the first look, and for an invalid schedule. */
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
  /** By workload: what the last try answered. */
  readonly failing: readonly { readonly workload: string; readonly message: string }[];
  readonly savedReplicaHours: string;
  readonly paused: { readonly by: string; readonly reason: string; readonly at: string } | null;
  readonly lastCommand: string | null;
}

export const status = defineQuery<LightsOutStatus>('status');
