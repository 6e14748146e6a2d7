/** What VPSie says when no more machines are to be had until a person changes the account or its plan. */
const TERMINAL = [
  'exceeds the allowed limit',
  'quota exceeded',
  'plan does not allow',
  'maximum number of',
  'limit reached',
  'subscription does not allow',
] as const;

/**
 * Whether asking again for a machine is useless until a person changes something. VPSie has no codes for it, so the
 * message is searched, whatever its case, for the phrases that the VPSie autoscaler knows.
 *
 * @param message - what the provider answered; not that of a 429, whose "rate limit reached" passes by itself
 */
export function isTerminalError(message: string): boolean {
  const said = message.toLowerCase();
  return TERMINAL.some((phrase) => said.includes(phrase));
}
