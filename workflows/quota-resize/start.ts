/** How the workflows of the resizer are started, by whichever process. */
import { priorities } from '../../domain/kernel/priority.ts';
import { type QuotaTarget, targetName, taskQueue } from '../../domain/kernel/target.ts';
import { orphanSearchId, quotaResizeId } from '../../domain/quota-resize/target.ts';
import { commandDescriptions, FIRST_PHASE } from './messages.ts';
import { firstAttributes } from '../kernel/first-attributes.ts';
import type { OrphanSearchInput } from './orphan-search.ts';
import type { QuotaResizeInput } from './workflow.ts';

/** Options for the start of a quota's episode. */
export function episodeStart(target: QuotaTarget) {
  const args: [QuotaResizeInput] = [{ target }];
  return {
    workflowId: quotaResizeId(target),
    taskQueue: taskQueue(target.cluster),
    args,
    typedSearchAttributes: firstAttributes({
      controller: 'quota-resize',
      target: targetName(target),
      phase: FIRST_PHASE,
      cluster: target.cluster,
    }),
    staticSummary: `${targetName(target)} in ${target.cluster}`,
    staticDetails: instructions(target),
    priority: { priorityKey: priorities.routine },
  };
}

/** Options for the start of a search for open pull requests that no Lease knows; one at a time runs. */
export function orphanSearchStart(cluster: string) {
  const args: [OrphanSearchInput] = [{ cluster }];
  return {
    workflowId: orphanSearchId(cluster),
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    taskQueue: taskQueue(cluster),
    args,
    priority: { priorityKey: priorities.resync },
  };
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, namespace, quota }: QuotaTarget): string {
  const commands = Object.entries(commandDescriptions).map(([name, description]) => `- **${name}**: ${description}`);
  return [
    `Keeps the ResourceQuota ${quota} of the namespace ${namespace} in ${cluster} large enough: from pressure to the end of the cooldown.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...commands,
  ].join('\n');
}
