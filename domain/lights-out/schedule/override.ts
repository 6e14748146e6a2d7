import type { EpochMs } from '../../kernel/time.ts';

/** Up or down until a moment, because people say so, whatever the crons say. */
export interface Override {
  readonly kind: 'wake' | 'sleep';
  /** Only there; null: everywhere in the schedule's scope. */
  readonly namespace: string | null;
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly by: string;
  readonly reason: string;
}
