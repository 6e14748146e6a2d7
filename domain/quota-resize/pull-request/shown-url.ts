/** URLs that people may see: in Events, workflow histories, pull requests and logs. */

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const LEFT_OUT = '…';

/**
 * The URL of a repository without possible secrets: user and password, query and fragment. The URL may be invalid, so
 * ambiguous parts are removed.
 */
export function shownUrl(text: string): string {
  const written = text.trim();
  const scheme = SCHEME.exec(written)?.[0] ?? '';
  const rest = written.slice(scheme.length);
  // A password may contain an "@", a "/" or a "?" that was not percent-encoded.
  const end = rest.lastIndexOf('@');
  const user = rest.slice(0, Math.max(0, end));
  const shownUser = end < 0 ? '' : `${user === 'git' ? user : LEFT_OUT}@`;
  return `${scheme}${shownUser}${rest.slice(end + 1).replace(/([?#]).+$/s, `$1${LEFT_OUT}`)}`;
}

/** A text that may be shown: treated by `shownUrl` if it seems to contain a URL with a secret. */
export function withoutUrlSecrets(text: string): string {
  return /:\/\/|\w@|:\S*@/.test(text) ? shownUrl(text) : text;
}
