/** What the quotas of a decision needed whenever it was stored with greater limits: the gate merges no more without a person. */
import type { Decision } from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import { maxNeeded, type NeededLimits, unneededIn } from '../../../domain/quota-resize/sizing/needed.ts';

/** Reads from the cluster what the quotas of a decision need now. */
export type ReadNeeded = (decision: Decision) => Promise<NeededLimits>;

/**
 * The memory with a decision. What its quotas need is read where it raises them above what they are known to have needed, and
 * is never what somebody says.
 *
 * @param own the name of its own quota.
 */
export async function withDecision(
  before: LeaseMemory,
  decision: Decision,
  own: string,
  read: ReadNeeded | undefined,
): Promise<LeaseMemory> {
  const { needed: recorded, ...memory } = before;
  const known = before.decision?.id === decision.id ? (recorded ?? {}) : {};
  const isRead = read !== undefined && decision.merge === null && unneededIn(own, decision, known) !== null;
  const needed = isRead ? maxNeeded(known, await read(decision)) : known;
  return { ...memory, decision, ...(Object.keys(needed).length === 0 ? {} : { needed }) };
}
