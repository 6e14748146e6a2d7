/** People are told once of a status that lasts. */
import type { ResizeMemory } from '../model/memory.ts';
import type { IntendedAct } from '../model/verdict.ts';

type Notify = Extract<IntendedAct, { kind: 'notify' }>;

/** What people are told, and `about`, by which it is known whether they were. */
type Notice = Pick<Notify, 'decision' | 'about' | 'comment' | 'event'>;

/** Tells people of a status; null where they were told already. */
export function notifyOnce(
  { emitted }: Pick<ResizeMemory, 'emitted'>,
  status: Pick<Notify, 'phase' | 'reason' | 'detail'>,
  notice: Notice,
): Notify | null {
  return emitted.includes(notice.about) ? null : { kind: 'notify', ...status, ...notice };
}
