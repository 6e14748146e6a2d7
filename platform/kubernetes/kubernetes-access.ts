import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { AgentOptions, RequestOptions } from 'node:https';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import {
  type ApiConstructor,
  ApiException,
  type ApiType,
  type Cluster,
  CoreV1Api,
  createConfiguration,
  type HttpLibrary,
  KubeConfig,
  Observable,
  type RequestContext,
  type ResponseContext,
  ServerConfiguration,
} from '@kubernetes/client-node';
import { parse } from 'yaml';
import { z } from 'zod';
import { kubernetesMessage } from '../../domain/kernel/kubernetes-status.ts';
import { keepingAgent, sendRequest } from './http.ts';
import { type Proxies, proxyUrl } from '../network/proxies.ts';
import { untilAvailable, type WaitOptions, watchAvailability } from '../process/availability.ts';

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** The options that select the cluster and its access. */
export interface KubernetesAccess {
  /** One path, or several joined as in `KUBECONFIG`. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** The proxies of the environment, for a kubeconfig without one. Absent: there are none. */
  readonly proxies?: Pick<Proxies, 'to'>;
  /** How long one request may take, answer included, in milliseconds; watches have their own. */
  readonly requestTimeoutMs: number;
  /** Another reason to abort a request with this method. Absent: there is none. */
  readonly requestCancellation?: RequestCancellation;
  /** Awaited before every request that may change something, which is not sent where this throws. Absent: each is sent. */
  readonly beforeWrite?: (write: Pick<KubernetesWrite, 'method' | 'url'>) => Promise<void>;
  /** Hears of every request that may change something. Absent: nobody does. */
  readonly onWrite?: (write: KubernetesWrite) => void;
}

/** A request that may change something, once it is over. */
interface KubernetesWrite {
  readonly method: string;
  readonly url: string;
  /** The status of the answer; null where there was none, so that nobody knows whether the write took effect. */
  readonly status: number | null;
}

export type RequestCancellation = (method: string) => AbortSignal | undefined;

/** A kubeconfig whose API clients keep their connections until it is closed. */
export interface ClosableKubeConfig extends KubeConfig {
  /** Ends the connections; requests that are still under way fail. */
  readonly close: () => Promise<void>;
}

/** No cluster is configured; the message lists what was tried. */
export class KubernetesAccessError extends Error {
  override readonly name = 'KubernetesAccessError';
}

/**
 * The access to the cluster: the given kubeconfig, otherwise the pod's service account, and never a guess such as
 * `localhost:8080`. Its API clients have timeouts, keep connections, read rotated tokens, and retry once with a new
 * credential when the API server rejects the present one.
 *
 * @throws {KubernetesAccessError} when there is no usable configuration.
 */
export function loadKubeConfig(
  access: KubernetesAccess,
  env: Readonly<Record<string, string | undefined>>,
): ClosableKubeConfig {
  const kubeConfig = new RenewingKubeConfig(() => readAccess(access, env), access);
  kubeConfig.reload();
  return kubeConfig;
}

/** The configuration as it is now, with the wanted context as its current one. */
function readAccess(access: KubernetesAccess, env: Readonly<Record<string, string | undefined>>): KubeConfig {
  const kubeConfig = new KubeConfig();
  if (access.kubeconfig !== undefined) loadFiles(kubeConfig, access.kubeconfig.split(delimiter).filter(Boolean));
  else if (env['KUBERNETES_SERVICE_HOST'] && existsSync(SERVICE_ACCOUNT_TOKEN)) kubeConfig.loadFromCluster();
  else throw new KubernetesAccessError(nothingFound(env));

  const contexts = kubeConfig.getContexts().map((context) => context.name);
  const wanted = access.context ?? kubeConfig.getCurrentContext();
  const source = access.kubeconfig ?? 'the service account';
  if (wanted === undefined || wanted === '') {
    throw new KubernetesAccessError(
      `${source} has no current context: choose one with --context (${contexts.join(', ')})`,
    );
  }
  if (!contexts.includes(wanted)) {
    throw new KubernetesAccessError(
      `${source} has no context "${wanted}": ${contexts.length === 0 ? 'it has none' : `it has ${contexts.join(', ')}`}`,
    );
  }
  kubeConfig.setCurrentContext(wanted);
  const cluster = kubeConfig.getCurrentCluster();
  if (cluster === null || cluster.server === '') {
    throw new KubernetesAccessError(`the context "${wanted}" of ${source} names no cluster with a server`);
  }
  if (kubeConfig.getCurrentUser() === null) {
    throw new KubernetesAccessError(`the context "${wanted}" of ${source} names a user that it does not have`);
  }
  // A pod's own cluster is beside it, whatever the variables say that somebody gives to every pod.
  if (access.kubeconfig !== undefined) useProxy(kubeConfig, cluster, access);
  return kubeConfig;
}

