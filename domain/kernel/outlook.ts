/**
 * What is foreseen for a workload, from whoever scales it by a clock to whoever keeps nodes for it. One answer for both to what
 * counts by now.
 */
import type { EpochMs } from './time.ts';

export interface Outlook {
  readonly workload: { readonly kind: string; readonly namespace: string; readonly name: string };
  readonly change: 'sleeps' | 'wakes';
  /** When; in the past for what is due and not done yet. */
  readonly at: EpochMs;
  /** How long before it wakes its nodes are to come, in milliseconds. */
  readonly leadMs: number;
  /** How many pods it has when it is awake; those that are there already among them. */
  readonly pods: number;
  /** The template of those pods, reduced by whoever asked; null for what sleeps, and where it is not known. */
  readonly template: unknown;
}

/** Within the hour a node is not given back for what it was made for, so what ends within it is not there any more. */
export const FORESEEN_MS = 3_600_000;

/**
 * Whether the pods of a workload count as going, because they sleep within the hour, or as coming, because they wake so soon that their
 * nodes are to be made. Null: neither. What has been due for an hour will not be done because of the clock.
 */
export function countsAs(
  { change, at, leadMs }: Pick<Outlook, 'change' | 'at' | 'leadMs'>,
  now: EpochMs,
): 'going' | 'coming' | null {
  if (now - at >= FORESEEN_MS) return null;
  if (change === 'sleeps') return at - now <= FORESEEN_MS ? 'going' : null;
  return leadMs > 0 && at - now <= leadMs ? 'coming' : null;
}
