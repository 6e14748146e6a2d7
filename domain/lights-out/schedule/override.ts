import type { EpochMs } from '../../kernel/time.ts';

/** A person's wish that something is awake or asleep until a moment, whatever the crons say. */
export interface Override {
  readonly kind: 'wake' | 'sleep';
  /** The only namespace of the override; null: the schedule's whole scope. */
  readonly namespace: string | null;
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly by: string;
  readonly reason: string;
}
