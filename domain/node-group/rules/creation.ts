import type { EpochMs } from '../../kernel/time.ts';

/** What was written onto the machine's object before the provider was asked for the machine. */
export interface CreationIntent {
  /** When the provider was asked last. */
  readonly askedAt: EpochMs;
  /** The identifiers of all the machines that the provider listed before it was asked. */
  readonly seenBefore: readonly string[];
}

export type CreationStep =
  /** Nothing was asked for yet, or what was asked for did not come: write the intent, then ask. */
  | { readonly kind: 'ask' }
  | { readonly kind: 'adopt'; readonly identifier: string }
  /** The request may still take effect: list again from then on. */
  | { readonly kind: 'wait'; readonly until: EpochMs };

/**
 * What to do about a machine whose identifier is not known, for a provider that takes no name or key with a request.
 * It is right only while a cluster has one such request in flight, so that what is new in the list is its answer.
 * Where several are new, the first by identifier is adopted, the same one however often this is asked.
 *
 * @param intent - null where nothing was written yet
 * @param listed - the identifiers that the provider lists now
 * @param claimed - the identifiers that objects of other machines have
 * @param settleMs - how long after a request its machine may still appear
 */
export function nextCreationStep(
  intent: CreationIntent | null,
  listed: readonly string[],
  claimed: ReadonlySet<string>,
  settleMs: number,
  now: EpochMs,
): CreationStep {
  if (intent === null) return { kind: 'ask' };
  const before = new Set(intent.seenBefore);
  const [identifier] = listed.filter((one) => !before.has(one) && !claimed.has(one)).toSorted();
  if (identifier !== undefined) return { kind: 'adopt', identifier };
  const settled = intent.askedAt + settleMs;
  return now < settled ? { kind: 'wait', until: settled } : { kind: 'ask' };
}
