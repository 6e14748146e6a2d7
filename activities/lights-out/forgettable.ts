import { outdated } from '../../domain/lights-out/workload/remembered.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { OwnerKinds } from './owners.ts';
import { readItem } from './read-cluster.ts';
import type { ScalingMemory } from './scaling-memory.ts';

const AT_ONCE = 10;

/**
 * The entries of the memory, of those that a plan found to say nothing any more, of which that is still so. One whose workload cannot be
 * read stays, and so does whatever else is kept there.
 */
export async function forgettable(
  { kubernetes, ownerKinds }: { readonly kubernetes: Kubernetes; readonly ownerKinds: OwnerKinds },
  memory: ScalingMemory,
  uids: readonly string[],
): Promise<readonly string[]> {
  if (uids.length === 0) return [];
  const { remembered } = await memory.all();
  const found = await inParallel(AT_ONCE, uids, async (uid) => {
    const entry = remembered.get(uid);
    if (entry === undefined) return [];
    try {
      const workload = await readItem(kubernetes, ownerKinds, {
        workload: entry,
        ...(entry.owner && { owner: entry.owner }),
      });
      return outdated(new Map([[uid, entry]]), workload === null ? [] : [workload]);
    } catch {
      return [];
    }
  });
  return found.flat();
}
