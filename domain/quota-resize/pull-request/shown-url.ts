/** Addresses as people may see them: in Events, in workflow histories, in pull requests and in logs. */

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const LEFT_OUT = '…';

/**
 * The address of a repository without what may be a secret: user and password, query and fragment. It need not be a right
 * one, so what cannot be told apart is left out.
 */
export function shownUrl(text: string): string {
  const written = text.trim();
  const scheme = SCHEME.exec(written)?.[0] ?? '';
  const rest = written.slice(scheme.length);
  // A password may itself hold an "@", a "/" or a "?" that somebody forgot to encode.
  const end = rest.lastIndexOf('@');
  const user = rest.slice(0, Math.max(0, end));
  const shownUser = end < 0 ? '' : `${user === 'git' ? user : LEFT_OUT}@`;
  return `${scheme}${shownUser}${rest.slice(end + 1).replace(/([?#]).+$/s, `$1${LEFT_OUT}`)}`;
}

/** A text as it may be shown: as `shownUrl` where it looks as if it had an address with a secret in it. */
export function withoutUrlSecrets(text: string): string {
  return /:\/\/|\w@|:\S*@/.test(text) ? shownUrl(text) : text;
}
