/** A short text for the set of workloads that a schedule is about, to approve exactly what was looked at. */
import { digestOf } from '../../kernel/digest.ts';

/** Hexadecimal digits: short enough to type, and no two sets of a cluster have the same. */
const LENGTH = 16;

export interface ScopeDigest {
  /** The same for the same workloads, whatever their order. */
  readonly digest: string;
  readonly workloads: number;
}

/** @param names as `workloadName` has them, each once. */
export function scopeDigest(names: readonly string[]): ScopeDigest {
  const text = names.toSorted().join('\n');
  return { digest: digestOf(text, LENGTH), workloads: names.length };
}
