/** What the gate refuses right before a merge although `decide` would make it: it knows less, such as where starters count. */
import { linkTo } from './sentences.ts';
import type { Attempt, ResizeMemory } from '../model/memory.ts';
import type { IntendedAct } from '../model/verdict.ts';
import { notifyOnce } from './notify-once.ts';

const REFUSED = 'refused|';

/** Whether an Event is about such a refusal: the merge that was refused goes on backing off. */
export function isOfRefusal(about: string): boolean {
  return about.startsWith(REFUSED);
}

/**
 * What people are told of it, once for each reason; null where there is nothing to tell. What was refused once may be
 * decided otherwise by the next observation: it is told when it was refused again.
 */
export function refusalNotice(
  intent: IntendedAct,
  tried: Extract<Attempt, { kind: 'tried' }>,
  memory: Pick<ResizeMemory, 'emitted'>,
): Extract<IntendedAct, { kind: 'notify' }> | null {
  const { count, why } = tried;
  if (intent.kind !== 'merge' || count < 2 || why === undefined) return null;
  const { decision } = intent;
  // How much is needed may be another amount each time.
  const about = `${REFUSED}${decision.id}|${why.replaceAll(/\d+/g, '')}`;
  const detail = `${linkTo(decision.pullRequest)} is ready, and the last check before its merge refuses it: ${why}`;
  const event = { reason: 'QuotaResizeHeld', message: detail } as const;
  const status = { phase: 'Merging', reason: 'ReadyToMerge', detail } as const;
  return notifyOnce(memory, status, { decision, about, comment: null, event });
}
