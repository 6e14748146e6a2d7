import { Secret } from '../../domain/kernel/settings/secret.ts';
import type { ConfigProblem } from '../../domain/kernel/settings/setting.ts';
import { NoProxy } from './no-proxy.ts';

/** A proxy that somebody has configured. */
export interface Proxy {
  /** The variable that names it. */
  readonly where: string;
  /** Its URL without credentials, for messages: `http://proxy.example:3128`. */
  readonly shown: string;
  /** Its URL with its credentials. */
  readonly url: Secret;
}

/** The proxies of the environment. */
export interface Proxies {
  /** All of them; none where requests go directly. */
  readonly all: readonly Proxy[];
  /** The proxy for requests to a server, `https://host:port`; null: the server is reached directly. */
  readonly to: (server: string) => Proxy | null;
  /** Their credentials in each form in which a log line could have them. */
  readonly secrets: readonly Secret<readonly string[]>[];
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * The proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name, each in small letters first, as curl has it. HTTPS_PROXY is for
 * https and HTTP_PROXY for http. As with Go's programs and curl, a URL without a scheme is one of http.
 *
 * @param problems receives what is no URL of a proxy, without its credentials.
 * @param notices receives the entries of NO_PROXY that match nothing: the variable is other programs' as well, which may
 *   know more of them.
 */
export function readProxies(
  env: Readonly<Record<string, string | undefined>>,
  problems: ConfigProblem[],
  notices: string[],
): Proxies {
  const https = readProxy(env, 'HTTPS_PROXY', problems);
  const http = readProxy(env, 'HTTP_PROXY', problems);
  const all = [https, http].filter((proxy) => proxy !== null);
  const list = variable(env, 'NO_PROXY');
  const direct = new NoProxy(list?.text ?? '');
  if (all.length > 0) {
    for (const entry of direct.unreadable) {
      notices.push(
        `${list?.name} has "${entry}", which matches no host: it would be a name, an address, a range such as 10.0.0.0/8, or *, and may end in a port.`,
      );
    }
  }
  return {
    all,
    to: (server) => {
      const { protocol, hostname, port } = new URL(server);
      const proxy = protocol === 'https:' ? https : http;
      if (proxy === null) return null;
      return direct.covers(hostname, port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)) ? null : proxy;
    },
    secrets: all.map(({ url }) => new Secret(() => formsOf(new URL(url.reveal())))),
  };
}

/** The user and the password of a proxy's URL; undefined where it has none. */
export function proxyCredentials({ url }: Proxy): { readonly username: string; readonly password: string } | undefined {
  const { username, password } = new URL(url.reveal());
  if (username === '' && password === '') return undefined;
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function formsOf({ username, password }: URL): readonly string[] {
  if (password === '') return [];
  const plain = decodeURIComponent(password);
  const header = Buffer.from(`${decodeURIComponent(username)}:${plain}`).toString('base64');
  return [password, plain, header];
}

function variable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): { readonly name: string; readonly text: string } | undefined {
  for (const spelling of [name.toLowerCase(), name]) {
    const text = env[spelling]?.trim();
    if (text !== undefined && text !== '') return { name: spelling, text };
  }
  return undefined;
}

function readProxy(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  problems: ConfigProblem[],
): Proxy | null {
  const written = variable(env, name);
  if (written === undefined) return null;
  try {
    const url = proxyUrl(written.text);
    return { where: written.name, shown: url.origin, url: new Secret(() => url.href) };
  } catch (error) {
    const reason = error instanceof RangeError ? ` (${error.message})` : '';
    // Whatever is before the last @ may be a password, also in what is no URL.
    const shown = written.text.replace(/^.*@/s, '…@');
    problems.push({
      where: written.name,
      message: `"${shown}" is not valid: expected the URL of a proxy, such as http://proxy.example:3128${reason}`,
    });
    return null;
  }
}

/** @throws RangeError with what is wrong, or the error of `URL`, which quotes its text. */
export function proxyUrl(text: string): URL {
  const url = new URL(text.includes('://') ? text : `http://${text}`);
  if (DEFAULT_PORTS[url.protocol] === undefined) {
    throw new RangeError(`${url.protocol.slice(0, -1)} is no scheme of a proxy that is supported`);
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw new RangeError('it has a path');
  try {
    decodeURIComponent(`${url.username}${url.password}`);
  } catch {
    throw new RangeError('a % in its user or password has to be written as %25');
  }
  return url;
}
