import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { NodeGroupMemory } from './memory.ts';

/** How a drain ended. */
export interface DrainOutcome {
  readonly node: string;
  readonly uid: string;
  readonly outcome: 'drained' | 'blocked' | 'cancelled' | 'nodeGone';
  /** One sentence: the budget or pod that stood in the way. */
  readonly detail: string;
  /** As the drain names it; absent where an older version of the workflow does not say. */
  readonly reason?: string;
}

/** How long a node whose drain was blocked is left alone, in milliseconds. */
const BLOCKED_REST_MS = 600_000;
/** So long where its pods were evicted for nothing: those of the next drain would be as well. */
const FOR_NOTHING_REST_MS = 3_600_000;
const EVICTED_FOR_NOTHING: readonly string[] = ['PodsComeBack', 'MachineKept'];
/** A person cancelled it, and is not contradicted in the same hour. */
const CANCELLED_REST_MS = 3_600_000;

/** The memory after a drain has ended. */
export function afterDrain(
  memory: NodeGroupMemory,
  { node, uid, outcome, detail, reason = '' }: DrainOutcome,
  now: EpochMs,
): NodeGroupMemory {
  const drains = memory.drains.filter((drain) => drain.uid !== uid);
  if (outcome === 'drained' || outcome === 'nodeGone') return { ...memory, drains };
  const blockedRest = EVICTED_FOR_NOTHING.includes(reason) ? FOR_NOTHING_REST_MS : BLOCKED_REST_MS;
  const until = now + (outcome === 'blocked' ? blockedRest : CANCELLED_REST_MS);
  const sentence = `${detail}; its node is left alone until ${formatInstant(until)}`;
  const entry = { node, uid, until, detail: sentence, isStopped: outcome === 'cancelled' };
  const failed = [...memory.failed.filter((one) => one.uid !== uid), entry];
  return { ...memory, drains, failed };
}
