/** What to answer to a name that does not exist: those that do. */
import { closest } from '../../platform/config/closest.ts';

/** The command names what does not exist; the message says what does. */
export class UnknownName extends Error {}

/** At most so many names are listed. */
const NAMED = 5;

/** `: did you mean team-a?`, or what there is, as the end of a sentence. */
export function whatThereIs(written: string, known: readonly string[], none: string): string {
  const meant = closest(written, known);
  if (meant !== undefined) return `: did you mean ${meant}?`;
  if (known.length === 0) return `: ${none}`;
  const more = known.length - NAMED;
  return `: there is ${known.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
