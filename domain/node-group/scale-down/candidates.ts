/** In which order nodes are looked at to be taken away. */
import type { EpochMs } from '../../kernel/time.ts';
import { byText } from '../plan/pending.ts';

/** What the order is made of. */
export interface Candidate {
  readonly name: string;
  readonly isReady: boolean;
  /** When its machine was created. */
  readonly createdAt: EpochMs;
  /** Since when it has been unneeded, by the plan before; null where it was not. */
  readonly unneededSince: EpochMs | null;
  /** What it used on average, in percent; null without data. */
  readonly use: { readonly cpu: number; readonly memory: number } | null;
  /** Pods that have to be evicted, and how many of them are in kube-system. */
  readonly podCount: number;
  readonly systemPodCount: number;
}

/**
 * `age`: the VPSie autoscaler's. Not ready, then the oldest, then the least used; among nodes of one age those that have been unneeded stay
 * so, or the order would change with every sample, and nothing would be unneeded for long.
 * `score`: that of the conformance cases, ascending.
 */
export type CandidateOrder = 'age' | 'score';

export function inRemovalOrder<C extends Candidate>(candidates: readonly C[], order: CandidateOrder): readonly C[] {
  return candidates.toSorted(order === 'age' ? byAge : byScore);
}

/** The VPSie autoscaler's priority: lower ones go first. Nodes without data count as unused. */
export function candidateScore({
  use,
  podCount,
  systemPodCount,
}: Pick<Candidate, 'use' | 'podCount' | 'systemPodCount'>): number {
  const average = use === null ? 0 : (use.cpu + use.memory) / 2;
  return Math.trunc(average * 10) + 100 * podCount + 500 * systemPodCount;
}

function byScore(a: Candidate, b: Candidate): number {
  return candidateScore(a) - candidateScore(b) || byAge(a, b);
}

function byAge(a: Candidate, b: Candidate): number {
  return (
    Number(a.isReady) - Number(b.isReady) ||
    a.createdAt - b.createdAt ||
    ascending(a.unneededSince, b.unneededSince) ||
    ascending(used(a), used(b)) ||
    byText(a.name, b.name)
  );
}

function used({ use }: Candidate): number | null {
  return use === null ? null : use.cpu + use.memory;
}

/** Nothing known comes last. */
function ascending(a: number | null, b: number | null): number {
  if (a === b) return 0;
  return (a ?? Number.POSITIVE_INFINITY) < (b ?? Number.POSITIVE_INFINITY) ? -1 : 1;
}
