import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { Removal } from '../model/plan.ts';
import type { RestingNode } from '../scale-down/plan-removals.ts';

/** A drain that this group began. */
interface OwnDrain {
  readonly node: string;
  readonly uid: string;
  readonly since: EpochMs;
}

/** A drain that ended without the node being gone. */
interface FailedDrain {
  readonly node: string;
  readonly uid: string;
  readonly until: EpochMs;
  /** One sentence: the budget or pod that stood in the way. */
  readonly detail: string;
  /** Whether a person has stopped it. */
  readonly isStopped?: boolean;
}

/** A node that a person wants to be drained. */
interface RequestedDrain {
  readonly node: string;
  /** Of the Node that had the name when that was written down; absent until then. Another one that gets the name is not asked for. */
  readonly uid?: string;
  readonly by: string;
}

/** What is remembered from pass to pass; what must outlive the workflow is in the object's status. */
export interface NodeGroupMemory {
  /** The NodeGroup that all of this is about; null before the first observation. */
  readonly uid: string | null;
  readonly drains: readonly OwnDrain[];
  readonly failed: readonly FailedDrain[];
  readonly requested: readonly RequestedDrain[];
  /** What waits for an approval, by `removalKey`. */
  readonly awaiting: readonly string[];
  readonly approved: readonly { readonly key: string; readonly by: string }[];
  readonly rejected: readonly { readonly key: string; readonly by: string; readonly until: EpochMs }[];
}

export const freshMemory: NodeGroupMemory = {
  uid: null,
  drains: [],
  failed: [],
  requested: [],
  awaiting: [],
  approved: [],
  rejected: [],
};

/**
 * Drains that were decided and did not begin: the next plan says whether they are still to. Those that a person has asked for are
 * still asked for.
 *
 * @param before the memory before they were decided.
 */
export function withoutDrains(
  memory: NodeGroupMemory,
  drains: readonly Pick<OwnDrain, 'node' | 'uid'>[],
  before: Pick<NodeGroupMemory, 'requested'>,
): NodeGroupMemory {
  const uids = new Set(drains.map(({ uid }) => uid));
  const nodes = new Set(drains.map(({ node }) => node));
  const requested = before.requested.filter(({ node }) => nodes.has(node));
  return {
    ...memory,
    drains: memory.drains.filter(({ uid }) => !uids.has(uid)),
    // Asked for once more meanwhile, it stands there already.
    requested: [
      ...requested.filter(({ node }) => memory.requested.every((one) => one.node !== node)),
      ...memory.requested,
    ],
  };
}

/** Nodes that the next plans leave alone: their drain failed, or a person has rejected that they go for a reason. */
export function restingNodes({
  failed,
  rejected,
}: Pick<NodeGroupMemory, 'failed' | 'rejected'>): readonly RestingNode[] {
  return [
    ...failed.map(({ uid, detail, until }) => ({ uid, detail, until })),
    ...rejected.map(({ key, by, until }) => {
      const { uid, reason } = readRemovalKey(key);
      const detail = `${by} has rejected that it goes as ${reason}, until ${formatInstant(until)}`;
      return { uid, reason, detail, until };
    }),
  ];
}

/** What an approval is for: this node for this reason. Another reason, or a node that came again, asks anew. */
export function removalKey({ uid, reason }: Pick<Removal, 'uid' | 'reason'>): string {
  return `${uid} ${reason}`;
}

export function readRemovalKey(key: string): Pick<Removal, 'uid' | 'reason'> {
  const [uid = '', reason = ''] = key.split(' ');
  return { uid, reason: reason as Removal['reason'] };
}