/** As kubectl has it: a kubeconfig's own proxy is used whatever NO_PROXY says; without one, the proxies of the environment. */
function useProxy(kubeConfig: KubeConfig, cluster: Cluster, { kubeconfig, proxies }: KubernetesAccess): void {
  const { name, server, proxyUrl: own } = cluster;
  if (own !== undefined) {
    try {
      const url = new URL(own);
      // The library has its own way for SOCKS.
      if (!/^socks\w*:$/.test(url.protocol)) proxyUrl(own);
    } catch {
      throw new KubernetesAccessError(
        `the proxy-url of the cluster "${name}" of ${kubeconfig} is not valid: expected a URL such as http://proxy.example:3128`,
      );
    }
    return;
  }
  const proxy = URL.canParse(server) ? proxies?.to(server) : undefined;
  if (proxy == null) return;
  kubeConfig.clusters = kubeConfig.clusters.map((each) =>
    each === cluster ? { ...each, proxyUrl: proxy.url.reveal() } : each,
  );
}

/**
 * The UID of the namespace `kube-system`, which identifies a cluster, once the API server responds and permits reading
 * it; until then the reason is logged and the request repeated.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function waitForKubernetes(kubeConfig: KubeConfig, options: WaitOptions): Promise<string> {
  return await untilAvailable(nameOf(kubeConfig), clusterUid(kubeConfig), kubernetesReason, options);
}

/** Keeps checking that the API server responds and accepts the credentials, for the readiness of the process. */
export async function watchKubernetes(kubeConfig: KubeConfig, options: WaitOptions): Promise<void> {
  await watchAvailability(nameOf(kubeConfig), clusterUid(kubeConfig), kubernetesReason, options);
}

function nameOf(kubeConfig: KubeConfig): string {
  return `Kubernetes at ${kubeConfig.getCurrentCluster()?.server}`;
}

function clusterUid(kubeConfig: KubeConfig): () => Promise<string> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  return async () => {
    const { metadata } = await core.readNamespace({ name: 'kube-system' });
    if (metadata?.uid === undefined) throw new Error('the namespace kube-system has no UID');
    return metadata.uid;
  };
}

/** One line from an error of the Kubernetes client: the API server's own words, or what the network said. */
function kubernetesReason(error: unknown): string {
  // The client discards the server's message of a 401.
  if (error instanceof ApiException && error.code === UNAUTHORIZED) {
    return '401 Unauthorized: it does not accept the credentials, which are read again each time';
  }
  if (error instanceof ApiException) return `${error.code} ${kubernetesMessage(error.body) ?? 'without a message'}`;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  return cause === undefined ? error.message : `${error.message} (${cause.message})`;
}

function nothingFound(env: Readonly<Record<string, string | undefined>>): string {
  const home = env['HOME'] === undefined ? undefined : join(env['HOME'], '.kube', 'config');
  const advice =
    home !== undefined && existsSync(home)
      ? `To use your own: KUBECONFIG=${home}`
      : 'Set KUBECONFIG or --kubeconfig, or run in a pod with a service account.';
  const inCluster = !env['KUBERNETES_SERVICE_HOST']
    ? 'KUBERNETES_SERVICE_HOST is not set, so this is no pod'
    : `the pod has no service account token at ${SERVICE_ACCOUNT_TOKEN}`;
  return `There is no cluster to talk to: neither KUBECONFIG nor --kubeconfig is set, and ${inCluster}. ${advice}`;
}

