/** What may be said of VPSie's own words. */
import type { ApplicationFailure } from '@temporalio/common';
import { failure } from '../../../kernel/failure.ts';

/** The longest quotation. */
const SHOWN_CHARACTERS = 300;
/** Shorter ones are no secrets, and parts of ordinary words. */
const SHORTEST_SECRET = 6;

/** A message on one line, without addresses and without what is secret. */
export function quotable(message: string, secrets: Iterable<string>): string {
  let words = message;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) words = words.replaceAll(secret, '[redacted]');
  }
  words = words
    .replaceAll(/\bhttps?:\/\/[^\s"'<>]+/giu, '[address]')
    .replaceAll(/\s+/gu, ' ')
    .trim();
  return words.length > SHOWN_CHARACTERS ? `${words.slice(0, SHOWN_CHARACTERS)}…` : words;
}

/** The failure of an activity while VPSie cannot be asked; retried. */
export function providerUnavailable(message: string, nextRetryDelayMs?: number): ApplicationFailure {
  return failure({ type: 'ProviderUnavailable', message, nextRetryDelayMs });
}
