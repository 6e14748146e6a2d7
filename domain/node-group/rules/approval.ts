import type { NodeGroup } from '../model/node-group.ts';
import type { Removal } from '../model/plan.ts';

/**
 * Whether a person is asked before the node goes. Who asked for it, or deletes the group, has approved it.
 *
 * @param replacement null where no other machine comes first.
 */
export function needsApproval(
  { approval, isDeleting }: Pick<NodeGroup, 'approval' | 'isDeleting'>,
  { reason, replacement }: Pick<Removal, 'reason'> & { readonly replacement: unknown },
): boolean {
  if (isDeleting || reason === 'Requested') return false;
  if (approval === 'scale-down') return true;
  return approval === 'replacement' && (replacement !== null || reason === 'NotReady' || reason === 'Consolidation');
}
