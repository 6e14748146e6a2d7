import type { EpochMs } from '../../kernel/time.ts';
import { leaseHolder, type Rejection } from '../model/decision.ts';
import { type ResizeMemory, type ResizeState, stateOf } from '../model/memory.ts';
import type { LeaseRecord, QuotaObservation } from '../model/observation.ts';

/**
 * Takes over from the Lease what this run does not know: it may be the first run after a Terminate, a Reset or a crash.
 */
export function hydrate(observation: QuotaObservation, memory: ResizeMemory): ResizeMemory {
  const { lease } = observation;
  return {
    ...memory,
    state: adoptedState(lease, memory) ?? memory.state,
    quotaUid: memory.quotaUid ?? observation.quota?.uid ?? null,
    mode: observation.namespace !== 'gone' && observation.quota !== null ? observation.policy.mode : memory.mode,
    lastChange: latest(memory.lastChange, lease.lastModified),
    lastWithdrawal: latest(memory.lastWithdrawal, lease.lastWithdrawal ?? null),
    lastRecommendation: newest(memory.lastRecommendation, lease.lastRecommendation),
    rejections: unionRejections(memory.rejections, lease.rejections),
  };
}

/**
 * The decision in the Lease that this run does not know. A merged decision stays in the Lease until the cluster is
 * synced. An unmerged decision counts as long as nobody else holds the Lease: garbage collection unlocks the Lease of a
 * run that is gone, but its pull request still exists.
 */
function adoptedState({ decision, holder }: LeaseRecord, { state, finished }: ResizeMemory): ResizeState | null {
  if (state.kind !== 'Idle' || decision === null || decision.id === finished) return null;
  const isOurs = decision.merge !== null || holder === null || holder === leaseHolder(decision.id);
  return isOurs ? stateOf(decision) : null;
}

/** The later of two moments, each of which may be null. */
function latest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
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

function unionRejections(a: readonly Rejection[], b: readonly Rejection[]): readonly Rejection[] {
  const existing = new Set(a.map((rejection) => rejection.at));
  return [...a, ...b.filter((rejection) => !existing.has(rejection.at))];
}
