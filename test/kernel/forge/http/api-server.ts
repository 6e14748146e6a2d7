import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { ApiError, notFound } from '../api-error.ts';
import { allows } from '../apps/permissions.ts';
import { type Caller, sees } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import type { Exchange, OpenApiValidation } from '../openapi-validation.ts';
import type { Site } from '../site.ts';
import { graphqlRoute } from '../graphql/route.ts';
import { operationIn } from '../graphql/operation.ts';
import { Body } from './body.ts';
import { type FaultAction, faultAnswer, type FieldFault, type Faults, waitAt } from './faults.ts';
import { type Answer, type Route, Router } from './route.ts';
import type { WriteLog } from './write-log.ts';

export interface ApiServerOptions {
  readonly site: Site;
  readonly routes: readonly Route[];
  readonly faults: Faults;
  readonly writeLog: WriteLog;
  /** Who asks. @throws ApiError 401 */
  readonly callerOf: (authorization: string | undefined) => Caller;
  readonly latencyMs: number;
  readonly decisionPattern: RegExp;
  readonly validation: OpenApiValidation | undefined;
}

/** What is known of a request by the time it is answered. */
interface Handled {
  readonly answer: Answer;
  readonly user: string;
  readonly credential: string;
  /** The repository that it was about; for what is about none, the forge's first. */
  readonly forge: ForgeContext;
  readonly route?: Route;
  readonly effect: boolean;
  /** The path parameters and body that the handler saw. */
  readonly params: Readonly<Record<string, string>>;
}

const DOCS = 'https://docs.github.com/rest';

/** The API: lets requests in, finds who answers, and writes the answer with GitHub's headers. */
export class ApiServer {
  /** When API requests came in, in milliseconds since 1970, oldest first. */
  readonly requestTimes: number[] = [];
  /** Method and route of every kind of request that was answered: `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly endpoints = new Set<string>();
  readonly #options: ApiServerOptions;
  readonly #router: Router;
  readonly #stopping = new AbortController();

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
  }

  /** Breaks off the requests that are only kept waiting. */
  stop(): void {
    this.#stopping.abort();
  }

