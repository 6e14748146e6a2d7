import { pauseReason, pauseSentence } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Seen } from '../model/episode-observation.ts';
import { inState, isUnmerged, type ResizeMemory, type ResizeState } from '../model/memory.ts';
import type { Verdict, Wait } from '../model/verdict.ts';
import { abandon, goneReason } from './abandon.ts';
import { attempt } from './attempt.ts';
import { withReviewersNo } from './change-requests.ts';
import { hydrate } from './hydrate.ts';
import { decideIdle } from './idle.ts';
import { withoutForge } from './joined.ts';
import { decideLocked } from './locked.ts';
import { decideMerged } from './merged.ts';
import { hold, type Intended } from './next-step.ts';
import { whileQueued } from './merge-queue.ts';
import { decideOpen } from './open.ts';
import { type IsInForce, type Pass, passIn } from './pass.ts';

/**
 * The state machine of a resize episode: guards that hold in every state, then those of the current state, each with a
 * named reason. Pure; `now` is the workflow's time.
 *
 * @param isInForce whether a rule that earlier versions did not have holds: a history of theirs is replayed without it.
 * @returns the new memory, and the one act or wait that comes next.
 */
export function decide(
  seen: Seen,
  memory: ResizeMemory,
  now: EpochMs,
  isInForce: IsInForce = () => true,
): readonly [ResizeMemory, Verdict] {
  const hydrated = hydrate(seen.observation, memory);
  const isAdopted = memory.state.kind === 'Idle' && hydrated.state.kind !== 'Idle';
  const pass = { ...seen, memory: hydrated, now, isInForce };
  const [remembered, intent] = guard(pass) ?? decideInState(pass, isAdopted);
  const next = whileQueued(pass, remembered, withoutForge(withReviewersNo(pass, intent)));
  return attempt({ ...pass, memory: remembered }, next);
}

/**
 * Guards that come before the state's own: a pause, or a quota that is gone or not managed any more. Null when none
 * applies.
 */
function guard(pass: Pass): Intended | null {
  const { observation, memory } = pass;
  if (observation.pause !== null) {
    const wait: Wait = { watch: 'resume', quietUntil: Number.POSITIVE_INFINITY };
    // Nobody can approve while the quota is paused, so the approval timeout starts again afterwards.
    return [
      inState(memory, askedAnew(memory.state)),
      hold('Paused', pauseReason(observation.pause), pauseSentence(observation.pause), wait),
    ];
  }
  const gone = goneReason(observation, memory);
  if (gone !== null) return abandon(pass, gone);
  if (!observation.policy.enabled) {
    const detail = 'the namespace opted out (resizer.io/enabled is "false")';
    return abandon(pass, { reason: 'OptedOut', detail });
  }
  return null;
}

/**
 * @param isAdopted whether the current decision was found in the Lease and not made by this run.
 * @throws Error when the decision has a pull request that was not observed, which is a mistake of the caller.
 */
function decideInState(pass: Pass, isAdopted: boolean): Intended {
  const { observation, pullRequest, memory, now } = pass;
  const { state } = memory;
  switch (state.kind) {
    case 'Idle':
      return decideIdle(passIn(pass, state));
    case 'Locked':
      return decideLocked(passIn(pass, state), isAdopted);
    case 'Open': {
      if (pullRequest === null) {
        throw new Error(`decision ${state.decision.id} has a pull request, and it was not observed`);
      }
      return decideOpen({ ...passIn(pass, state), pullRequest });
    }
    case 'Merged':
      return [memory, decideMerged(observation, state, now)];
  }
}

function askedAnew(state: ResizeState): ResizeState {
  return isUnmerged(state) ? { ...state, awaiting: null } : state;
}
