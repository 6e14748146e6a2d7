/** The activities of a drain. */
import type { Evicted, Marked, Replacement } from '../../../domain/node-group/drain/answers.ts';
import type { DrainProgress } from '../../../domain/node-group/drain/drain-progress.ts';
import type { DisruptionReason } from '../../../domain/node-group/model/node-group.ts';
import type { DrainTarget } from '../../../domain/node-group/target.ts';

interface DrainInput {
  readonly target: DrainTarget;
}

/** Why a drain did not succeed, for the Event on its NodeGroup. */
export interface BlockedDrain {
  /** The UID of the NodeGroup. */
  readonly groupUid: string;
  readonly reason: string;
  /** One sentence. */
  readonly detail: string;
}

export interface EvictInput extends DrainInput {
  /** Why the node is drained. */
  readonly reason: DisruptionReason;
  /** Milliseconds without progress after which the drain is blocked. */
  readonly timeoutMs: number;
  /** How far the drain had come; null at the first time. */
  readonly progress: DrainProgress | null;
  /** What the caller shows as refusing evictions. */
  readonly refusedBy: readonly string[];
  /** How often the node was empty already, and its machine could not go. Absent: an older workflow, which does not count. */
  readonly takenBack?: number;
}

export interface DrainActivities {
  /** Puts the marks on the node and cordons it, in one write. */
  ensureDrainMarked(input: DrainInput): Promise<Marked>;
  /**
   * Waits until the replacement is a node that is ready.
   * @param input `machine`: the VPSieNode of the replacement.
   * @throws NotYet, retried, until then.
   */
  awaitReplacement(input: DrainInput & { readonly machine: string }): Promise<Replacement>;
  /**
   * Marks the node, and evicts its pods until none is left. Each attempt is one look at the node, with evictions of the pods that
   * are due; it can be ended and called again at any time.
   * @throws NotYet, retried, while pods are on their way out or refused.
   */
  ensureEvicted(input: EvictInput): Promise<Evicted>;
  /** Takes the marks of this drain off the node, and uncordons it if this drain cordoned it. A drain that was blocked is reported. */
  ensureDrainUnmarked(input: DrainInput & { readonly blocked?: BlockedDrain }): Promise<void>;
}
