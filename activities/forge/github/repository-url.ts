/** Parses repository URLs of Argo CD and Flux. */
import type { RepositoryAddress } from '../repositories.ts';

/** scp syntax, `git@github.com:acme/gitops.git`: not a URL, since no slashes follow the colon. */
const SCP = /^(?:[^@/:]+@)?(\[[0-9a-f:.]+\]|[^/:@[\]]+):(?!\/)(.+)$/i;
const SCHEMES: readonly string[] = ['https:', 'http:', 'ssh:', 'git:'];

/** Parses `https://`, `ssh://` and scp addresses; null for any other text, or one without owner and repository. */
export function parseRepositoryUrl(text: string): RepositoryAddress | null {
  const written = text.trim();
  const scp = written.includes('://') ? null : SCP.exec(written);
  if (scp !== null) return addressOf(scp[1] ?? '', scp[2] ?? '');
  if (!URL.canParse(written)) return null;
  const { protocol, hostname, pathname } = new URL(written);
  return SCHEMES.includes(protocol) ? addressOf(hostname, pathname) : null;
}

function addressOf(host: string, path: string): RepositoryAddress | null {
  const [owner, name, ...rest] = path
    .replace(/\.git\/?$/, '')
    .split('/')
    .filter((part) => part !== '');
  if (owner === undefined || name === undefined || rest.length > 0) return null;
  return { host: canonical(host), repository: `${owner}/${name}` };
}

/** GitHub offers SSH over the HTTPS port under another host name. */
function canonical(host: string): string {
  const lower = host.toLowerCase();
  return lower === 'ssh.github.com' ? 'github.com' : lower;
}

/** The host of the repositories that a REST API serves: `github.com` for `https://api.github.com`. */
export function hostOfRepositories(apiUrl: string): string {
  const { hostname, pathname } = new URL(apiUrl);
  // An Enterprise Server has its API below its own host; other installations have a separate host for it.
  return pathname.startsWith('/api/') ? hostname : hostname.replace(/^api\./, '');
}
