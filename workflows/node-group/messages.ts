import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { NodeGroupVerdict } from '../../domain/node-group/decide/verdict.ts';
import type { NodeGroupTarget } from '../../domain/node-group/target.ts';
import { defineCommands } from '../kernel/commands.ts';

/** A reconcile request. It says that something changed and carries no data to act on. */
export interface NodeGroupRequest {
  /** What the starter saw, for people who read the history. */
  readonly cause: string;
  readonly resourceVersion: string;
}

/** The group, or its part of the plan for the cluster, changed. */
export const nodeGroupChanged = defineSignal<[NodeGroupRequest]>('nodeGroupChanged');

/**
 * The phase that the starter writes into the search attributes when it starts a workflow; the run then need not write
 * them itself, which saves one billed action.
 */
export const FIRST_PHASE = 'Starting' satisfies NodeGroupVerdict['phase'];

/** Input of a command; every field may be missing, because people fill in a form. */
export interface NodeGroupCommandInput {
  readonly by?: string;
  readonly reason?: string;
  /** For `drain`: the name of the Node. */
  readonly node?: string;
}

/** The operator commands, each as a signal and as an update. */
export const {
  signals: commandSignals,
  updates: commandUpdates,
  descriptions: commandDescriptions,
} = defineCommands<NodeGroupCommandInput>()({
  approve: 'take away what waits for an approval',
  reject: 'leave what waits for an approval as it is for eight hours',
  drain: 'drain a node, named in `node`, and give it back',
  pause: 'write nothing for this NodeGroup until resume',
  resume: 'go on after a pause',
  reconcileNow: 'look again at once, and try again what failed',
});

/** What the query `status` answers. Moments are RFC 3339. */
export interface NodeGroupRunStatus extends Pick<NodeGroupVerdict, 'phase' | 'reason' | 'detail' | 'facts'> {
  readonly target: NodeGroupTarget;
  readonly since: string;
  readonly paused: Pause | null;
  /** Nodes that are being drained. */
  readonly draining: readonly string[];
  readonly lastCommand: string | null;
}

export const status = defineQuery<NodeGroupRunStatus>('status');