  /** @param url with the prefix `/api/v3` taken off */
  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { site, faults, latencyMs, writeLog } = this.#options;
    this.requestTimes.push(Date.now());
    const method = request.method ?? 'GET';
    const text = (await readBody(request)).toString();
    const incoming = { method, path: url.pathname, body: text };
    const graphql = url.pathname === '/graphql' ? operationIn(text) : undefined;
    const reads = method === 'GET' || method === 'HEAD';
    const writes = graphql ? graphql.mutates : !reads;
    // The client may be gone while the request waits, and a client that is gone gets nothing done.
    let gone = false;
    response.on('close', () => {
      gone = true;
    });
    const broken = (): void => {
      request.socket.resetAndDestroy();
    };
    const { signal } = this.#stopping;
    if (latencyMs > 0) await after(latencyMs, undefined, { signal });
    const action = faults.next(incoming);
    const holds = faults.stopping(incoming);
    if (action?.kind === 'slow') await after(action.ms, undefined, { signal });
    if (action?.kind === 'connection-reset') return broken();
    if (holds.length > 0) {
      if ((await waitAt(holds, 'before', incoming)) === 'break') return broken();
      if (gone) return undefined;
    }
    const injected = action && faultAnswer(action, site.limits.limit);
    const fieldFault = action?.kind === 'field-error' ? action : undefined;
    const handled = await this.#answer(request, url, method, text, { writes, injected, fieldFault });
    const { answer, route } = handled;
    const endpoint = route && [route.method, route.path, ...(graphql?.fields ?? [])].join(' ');
    if (endpoint) this.endpoints.add(endpoint);
    const bytes = serialise(answer);
    const etag = `"${createHash('sha1').update(bytes).digest('hex')}"`;
    const unchanged = reads && answer.status === 200 && matches(request.headers['if-none-match'], etag);
    // GitHub does not count what it answers with 304, nor the question for the limit itself.
    if (!injected && !unchanged && route?.path !== '/rate_limit') site.limits.charge(handled.credential);
    const headers: Record<string, string> = {
      ...site.limits.headers(handled.credential),
      'x-github-media-type': 'github.v3; format=json',
      'x-github-api-version-selected': '2022-11-28',
      'x-github-request-id': createHash('sha1')
        .update(`${this.requestTimes.length} ${url.href}`)
        .digest('hex')
        .slice(0, 20),
      ...(answer.body === undefined ? {} : { 'content-type': answer.contentType ?? 'application/json; charset=utf-8' }),
      ...(reads && answer.status === 200 ? { etag, 'cache-control': 'private, max-age=60, s-maxage=60' } : {}),
      ...answer.headers,
    };
    // GraphQL is held to its own description, by its executor.
    if (route && !injected && !unchanged && !graphql) await this.#validate(route, url, text, handled, answer);
    if (writes) {
      writeLog.add({
        at: new Date().toISOString(),
        method,
        path: decodeURIComponent(url.pathname),
        status: answer.status,
        effect: handled.effect,
        requestBody: parsed(text),
        responseBody: answer.body,
        user: handled.user,
        ...this.#about(handled, text),
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(action ? { fault: describe(action) } : {}),
      });
    }
    if (holds.length > 0 && (await waitAt(holds, 'after', incoming)) === 'break') return broken();
    if (action?.kind === 'answer-lost') return broken();
    if (unchanged) {
      delete headers['content-type'];
      response.writeHead(304, headers).end();
      return undefined;
    }
    response.writeHead(answer.status, { ...headers, 'content-length': String(bytes.length) });
    response.end(method === 'HEAD' ? undefined : bytes);
    return undefined;
  }

  async #answer(
    request: IncomingMessage,
    url: URL,
    method: string,
    text: string,
    {
      writes,
      injected,
      fieldFault,
    }: { writes: boolean; injected: ApiError | undefined; fieldFault: FieldFault | undefined },
  ): Promise<Handled> {
    const { site } = this.#options;
    let route: Route | undefined;
    let params: Record<string, string> = {};
    let caller: Caller = { user: 'unknown', credential: 'unknown' };
    let forge = site.first;
    let admitted = false;
    try {
      if (injected) throw injected;
      caller = this.#options.callerOf(request.headers.authorization);
      // A token for an installation is no content; everything else that writes is.
      const made = url.pathname === '/graphql' ? operationIn(text).fields.length : 1;
      site.limits.admit(caller.credential, writes && !url.pathname.startsWith('/app/') ? made : 0);
      admitted = true;
      const found = this.#router.match(method === 'HEAD' ? 'GET' : method, url.pathname);
      if (!found) throw notFound();
      ({ route, params } = found);
      const named = this.#repositoryOf(params, caller);
      reject(found.route, caller, named !== undefined);
      forge = named ?? forge;
      const call = {
        forge,
        params,
        query: url.searchParams,
        body: Body.parse(text),
        text,
        ...(fieldFault === undefined ? {} : { fieldFault }),
        ...caller,
        format: /application\/vnd\.github(?:\.v3)?\.(\w+)/.exec(request.headers.accept ?? '')?.[1] ?? 'json',
        url,
      };
      const respond = async (): Promise<Answer> => found.route.handle(call);
      // A GraphQL request names its repositories inside, and locks them itself.
      const locks = writes && route !== graphqlRoute;
      const answer = locks ? await forge.lock.run(respond) : await respond();
      if (locks) await forge.store.save();
      return { answer, ...caller, forge, route, effect: answer.effect ?? writes, params };
    } catch (cause) {
      const error = cause instanceof ApiError ? cause : new ApiError(500, `The forge failed: ${String(cause)}`);
      const body = {
        message: error.message,
        ...(error.errors ? { errors: error.errors } : {}),
        documentation_url: `${DOCS}${route ? `/${route.docs}` : ''}`,
        status: String(error.status),
      };
      const answer = { status: error.status, body, headers: error.headers };
      return { answer, ...caller, forge, ...(route ? { route } : {}), effect: false, params };
    } finally {
      if (admitted) site.limits.finish(caller.credential);
    }
  }

  /** The repository of a path; undefined for a path without one. @throws ApiError 404 */
  #repositoryOf({ owner, repo }: Readonly<Record<string, string>>, caller: Caller): ForgeContext | undefined {
    if (owner === undefined || repo === undefined) return undefined;
    const found = this.#options.site.find(owner, repo);
    if (!found || !sees(caller, found)) throw notFound();
    return found;
  }

  async #validate(route: Route, url: URL, text: string, { params }: Handled, answer: Answer): Promise<void> {
    const exchange: Exchange = {
      method: route.method,
      template: route.path,
      url,
      params,
      requestBody: parsed(text),
      status: answer.status,
      contentType: answer.contentType ?? 'application/json',
      responseBody: answer.body,
    };
    await this.#options.validation?.check(exchange);
  }

  /** The branch that a write is about: in its body, in its path, or that of its pull request. */
  #about({ params, route, forge, answer }: Handled, text: string): { branch?: string; decision?: string } {
    const { decisionPattern } = this.#options;
    const body = parsed(text);
    const field = (name: string): string | undefined => {
      const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;
      return typeof value === 'string' ? value : undefined;
    };
    const number = Number(params['pull_number'] ?? params['issue_number']);
    const named = route?.path.includes('/git/refs')
      ? (field('ref') ?? params['ref'])
      : (field('branch') ?? field('head'));
    const branch =
      answer.branch ??
      named?.replace(/^(refs\/)?heads\//, '').replace(/^[^/]*:/, '') ??
      forge.store.state.pulls.find((pull) => pull.number === number)?.headRef;
    if (branch === undefined) return {};
    const decision = branch === forge.defaultBranch ? undefined : decisionPattern.exec(branch)?.[1];
    return { branch, ...(decision === undefined ? {} : { decision }) };
  }
}

/** @throws ApiError 401 or 403 when this caller may not ask for this, as GitHub tells an app */
function reject(route: Route, { app, installation }: Caller, ofRepository: boolean): void {
  if (route.for === 'app' && !app) throw new ApiError(401, 'A JSON web token could not be decoded');
  const short =
    installation &&
    (ofRepository ? !allows(installation.permissions, route.method, route.path) : route.path === '/user');
  if ((app && route.for !== 'app') || short) throw new ApiError(403, 'Resource not accessible by integration');
}

/** Reads a request to its end. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function serialise({ body }: Answer): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Whether a client's `If-None-Match` names this entity; GitHub compares weakly. */
function matches(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*') ?? false;
}

function parsed(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function describe(action: FaultAction): string {
  return action.kind === 'status' ? `status ${action.status}` : action.kind;
}
