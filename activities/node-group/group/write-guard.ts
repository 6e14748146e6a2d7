/** Whether anything may be written for node groups. */
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import { failure } from '../../kernel/failure.ts';
import { createPauseGuard, JUST_READ_MS, type PauseOptions } from '../../kernel/pause.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { ServerClock } from '../../kubernetes/server-clock.ts';
import { foreignDefinition, otherController } from './other-controller.ts';

/** Somebody applies a definition once in a while. */
const DEFINITION_AGE_MS = 30_000;

/**
 * The check before each write.
 *
 * @returns a function that throws `Paused` or `GloballyPaused`, and `PolicyChanged` while another controller acts on node groups;
 *   none of them is retried, so that whoever asked looks again.
 */
export function createWriteGuard(
  options: PauseOptions & { readonly kubernetes: Kubernetes; readonly clock: ServerClock },
): (target: NodeGroupTarget) => Promise<void> {
  const pauses = createPauseGuard(options);
  const { kubernetes, clock } = options;
  const other = remembered(JUST_READ_MS, async () => await otherController(kubernetes, clock));
  const foreign = remembered(DEFINITION_AGE_MS, async () => await foreignDefinition(kubernetes));
  return async ({ group }) => {
    await pauses({ controller: 'node-group', name: group }, `the NodeGroup ${group}`);
    const by = (await other()) ?? (await foreign());
    if (by !== null) throw failure({ type: 'PolicyChanged', message: `nothing is written: ${by}`, nonRetryable: true });
  };
}

/** Hundreds of writes of one decision share a read. What stands in the way is read anew. */
function remembered(maxAgeMs: number, read: () => Promise<string | null>): () => Promise<string | null> {
  let last: { readonly at: number; readonly answer: Promise<string | null> } | null = null;
  return async () => {
    const at = performance.now();
    if (last === null || at - last.at > maxAgeMs) last = { at, answer: read() };
    const asked = last;
    try {
      const answer = await asked.answer;
      if (answer !== null && last === asked) last = null;
      return answer;
    } catch (error) {
      if (last === asked) last = null;
      throw error;
    }
  };
}
