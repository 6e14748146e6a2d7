/**
 * What one run knows of the pause of its target. Pure; the transitions are the functions below, and nothing else changes it:
 *
 * | state  | `pause`           | `resume`          | it is kept         | a reading says a pause | a reading says none            |
 * |--------|-------------------|-------------------|--------------------|------------------------|--------------------------------|
 * | Unread | Unkept            | Unkept            |                    | Known                  | Known                          |
 * | Known  | Unkept, unless it | Unkept, if it     |                    | Known                  | Known, if the reading is newer |
 * |        | is paused itself  | is paused itself  |                    |                        | than the pause by 30 s, or     |
 * |        |                   |                   |                    |                        | was made just now              |
 * | Unkept | Unkept, unless it | Unkept, unless it | Known, unless said | unchanged              | unchanged                      |
 * |        | is paused so      | is resumed so     | anew meanwhile     |                        |                                |
 */
import type { ReadInput } from './command-input.ts';
import { type Pause, type PauseInForce, PAUSES, pauseSentence, type PauseTarget, resumeSentence } from './pause.ts';
import type { EpochMs } from './time.ts';

/** How long a read of the pauses counts as confirmed, in milliseconds. */
export const PAUSES_CONFIRMED_MS = 30_000;

export type PauseState =
  /** Neither this run nor an earlier one has read the ConfigMaps. */
  | { readonly kind: 'Unread' }
  /** As last read or saved. */
  | { readonly kind: 'Known'; readonly pause: PauseInForce | null; readonly at: EpochMs }
  /**
   * An operator's command to this run that is not saved in the ConfigMap yet; `before` is the pause before the command.
   */
  | { readonly kind: 'Unkept'; readonly pause: Pause | null; readonly before: PauseInForce | null };

/** The pause in force. A resumed pause stays in force until the resume is saved. */
export function pauseInForce(state: PauseState): PauseInForce | null {
  switch (state.kind) {
    case 'Unread':
      return null;
    case 'Known':
      return state.pause;
    case 'Unkept':
      return state.pause === null
        ? state.before
        : { scope: 'target', kept: 'not kept outside of this run yet', ...state.pause };
  }
}

/** The answer to a `pause` or `resume` command. */
export type PauseAnswer =
  | { readonly kind: 'accepted'; readonly state: PauseState; readonly message: string }
  | { readonly kind: 'rejected'; readonly message: string };

export function pauseCommand(
  name: 'pause' | 'resume',
  { state, target }: { readonly state: PauseState; readonly target: PauseTarget },
  { by, reason }: Pick<ReadInput, 'by' | 'reason'>,
  now: EpochMs,
): PauseAnswer {
  const before = pauseInForce(state);
  const isResumed = state.kind === 'Unkept' && state.pause === null;
  const accepted = (pause: Pause | null, message: string): PauseAnswer => ({
    kind: 'accepted',
    state: { kind: 'Unkept', pause, before },
    message,
  });
  if (name === 'pause') {
    return before?.scope === 'target' && !isResumed
      ? { kind: 'rejected', message: `already ${pauseSentence(before)}` }
      : accepted({ by, reason, at: now }, `paused by ${by}: nothing is written until resume`);
  }
  if (isResumed) return { kind: 'rejected', message: 'resumed already, which is being kept' };
  if (before === null && state.kind !== 'Unread') {
    return { kind: 'rejected', message: 'not paused, so there is nothing to resume' };
  }
  if (before !== null && before.scope !== 'target') {
    const message = `${pauseSentence(before)}, which resume of one target does not end. ${resumeSentence(before, target)}`;
    return { kind: 'rejected', message };
  }
  // Before the first read there may be a pause; deleting one that does not exist changes nothing.
  return accepted(null, `resumed by ${by}`);
}

/** The state after the command was saved. A pause of a wider scope is found by the next observation or write. */
export function afterKeeping({ pause }: Extract<PauseState, { kind: 'Unkept' }>, now: EpochMs): PauseState {
  const saved = pause === null ? null : ({ scope: 'target', kept: `ConfigMap ${PAUSES}`, ...pause } as const);
  return { kind: 'Known', pause: saved, at: now };
}

/**
 * The state after a read. A worker may use a read of the ConfigMaps that is up to 30 s old, so a result without a pause
 * does not end a pause that became known less than 30 s before the question.
 *
 * @param askedAt when the question was asked; infinite when the ConfigMaps were read for it.
 */
export function afterReading(
  state: PauseState,
  pause: PauseInForce | null,
  { askedAt, now }: { readonly askedAt: EpochMs; readonly now: EpochMs },
): PauseState {
  if (state.kind === 'Unkept') return state;
  const isTooEarly =
    pause === null && state.kind === 'Known' && state.pause !== null && askedAt - state.at < PAUSES_CONFIRMED_MS;
  return isTooEarly ? state : { kind: 'Known', pause, at: now };
}
