/** Whether anything may be written for node groups. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import { failure } from '../../kernel/failure.ts';
import { createPauseGuard, JUST_READ_MS, type PauseOptions } from '../../kernel/pause.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { heldBy } from './other-controller.ts';

/**
 * The check before each write.
 *
 * @returns a function that throws `Paused` or `GloballyPaused`, and `PolicyChanged` while another controller acts on node groups;
 *   none of them is retried, so that whoever asked looks again.
 */
export function createWriteGuard(
  options: PauseOptions & { readonly kubernetes: Kubernetes; readonly now: () => EpochMs },
): (target: NodeGroupTarget) => Promise<void> {
  const pauses = createPauseGuard(options);
  const { kubernetes, now } = options;
  // Hundreds of writes of one decision share a read.
  let last: { readonly at: number; readonly held: Promise<string | null> } | null = null;
  const held = async (): Promise<string | null> => {
    const at = performance.now();
    if (last === null || at - last.at > JUST_READ_MS) last = { at, held: heldBy(kubernetes, now()) };
    const asked = last;
    try {
      return await asked.held;
    } catch (error) {
      if (last === asked) last = null;
      throw error;
    }
  };
  return async ({ group }) => {
    await pauses({ controller: 'node-group', name: group }, `the NodeGroup ${group}`);
    const by = await held();
    if (by !== null) throw failure({ type: 'PolicyChanged', message: `nothing is written: ${by}`, nonRetryable: true });
  };
}