function loadFiles(kubeConfig: KubeConfig, files: readonly string[]): void {
  for (const [index, file] of files.entries()) {
    try {
      const loaded = new KubeConfig();
      loaded.loadFromFile(file);
      useTokenFiles(loaded, file);
      // As with kubectl, the first file that names a current context decides.
      kubeConfig.mergeConfig(loaded, index > 0 && Boolean(kubeConfig.getCurrentContext()));
    } catch (error) {
      throw new KubernetesAccessError(
        `cannot use the kubeconfig "${file}": ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}

const usersWithTokenFile = z.object({
  users: z
    .array(z.object({ name: z.string(), user: z.object({ tokenFile: z.string().optional() }).nullish() }))
    .nullish(),
});

/**
 * `tokenFile` of a kubeconfig's user takes precedence over `token`; the client supports it only as an auth provider.
 */
function useTokenFiles(kubeConfig: KubeConfig, file: string): void {
  const { users } = usersWithTokenFile.parse(parse(readFileSync(file, 'utf8')));
  for (const { name, user } of users ?? []) {
    if (user?.tokenFile === undefined) continue;
    const tokenFile = isAbsolute(user.tokenFile) ? user.tokenFile : join(dirname(file), user.tokenFile);
    kubeConfig.users = kubeConfig.users.map((existing) => {
      if (existing.name !== name) return existing;
      const { token: _outranked, ...rest } = existing;
      return { ...rest, authProvider: { name: 'tokenFile', config: { tokenFile } } };
    });
  }
}

type RequestLimits = Pick<KubernetesAccess, 'requestTimeoutMs' | 'requestCancellation' | 'beforeWrite' | 'onWrite'>;

type DispatcherOptions = ReturnType<KubeConfig['createDispatcherOptions']>;

/**
 * A KubeConfig with renewed credentials and kept connections. The library reads a kubeconfig only once and a token file
 * once a minute, keeps a plugin's credential until it expires, and opens a new connection for every request, because it
 * creates a dispatcher for each.
 */
class RenewingKubeConfig extends KubeConfig implements ClosableKubeConfig {
  readonly #read: () => KubeConfig;
  readonly #limits: RequestLimits;
  /** The connections, with a digest of the certificates that they were opened with. */
  #dispatcher: { readonly key: string; readonly value: ReturnType<RequestContext['getDispatcher']> } | undefined;

  constructor(read: () => KubeConfig, limits: RequestLimits) {
    super();
    this.#read = read;
    this.#limits = limits;
  }

  async close(): Promise<void> {
    await this.#dispatcher?.value?.destroy();
    this.#dispatcher = undefined;
  }

  /** Reads everything again, and drops all credentials that the library's authenticators cache. */
  reload(): void {
    const fresh = this.#read();
    const before = { context: this.getCurrentContext(), cluster: this.getCurrentCluster() };
    if (before.cluster !== null) {
      // The file's current context may have changed; this process stays with its cluster.
      fresh.setCurrentContext(before.context);
      const server = fresh.getCurrentCluster()?.server;
      if (server !== before.cluster.server) {
        throw new KubernetesAccessError(
          `the context "${before.context}" named ${before.cluster.server} when this process started and names ${server ?? 'no server'} now: start it again to use that cluster`,
        );
      }
    }
    this.loadFromOptions({
      clusters: fresh.getClusters(),
      users: fresh.getUsers(),
      contexts: fresh.getContexts(),
      currentContext: fresh.getCurrentContext(),
    });
    // Private in the library, and the only place where a plugin's rejected credential can be dropped.
    type WithAuthenticators = { authenticators: unknown };
    (this as unknown as WithAuthenticators).authenticators = (fresh as unknown as WithAuthenticators).authenticators;
  }

  /**
   * One connection per concurrent request (HTTP/1.1). With HTTP/2 all requests share one connection, and when the API
   * server was killed on a busy machine, the library kept using the dead one: watches stayed "connected" and new
   * requests timed out one after the other, for a minute and more, even when the server was back (ADR 22).
   */
  override createDispatcherOptions(...given: Parameters<KubeConfig['createDispatcherOptions']>): DispatcherOptions {
    const options = super.createDispatcherOptions(...given);
    switch (options.type) {
      case 'agent':
        return { ...options, connect: { ...options.connect, ...HTTP_1 } };
      case 'proxy':
        return { ...options, requestTls: { ...options.requestTls, ...HTTP_1 } };
      // Neither offers HTTP/2.
      case 'socks':
      case 'none':
        return options;
    }
  }

  override makeApiClient<T extends ApiType>(apiClientType: ApiConstructor<T>): T {
    const cluster = this.getCurrentCluster();
    if (cluster === null) throw new KubernetesAccessError('no current cluster');
    return new apiClientType(
      createConfiguration({
        baseServer: new ServerConfiguration(cluster.server, {}),
        authMethods: { default: this },
        httpApi: new RenewingHttp(this, this.#limits),
      }),
    );
  }

  override async applySecurityAuthentication(context: RequestContext): Promise<void> {
    const options: RequestOptions = {};
    await this.applyToHTTPSOptions(options);
    const { ca, cert, key: privateKey, rejectUnauthorized, servername } = options;
    const hash = createHash('sha256').update(JSON.stringify([rejectUnauthorized, servername]));
    // Hashed as bytes, because this runs for each request and a certificate in JSON is a list of thousands of numbers.
    for (const part of [ca, cert, privateKey].flat()) hash.update('|').update(bytesOf(part));
    const key = hash.digest('hex');
    if (this.#dispatcher?.key === key) {
      const basic =
        options.auth == null ? {} : { Authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
      const headers = { ...basic, ...(options.headers as Readonly<Record<string, string>> | undefined) };
      for (const [name, value] of Object.entries(headers)) context.setHeaderParam(name, value);
      if (this.#dispatcher.value !== undefined) context.setDispatcher(this.#dispatcher.value);
    } else {
      await super.applySecurityAuthentication(context);
      const given = this.createDispatcherOptions(this.getCurrentCluster(), options as AgentOptions);
      if (given.type === 'agent') context.setDispatcher(keepingAgent(given.connect));
      this.#dispatcher = { key, value: context.getDispatcher() };
    }
    // A token file may end in a line break, which a header must not contain.
    const authorization = context.getHeaders()['Authorization'];
    if (authorization !== undefined) context.setHeaderParam('Authorization', authorization.trim());
  }
}

function bytesOf(part: NonNullable<RequestOptions['ca' | 'key']>[0] | undefined): string | NodeJS.ArrayBufferView {
  if (part === undefined) return '';
  return typeof part === 'string' || ArrayBuffer.isView(part) ? part : JSON.stringify(part);
}

/** An option of undici that the library's type does not include. */
const HTTP_1 = { allowH2: false };

const UNAUTHORIZED = 401;

/**
 * Sends requests with a time limit; after a rejected credential, the credential is renewed and the request repeated
 * once.
 */
class RenewingHttp implements HttpLibrary {
  readonly #kubeConfig: RenewingKubeConfig;
  readonly #limits: RequestLimits;

  constructor(kubeConfig: RenewingKubeConfig, limits: RequestLimits) {
    this.#kubeConfig = kubeConfig;
    this.#limits = limits;
  }

  send(request: RequestContext): Observable<ResponseContext> {
    return new Observable(request.getHttpMethod() === 'GET' ? this.#send(request) : this.#write(request));
  }

  async #write(request: RequestContext): Promise<ResponseContext> {
    const { beforeWrite, onWrite } = this.#limits;
    const write = { method: request.getHttpMethod(), url: request.getUrl() };
    await beforeWrite?.(write);
    try {
      const response = await this.#send(request);
      onWrite?.({ ...write, status: response.httpStatusCode });
      return response;
    } catch (error) {
      onWrite?.({ ...write, status: null });
      throw error;
    }
  }

  async #send(request: RequestContext): Promise<ResponseContext> {
    const given = request.getSignal();
    const { requestTimeoutMs, requestCancellation } = this.#limits;
    const limit = AbortSignal.timeout(requestTimeoutMs);
    const signals = [given, limit, requestCancellation?.(request.getHttpMethod())];
    request.setSignal(AbortSignal.any(signals.filter((signal) => signal !== undefined)));
    const response = await sendRequest(request);
    if (response.httpStatusCode !== UNAUTHORIZED) return response;

    const rejected = request.getHeaders()['Authorization'];
    try {
      this.#kubeConfig.reload();
      await this.#kubeConfig.applySecurityAuthentication(request);
    } catch {
      // The rejection is more useful than an error about a kubeconfig that is just being written.
      return response;
    }
    // The same credential would be rejected again. A rejected request had no effect, so it can be repeated.
    if (request.getHeaders()['Authorization'] === rejected) return response;
    await response.body.text();
    return await sendRequest(request);
  }
}
