import type { EpochMs } from '../../kernel/time.ts';
import type { Seen } from '../model/episode-observation.ts';
import type { Open, ResizeMemory, ResizeState } from '../model/memory.ts';
import type { PullRequestObservation } from '../model/observation.ts';

/** A rule that earlier versions did not have: with it another act, or none, comes next. */
type LaterRule = 'refusals-are-told' | 'growth-rests-while-asked' | 'queues-are-entered';

/** Whether a rule holds in this run. It is asked only where it makes a difference, because the history keeps the answer. */
export type IsInForce = (rule: LaterRule) => boolean;

/** What one pass decides by: what was seen, what is remembered, and the workflow's time. */
export interface Pass<State extends ResizeState = ResizeState> extends Seen {
  readonly memory: ResizeMemory<State>;
  readonly now: EpochMs;
  readonly isInForce: IsInForce;
}

/** A pass over a decision whose pull request was seen. */
export interface OpenPass extends Pass<Open> {
  readonly pullRequest: PullRequestObservation;
}

/** The pass with a changed state. */
export function passIn<P extends Pass, State extends ResizeState>(
  pass: P,
  state: State,
): Omit<P, 'memory'> & { readonly memory: ResizeMemory<State> } {
  return { ...pass, memory: { ...pass.memory, state } };
}
