/** How this process reaches servers outside of it: through which proxies, and whose certificates it trusts. */
import { setDefaultCACertificates } from 'node:tls';
import { Agent, type Dispatcher, ProxyAgent, setGlobalDispatcher } from 'undici';
import type { Proxies, Proxy } from './proxies.ts';

export interface Network {
  readonly proxies: Proxies;
  /** The certificates of all authorities that are trusted, one PEM each; null: those that Node and the system come with. */
  readonly authorities: readonly string[] | null;
  /** The file with some of them; null where there is none. */
  readonly authoritiesFile: { readonly where: string; readonly path: string } | null;
}

/** HTTP/2 is for Kubernetes off as well (ADR 22): a connection that is dead is noticed late. */
const OPTIONS = { allowH2: false };

/**
 * From now on every request of `fetch` goes through the proxy for its server, and every connection with TLS trusts these
 * authorities, unless it names its own, as those to Kubernetes do. Temporal's connections have options for both.
 */
export function useNetwork({ proxies, authorities }: Pick<Network, 'proxies' | 'authorities'>): void {
  if (authorities !== null) setDefaultCACertificates(authorities);
  if (proxies.all.length > 0) setGlobalDispatcher(throughProxies(proxies));
}

/**
 * Sends each request through the proxy for its server. undici's `EnvHttpProxyAgent` knows no ranges of addresses in
 * NO_PROXY, which every cluster has there.
 */
function throughProxies(proxies: Proxies): Dispatcher {
  const agents = new Map(proxies.all.map((proxy): [Proxy, ProxyAgent] => [proxy, agentOf(proxy)]));
  return new Agent(OPTIONS).compose((direct) => (options, handler) => {
    const proxy = options.origin === undefined ? null : proxies.to(String(options.origin));
    const agent = proxy === null ? undefined : agents.get(proxy);
    return agent === undefined ? direct(options, handler) : agent.dispatch(options, handler);
  });
}

function agentOf({ url }: Proxy): ProxyAgent {
  return new ProxyAgent({ uri: url.reveal(), ...OPTIONS });
}
