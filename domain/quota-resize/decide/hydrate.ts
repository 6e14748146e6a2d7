import type { EpochMs } from '../../kernel/time.ts';
import { leaseHolder, type Refusal } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';

/** Takes from the Lease what this run does not know yet: it may be the first after a Terminate, a Reset or a crash. */
export function recall(look: QuotaObservation, memory: ResizeMemory): ResizeMemory {
  const { lease } = look;
  const held = lease.decision;
  // A merged decision stays in the Lease until the cluster followed. An open one counts while nobody else holds the lock:
  // garbage collection unlocks the Lease of a run that is gone, and its pull request is still there.
  const adoptable =
    memory.decision === null &&
    held !== null &&
    held.id !== memory.finished &&
    (held.merge !== null || lease.holder === null || lease.holder === leaseHolder(held.id));
  return {
    ...memory,
    quotaUid: memory.quotaUid ?? look.quota?.uid ?? null,
    mode: look.namespace !== 'gone' && look.quota !== null ? look.policy.mode : memory.mode,
    decision: adoptable ? held : memory.decision,
    lastChange: latest(memory.lastChange, lease.lastModified),
    lastRecommendation: newest(memory.lastRecommendation, lease.lastRecommendation),
    refusals: unionRefusals(memory.refusals, lease.refusals),
  };
}

/** The later of two moments, of which either may not have been. */
export function latest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  if (a === null) return b;
  return b === null ? a : Math.max(a, b);
}

function newest(
  a: ResizeMemory['lastRecommendation'],
  b: ResizeMemory['lastRecommendation'],
): ResizeMemory['lastRecommendation'] {
  if (a === null) return b;
  return b === null || a.at >= b.at ? a : b;
}

function unionRefusals(a: readonly Refusal[], b: readonly Refusal[]): readonly Refusal[] {
  const known = new Set(a.map((refusal) => refusal.at));
  return [...a, ...b.filter((refusal) => !known.has(refusal.at))];
}
