/** The plan of a command is of one moment: what would be told by earlier plans is said in other words. */
import { formatInstant, formatSpan } from '../../../domain/kernel/time.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { ClusterPlan, KeptNode, Removal } from '../../../domain/node-group/model/plan.ts';

/** What a reader of a command's plan should know. */
export const ONE_MOMENT =
  'A command sees one moment: the starter alone knows since when a node has been unneeded and what it used before, and workflows which nodes people want drained and which drains failed lately. "headroom node-groups status GROUP" shows what comes of that.';

/** The plan without moments that are only those of the command. */
export function ofOneMoment(plan: ClusterPlan, groups: readonly NodeGroup[]): ClusterPlan {
  const byName = new Map(groups.map((group) => [group.name, group]));
  return {
    ...plan,
    removals: plan.removals.map((removal) => withoutSince(removal, plan.at)),
    kept: plan.kept.map((kept) => withSpan(kept, byName.get(kept.group), plan.at)),
  };
}

/** Whether nothing needs the node, and it only waits for that to have been so for long enough. */
export function isOnlyWaiting({ reason, until }: Pick<KeptNode, 'reason' | 'until'>): boolean {
  return reason === 'NotUnneededLongEnough' && until === null;
}

function withoutSince(removal: Removal, at: number): Removal {
  if (removal.reason === 'Empty') return { ...removal, detail: 'no pod needs it now' };
  return { ...removal, detail: removal.detail.replace(` since ${formatInstant(at)}`, ' now') };
}

/** A node that is unneeded in the first of all plans has been so for no time at all, and would stay for the whole of it. */
function withSpan(kept: KeptNode, group: NodeGroup | undefined, at: number): KeptNode {
  const span = group?.scaleDown.stabilizationMs ?? 0;
  if (kept.reason !== 'NotUnneededLongEnough' || kept.until !== at + span) return kept;
  const detail = `nothing needs it now; it may go when that has been so for ${formatSpan(span)}`;
  return { ...kept, detail, until: null };
}
