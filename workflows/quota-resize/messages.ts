import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { CommandInput } from '../../domain/kernel/command-input.ts';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { Approval, Decision } from '../../domain/quota-resize/model/decision.ts';
import type { PolicyInForce } from '../../domain/quota-resize/policy/in-force.ts';
import type { ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { Phase, Reason } from '../../domain/quota-resize/model/verdict.ts';
import { defineCommands } from '../kernel/commands.ts';

/** The phase of an episode until its first pass is over. */
export const FIRST_PHASE = 'Detecting' satisfies Phase;

/** A reconcile request. It says that something happened and carries no data to act on. */
export interface ReconcileRequest {
  /** What the watcher saw, for people who read the history. */
  readonly cause: string;
  /** The resourceVersion of the object that the watcher saw. */
  readonly resourceVersion: string;
}

/** The quota is at its threshold, or something was denied. */
export const quotaPressureSeen = defineSignal<[ReconcileRequest]>('quotaPressureSeen');
/** The quota, its namespace or its policy changed. */
export const quotaChanged = defineSignal<[ReconcileRequest]>('quotaChanged');

/** A reconcile request about the pull request of the quota's decision. */
export interface PullRequestRequest {
  /** What the webhook reported, for people who read the history. */
  readonly cause: string;
  /** The id of the forge's delivery, by which people find it there; "" from the episode of a quota that shares it. */
  readonly delivery: string;
}

/** GitHub reported a change of the pull request by webhook, or a quota that shares it did. */
export const pullRequestChanged = defineSignal<[PullRequestRequest]>('pullRequestChanged');

/** The operator commands, each as a signal and as an update. */
export const {
  signals: commandSignals,
  updates: commandUpdates,
  descriptions: commandDescriptions,
} = defineCommands<CommandInput>()({
  pause: 'stop writing anything for this quota until resume',
  resume: 'go on after a pause',
  approve:
    'approve the open pull request for its values and its head as they are now, or the values before there is one',
  reject: 'close the open pull request, or open none, and do not ask for its values again for a while',
  reconcileNow: 'check again at once',
  skipCooldown: 'act on a demand now, although the cooldown is not over',
});
export type OperatorCommand = keyof typeof commandDescriptions;

/** What the query `status` answers. Moments are RFC 3339. */
export interface ResizeStatus {
  readonly target: { readonly cluster: string; readonly namespace: string; readonly quota: string };
  readonly phase: Phase;
  /** `FirstObservation` until the first pass is over. */
  readonly reason: Reason | 'FirstObservation';
  readonly detail: string;
  readonly since: string;
  /** The latest moment of the next pass; absent while the episode acts or waits only for people. */
  readonly until?: string;
  /** The policy at the last observation; null before the first pass. */
  readonly policy: PolicyInForce | null;
  readonly decision: Decision | null;
  readonly approval: Approval | null;
  /** The pause in force at the last read: of everything, the controller, the namespace or the quota. */
  readonly paused: Pause | null;
  readonly rejections: ResizeMemory['rejections'];
  /** The last operator command and what it did. */
  readonly lastCommand: string | null;
}

export const status = defineQuery<ResizeStatus>('status');
