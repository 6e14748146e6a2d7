/** What `headroom usage` is asked about, and what is wrong with that. */
import { InvalidArgumentError } from 'commander';
import { closest } from '../../../platform/config/closest.ts';

/** A namespace, or one quota of it. */
export interface UsageArgument {
  readonly namespace: string;
  readonly quota: string | null;
}

/** The command names what does not exist; the message says what does. */
export class UnknownName extends Error {}

export function usageArgument(text: string): UsageArgument {
  const [namespace, quota, ...rest] = text.split('/');
  if (!namespace || quota === '' || rest.length > 0) {
    throw new InvalidArgumentError(`"${text}" is neither <namespace> nor <namespace>/<quota>, such as team-a/compute`);
  }
  return { namespace, quota: quota ?? null };
}

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
