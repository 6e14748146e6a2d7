/** The port of the overview page. It answers GET and HEAD, and nothing that it does writes anything. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { isIPv4 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ListenAddress } from '../../domain/kernel/settings/forms.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { type ListeningServer, urlOf } from '../../platform/health/health.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Pair } from '../admission/certificate.ts';
import { overviewPage, type PageView, REFRESH_SECONDS } from './page.ts';
import type { Overview, OverviewPart, Waiting } from './part.ts';
import { OVERVIEW_PATH, type Visitors } from './visitor.ts';
import type { OtherWorkflows } from './other-workflows.ts';

/** A browser opens six; some people may read it at once. */
const MAX_CONNECTIONS = 32;
const REQUEST_TIMEOUT_MS = 10_000;
/** The longest name of a namespace, as the API server takes them. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const PAGE = /^[1-9][0-9]{0,5}$/;

export interface OverviewServerOptions {
  readonly address: ListenAddress;
  readonly cluster: string;
  readonly overviews: readonly Overview[];
  /** Of those that no overview names, the workflows that wait. */
  readonly workflows: Pick<OtherWorkflows, 'refresh' | 'waiting' | 'trouble'>;
  /** As `PageView` has it. */
  readonly workflowUrl: PageView['workflowUrl'];
  /** Sentences about watches that are not current. */
  readonly troubles: () => readonly string[];
  readonly log: Log;
  readonly now?: () => EpochMs;
}

/** The page for those who may connect to this process's loopback address: Kubernetes says who may forward a port to it. */
export interface LocalOverview {
  readonly kind: 'local';
}

/** The page for others, with TLS, who need a token and the right to read it. */
export interface OpenedOverview {
  readonly kind: 'opened';
  readonly visitors: Pick<Visitors, 'visit'>;
}

export interface OverviewServer extends ListeningServer {
  /** Of an opened overview, for every connection from now on. Before the first certificate none comes to be. */
  useCertificate(pair: Pair): void;
}

/**
 * Serves the overview at `/`.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveOverview(
  options: OverviewServerOptions,
  audience: LocalOverview | OpenedOverview = { kind: 'local' },
): Promise<OverviewServer> {
  const { address, log } = options;
  const { server, useCertificate } = serverFor(audience);
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(REQUEST_TIMEOUT_MS);
  // Most starters are never asked for the page: what answers is loaded with the first request.
  let answers: Promise<RequestListener> | null = null;
  server.on('request', (request, response) => {
    answers ??= createAnswers(server, options, audience);
    answers.then(
      (listener) => listener(request, response),
      (error: unknown) => {
        log.error({ err: error }, 'the overview could not be loaded');
        response.destroy();
      },
    );
  });
  server.listen(address.port, address.host);
  await once(server, 'listening');
  return {
    url: urlOf(audience.kind === 'local' ? 'http' : 'https', address, server),
    useCertificate,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function serverFor({ kind }: LocalOverview | OpenedOverview): {
  readonly server: Server | TlsServer;
  readonly useCertificate: OverviewServer['useCertificate'];
} {
  const times = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: REQUEST_TIMEOUT_MS,
  };
  if (kind === 'local') return { server: createServer(times), useCertificate: () => {} };
  const server = createTlsServer({ ...times, handshakeTimeout: REQUEST_TIMEOUT_MS });
  return { server, useCertificate: ({ certificate, key }) => server.setSecureContext({ cert: certificate, key }) };
}

/** What answers the requests to a server that listens. */
async function createAnswers(
  server: Server | TlsServer,
  options: OverviewServerOptions,
  audience: LocalOverview | OpenedOverview,
): Promise<RequestListener> {
  const { fastify } = await import('../kernel/web-framework.ts');
  let answers: RequestListener = () => {};
  const app = fastify({
    serverFactory: (listener) => {
      answers = listener;
      return server;
    },
    logger: false,
    // Of an address that is none, before any hook: the framework's own answer has no headers of ours.
    frameworkErrors: (_error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      refuse(reply, 400, 'That is no address: expected /');
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      // What the client still sends is not read, so the connection cannot serve another request.
      void reply.header('connection', 'close').header('allow', 'GET, HEAD');
      return refuse(reply, 405, 'The overview is only read: expected GET');
    }
    return audience.kind === 'local' ? refuseOthers(request, reply) : await refuseStrangers(request, reply, audience);
  });
  app.get('/', async (request, reply) => {
    await options.workflows.refresh();
    return answer(request, reply, options);
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'There is no such page: expected /'));
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return refuse(reply, statusCode, 'Expected a request of a browser');
    options.log.error({ err: error }, 'the overview could not be shown');
    return refuse(reply, 500, 'The overview could not be shown; the log of the starter says why');
  });
  await app.ready();
  return answers;
}

