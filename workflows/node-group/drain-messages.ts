import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { Pause } from '../../domain/kernel/pause.ts';
import type { DrainOutcome } from '../../domain/node-group/decide/drain-outcome.ts';
import type { DrainShown } from '../../domain/node-group/drain/steps.ts';
import type { DrainTarget } from '../../domain/node-group/target.ts';
import { defineCommands } from '../kernel/commands.ts';

/** For the workflow of a group: a drain of it has ended. */
export const drainEnded = defineSignal<[DrainOutcome]>('drainEnded');

/** Input of a command; both fields may be missing, because people fill in a form. */
export interface DrainCommandInput {
  readonly by?: string;
  readonly reason?: string;
}

/** The operator commands, each as a signal and as an update. */
export const {
  signals: drainSignals,
  updates: drainUpdates,
  descriptions: drainDescriptions,
} = defineCommands<DrainCommandInput>()({
  stopDrain: 'evict nothing more, and take the marks of the drain off the node',
  pause: 'write nothing for this node until resume',
  resume: 'go on after a pause',
});

/** Markdown for the Temporal UI: what a drain is, and what an operator may do there. */
export function drainInstructions({ cluster, group, node }: DrainTarget): string {
  return [
    `Drains the node ${node} of the NodeGroup ${group} in ${cluster}, and deletes its machine when no pod is left there.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...Object.entries(drainDescriptions).map(([name, description]) => `- **${name}**: ${description}`),
  ].join('\n');
}

/** What the query `status` answers. Moments are RFC 3339. */
export interface NodeDrainStatus extends DrainShown {
  readonly target: DrainTarget;
  readonly since: string;
  readonly paused: Pause | null;
  readonly lastCommand: string | null;
}

export const drainStatus = defineQuery<NodeDrainStatus>('status');
