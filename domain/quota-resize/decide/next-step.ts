import type { EpochMs } from '../../kernel/time.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { Phase, Intent, Reason, Wait } from '../model/verdict.ts';

/** The result of a guard: the new memory and the intent. */
export type Intended = readonly [ResizeMemory, Intent];

/** Makes the hold of a state that a rule decides in; it ends at `until` at the latest. */
export type MakeHold = (phase: Phase, reason: Reason, detail: string, until?: EpochMs) => Intent;

/** Nothing to do until the wait ends. */
export function hold(phase: Phase, reason: Reason, detail: string, wait: Wait): Intent {
  return { kind: 'hold', phase, reason, detail, wait };
}

/** Ends the episode. */
export function end(reason: Reason, detail: string): Intent {
  return { kind: 'end', phase: 'Ended', reason, detail };
}