function refuseOthers(request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  return isLocal(request)
    ? undefined
    : refuse(reply, 421, 'Expected localhost as the host, as kubectl port-forward has it');
}

async function refuseStrangers(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { visitors }: OpenedOverview,
): Promise<FastifyReply | undefined> {
  const visit = await visitors.visit(headers.authorization);
  switch (visit.kind) {
    case 'allowed':
      return undefined;
    case 'unknown':
      // A browser asks for a name, which may be any, and a password: the token.
      void reply.header('www-authenticate', 'Basic realm="Headroom: a token as the password", charset="UTF-8"');
      return refuse(reply, 401, 'Expected a token that the API server knows, as Bearer or as the password');
    case 'forbidden':
      return refuse(
        reply,
        403,
        `${visit.user} may not get ${OVERVIEW_PATH}: bind the ClusterRole headroom-overview-reader`,
      );
    case 'busy':
      void reply.header('retry-after', '1');
      return refuse(reply, 503, 'Too many are asking at once');
    case 'unanswered':
      return refuse(reply, 503, 'The API server does not say who is asking; the log of the starter says why');
  }
}

/**
 * Whether the browser means this machine: a page of somebody else whose name leads here, by a DNS server of theirs, would
 * otherwise read what is served here.
 */
function isLocal({ headers: { host = '' } }: FastifyRequest): boolean {
  const name = host.replace(/:[0-9]+$/, '').toLowerCase();
  return name === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

function answer(request: FastifyRequest, reply: FastifyReply, options: OverviewServerOptions): FastifyReply {
  const { cluster, overviews, workflows, workflowUrl, troubles, now: clock = Date.now } = options;
  const query = queryOf(request);
  const asked = (query.get('namespace') ?? '').trim().toLowerCase();
  const namespace = NAMESPACE.test(asked) ? asked : null;
  const refreshes = isLoadedAgain(request);
  const now = clock();
  const nonce = randomBytes(16).toString('base64');
  const parts = overviews.map((overview) => overview({ namespace, now }));
  const page = overviewPage({
    cluster,
    now,
    nonce,
    namespace,
    refreshes,
    workflowUrl,
    parts: withListed(parts, workflows.waiting(namespace)),
    troubles: [
      ...troubles(),
      ...(workflows.trouble === null ? [] : [workflows.trouble]),
      ...(asked === '' || namespace !== null
        ? []
        : [`${JSON.stringify(asked)} is no name of a namespace: all are shown.`]),
    ],
    pages: Object.fromEntries([...query].filter(([, text]) => PAGE.test(text)).map(([id, text]) => [id, Number(text)])),
  });
  return withHeaders(reply, nonce)
    .headers(refreshes ? { refresh: String(REFRESH_SECONDS) } : {})
    .type('text/html; charset=utf-8')
    .send(page);
}

/**
 * With the workflows that wait for a person by Temporal. Where the controller knows that a person has to act, it says it better.
 * Where it sees nobody, such as of a decision whose file cannot be found, the workflow knows more, but for the links.
 */
function withListed(parts: readonly OverviewPart[], listed: readonly Waiting[]): readonly OverviewPart[] {
  const all = parts.flatMap(({ waiting }) => waiting);
  const isSaid = new Set(all.flatMap(({ workflow, isForPeople }) => (isForPeople ? [workflow] : [])));
  const linksOf = new Map(all.map(({ workflow, links }) => [workflow, links]));
  const others = listed
    .filter(({ workflow }) => !isSaid.has(workflow))
    .map((line) => ({ ...line, links: linksOf.get(line.workflow) ?? line.links }));
  const replaced = new Set(others.map(({ workflow }) => workflow));
  const kept = parts.map(({ waiting, tables }) => ({
    waiting: waiting.filter(({ workflow }) => workflow === null || !replaced.has(workflow)),
    tables,
  }));
  return [...kept, { waiting: others, tables: [] }];
}

function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(url.split('?', 2)[1] ?? '');
}

/** Unless whoever reads it has stopped that. */
function isLoadedAgain(request: FastifyRequest): boolean {
  return queryOf(request).get('refresh') !== 'off';
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  // What is wrong for a moment must not be the last that a browser on a wall shows.
  if (status >= 500 && isLoadedAgain(reply.request)) void reply.header('refresh', String(REFRESH_SECONDS));
  return withHeaders(reply, null).code(status).type('text/plain; charset=utf-8').send(`${message}.\n`);
}

/** Nothing is loaded, run, framed, cached or told to others. */
function withHeaders(reply: FastifyReply, nonce: string | null): FastifyReply {
  const styles = nonce === null ? '' : ` style-src 'nonce-${nonce}';`;
  return reply.headers({
    'content-security-policy': `default-src 'none';${styles} form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  });
}
