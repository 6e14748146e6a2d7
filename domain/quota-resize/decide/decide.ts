import { pauseSentence } from '../../kernel/pause.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { attempt } from './attempt.ts';
import { awaitSync } from './await-sync.ts';
import { decideIdle } from './decide-idle.ts';
import { decideOpen, decideUnopened } from './decide-decision.ts';
import { goneReason, leave } from './abandon.ts';
import type { ResizeMemory } from '../model/memory.ts';
import { hold, type Planned } from './next-step.ts';
import { recall } from './hydrate.ts';
import type { Seen } from '../model/episode-observation.ts';
import type { Verdict, Wait } from '../model/verdict.ts';

/**
 * The whole state machine of a resize episode: a ladder of guards, each with a named reason. Pure; `now` is the workflow's
 * time.
 *
 * @returns the memory to carry on with, and the one thing to do or to wait for.
 */
export function decide(seen: Seen, memory: ResizeMemory, now: EpochMs): readonly [ResizeMemory, Verdict] {
  const [remembered, plan] = climb(seen, recall(seen.quota, memory), memory.decision === null, now);
  return attempt(seen.quota, seen.pullRequest, remembered, plan, now);
}

/** @param adopted whether a decision in the memory is one that this run did not take itself. */
function climb(seen: Seen, memory: ResizeMemory, adopted: boolean, now: EpochMs): Planned {
  const { quota: look } = seen;
  if (look.pause !== null) {
    const reason = look.pause.scope === 'everything' ? 'GloballyPaused' : 'Paused';
    const wait: Wait = { watch: 'resume', quietUntil: Number.POSITIVE_INFINITY };
    // Nobody can answer usefully while it is paused: an approval is asked for as long as before afterwards.
    return [{ ...memory, awaiting: null }, hold('Paused', reason, pauseSentence(look.pause), wait)];
  }

  const gone = goneReason(look, memory);
  if (gone !== null) return leave(look, memory, seen.pullRequest, gone.reason, gone.detail, now);
  if (!look.policy.enabled) {
    const detail = 'the namespace opted out (resizer.io/enabled is "false")';
    return leave(look, memory, seen.pullRequest, 'OptedOut', detail, now);
  }

  const { decision } = memory;
  if (decision === null) return decideIdle(look, memory, now);
  if (decision.merge !== null) return [memory, awaitSync(look, memory, decision, decision.merge, now)];
  if (decision.pullRequest !== null && seen.pullRequest !== null) {
    return decideOpen(look, memory, decision, decision.pullRequest, seen.pullRequest, now);
  }
  return decideUnopened(look, memory, decision, adopted, now);
}
