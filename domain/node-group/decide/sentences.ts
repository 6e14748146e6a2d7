/** What people read of a NodeGroup's workflow. */
import { listText } from '../../kernel/sentence.ts';
import type { NewNodes, Removal } from '../model/plan.ts';
import type { NodeGroupObservation } from './observation.ts';

/** As many entries of a list as a person reads at once. */
const SHOWN = 5;

export function newNodesText(newNodes: readonly NewNodes[]): string {
  return listText(
    newNodes.map(({ count, instanceType, reason, podCount, comingPods = 0 }) => {
      const what = `${count} ${count === 1 ? 'node' : 'nodes'} of ${instanceType}`;
      if (reason === 'PendingPods') return `${what} for ${podsText(podCount - comingPods, comingPods)}`;
      if (reason === 'Replacement') return `${what} in place of ${count === 1 ? 'another node' : 'other nodes'}`;
      return `${what}, as there are fewer than ${reason === 'BelowMinimum' ? 'the minimum' : 'desired'}`;
    }),
  );
}

/** `6 pending pods`, `2 pods of workloads that wake soon`, or both. */
function podsText(pending: number, coming: number): string {
  const pods = (count: number): string => (count === 1 ? 'pod' : 'pods');
  return [
    ...(pending > 0 || coming === 0 ? [`${pending} pending ${pods(pending)}`] : []),
    ...(coming === 0 ? [] : [`${coming} ${pods(coming)} of workloads that wake soon`]),
  ].join(' and ');
}

export function removalsText(removals: readonly Removal[]): string {
  const shown = removals.slice(0, SHOWN).map(({ node, detail }) => `${node} (${detail})`);
  return listText([...shown, ...(removals.length > SHOWN ? [`${removals.length - SHOWN} more`] : [])]);
}

/** The lines below the detail: what stays and why, and pods that get no new node. */
export function facts({ group, machines, kept, unhelped }: NodeGroupObservation): readonly string[] {
  if (group === null) return [];
  const phases = Object.entries(machines).filter(([, count]) => count > 0);
  const counts = phases.map(([phase, count]) => `${count} ${phase}`).join(', ');
  return [
    `Machines: ${counts === '' ? 'none' : counts} (minimum ${group.minNodes}, maximum ${group.maxNodes})`,
    ...unhelped.first
      .slice(0, SHOWN)
      .map(({ namespace, name, detail }) => `No node for ${namespace}/${name}: ${detail}`),
    ...kept.first.slice(0, SHOWN).map(({ node, detail }) => `${node} stays: ${detail}`),
  ];
}
