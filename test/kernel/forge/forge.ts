import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AppOptions } from './apps/apps.ts';
import { type ForgeApp, registeredApp } from './apps/handle.ts';
import { Callers } from './callers.ts';
import type { ForgeContext } from './context.ts';
import { Control } from './control.ts';
import { graphqlRoute } from './graphql/route.ts';
import { page } from './html.ts';
import { ApiServer } from './http/api-server.ts';
import { ControlServer } from './http/control-server.ts';
import { type Fault, type FaultRule, Faults, type Hold, type HoldRule } from './http/faults.ts';
import { WriteLog, type WriteExchange } from './http/write-log.ts';
import { OpenApiValidation } from './openapi-validation.ts';
import { closeRepository, openRepository, quietRepository, type RepositoryOptions } from './open-repository.ts';
import type { ForgeOptions, SecondaryLimits } from './options.ts';
import { appRoutes } from './routes/apps.ts';
import { checkRoutes } from './routes/checks.ts';
import { collaboratorRoutes } from './routes/collaborators.ts';
import { commitRoutes } from './routes/commits.ts';
import { contentRoutes } from './routes/contents.ts';
import { gitDatabaseRoutes } from './routes/git-database.ts';
import { hookRoutes } from './routes/hooks.ts';
import { issueRoutes } from './routes/issues.ts';
import { protectionRoutes } from './routes/protection.ts';
import { pullRoutes } from './routes/pulls.ts';
import { referenceRoutes } from './routes/references.ts';
import { repositoryRoutes } from './routes/repository.ts';
import { reviewRoutes } from './routes/reviews.ts';
import { Site } from './site.ts';
import { serveGit } from './smart-http.ts';

export type { FaultAction } from './http/faults.ts';
export type { ForgeOptions } from './options.ts';

/** One repository of a forge, with everything of `Control`: what people and CI do there. */
export interface ForgeRepository extends Pick<Control, keyof Control> {
  readonly owner: string;
  readonly repo: string;
  /** The address that `git clone` takes. */
  readonly cloneUrl: string;
  readonly gitDir: string;
  readonly defaultBranch: string;
}

/** GitHub's API over real bare repositories, running. Its own methods are about the first repository. */
export interface Forge extends ForgeRepository {
  /** The address of the pages, and of the API for a client's `baseUrl` (`/api/v3` may be appended). */
  readonly url: string;
  /** The address of the REST API: `url`, or on GitHub Enterprise `/api/v3` below it. */
  readonly apiUrl: string;
  readonly port: number;
  /** Every write exchange so far, the refused ones too, in the order of their answers. */
  readonly writes: readonly WriteExchange[];
  /** How many API requests came in. */
  readonly requests: number;
  /** When they came in, in milliseconds since 1970, oldest first. */
  readonly requestTimes: readonly number[];
  /** Method and route of every kind of request so far: `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly endpoints: ReadonlySet<string>;
  /** What was not as GitHub's OpenAPI description says; empty without validation. */
  readonly violations: string[];
  /** One of the forge's repositories: `acme/gitops`. @throws Error when there is none of that name */
  repository(name: string): ForgeRepository;
  /** Serves one more repository. */
  addRepository(options: RepositoryOptions): Promise<ForgeRepository>;
  /** Sets the secondary limits from now on. They are counted for each credential, with what was written before. */
  limit(limits: SecondaryLimits): void;
  /** When the writes that were let in came, in milliseconds since 1970: those of one credential, or all. */
  writeTimes(credential?: string): readonly number[];
  /** Registers a GitHub App, which is installed nowhere yet. */
  registerApp(options: AppOptions): ForgeApp;
  /** Takes a person's token back: who comes with it is refused with 401. */
  revokeToken(token: string): void;
  /** Makes matching requests go wrong. */
  fail(rule: FaultRule): Fault;
  /** Stops a matching request before or after its effect. */
  hold(rule: HoldRule): Hold;
  /** Forgets faults and breaks what is held. */
  clearFaults(): void;
  /**
   * Stops listening and breaks what is open; webhooks that are not delivered by then never are.
   * @throws Error when an exchange was not as GitHub describes it
   */
  stop(): Promise<void>;
}

// The first that fits answers, so the paths that end in a name come before those that take any rest.
const ROUTES = [
  ...protectionRoutes,
  ...checkRoutes,
  ...pullRoutes,
  ...reviewRoutes,
  ...issueRoutes,
  ...referenceRoutes,
  ...gitDatabaseRoutes,
  ...contentRoutes,
  ...collaboratorRoutes,
  ...commitRoutes,
  ...hookRoutes,
  ...appRoutes,
  ...repositoryRoutes,
  graphqlRoute,
];

const ENTERPRISE_PREFIX = '/api/v3';

/**
 * Serves bare git repositories as GitHub would.
 * @throws Error in one sentence when a repository or the port cannot be used
 */
export async function startForge(options: ForgeOptions): Promise<Forge> {
  // A run of the tests says so in its environment, also to the processes that it starts.
  const validate = options.validate ?? process.env['VITEST'] !== undefined;
  const enterprise = options.enterprise ?? false;
  const validation = validate ? new OpenApiValidation(enterprise ? 'ghes-3.19' : 'api.github.com') : undefined;
  const faults = new Faults();
  const writeLog = new WriteLog(options.log);
  // A client that is held up for seconds may send its next request while an idle connection is being closed.
  const server = createServer({ keepAliveTimeout: 0 });
  const ready = Promise.withResolvers<void>();
  const serving = new Set<Promise<void>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const served = ready.promise
      .then(() => serve(request, response, new URL(request.url ?? '/', url)))
      .catch((cause: unknown) => {
        // Only a broken connection gets here; an error of the API is an answer.
        response.destroy(cause instanceof Error ? cause : undefined);
      })
      .finally(() => serving.delete(served));
    serving.add(served);
  });
  const port = await listen(server, options.port ?? 0);
  const url = `http://127.0.0.1:${port}`;
  const apiUrl = enterprise ? `${url}${ENTERPRISE_PREFIX}` : url;

  const site = new Site({ root: url, apiRoot: apiUrl }, options, validation);
  const callers = new Callers(options, site.apps);
  try {
    await openRepository(site, options, options);
    for (const more of options.repositories ?? []) await openRepository(site, more, options);
  } catch (cause) {
    server.close();
    server.closeAllConnections();
    for (const opened of site.repositories) await closeRepository(opened);
    throw cause;
  }
  const api = new ApiServer({
    site,
    routes: ROUTES,
    faults,
    writeLog,
    callerOf: (authorization) => callers.ofApi(authorization),
    latencyMs: options.latencyMs ?? 0,
    decisionPattern: options.decisionPattern ?? /([^/]+)$/,
    validation,
  });
  const violations = validation?.violations ?? [];
  const control = new Control(site.first);
  const controlServer = new ControlServer({
    controlOf: (name) => (name === null ? control : new Control(named(site, name))),
    faults,
    registerApp: (app) => registeredApp(site, site.apps.register(app)),
    limits: site.limits,
    report: () => ({ requests: api.requestTimes.length, writes: writeLog.entries, violations }),
  });
  if (options.hooks) {
    site.first.store.state.hooks.length = 0;
    for (const hook of options.hooks) await control.addHook(hook);
  }
  ready.resolve();

  async function serve(request: IncomingMessage, response: ServerResponse, address: URL): Promise<void> {
    if (address.pathname.startsWith('/_forge')) return controlServer.handle(request, response, address);
    const [, owner = '', repo = '', path] = /^\/([^/]+)\/([^/]+)\.git(\/.*)$/.exec(address.pathname) ?? [];
    const cloned = path === undefined ? undefined : site.find(owner, repo);
    if (cloned && path !== undefined) {
      const user = callers.ofGit(request.headers.authorization, cloned);
      return serveGit(request, response, { forge: cloned, url: address, path, user, writeLog });
    }
    const found = request.method === 'GET' ? await pageOf(site, address.pathname) : undefined;
    if (found !== undefined) {
      response.writeHead(200, { 'content-type': found.contentType }).end(found.text);
      return undefined;
    }
    const inApi = address.pathname.startsWith(`${ENTERPRISE_PREFIX}/`) || address.pathname === '/api/graphql';
    if (enterprise && !inApi) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not Found\n');
      return undefined;
    }
    address.pathname = address.pathname.replace(/^\/api\/v3(?=\/)/, '').replace(/^\/api(?=\/graphql$)/, '');
    return api.handle(request, response, address);
  }

  const shown = (repository: ForgeContext): ForgeRepository => ({
    ...methodsOf(repository === site.first ? control : new Control(repository)),
    owner: repository.owner,
    repo: repository.repo,
    cloneUrl: `${repository.urls.html}.git`,
    gitDir: repository.git.gitDir,
    defaultBranch: repository.defaultBranch,
  });
  return {
    ...shown(site.first),
    url,
    apiUrl,
    port,
    writes: writeLog.entries,
    get requests() {
      return api.requestTimes.length;
    },
    requestTimes: api.requestTimes,
    endpoints: api.endpoints,
    violations,
    repository: (name) => shown(named(site, name)),
    addRepository: async (more) => shown(await openRepository(site, more, options)),
    limit: (limits) => site.limits.setSecondary(limits),
    writeTimes: (credential) => site.limits.writeTimes(credential),
    registerApp: (app) => registeredApp(site, site.apps.register(app)),
    revokeToken: (token) => callers.revoke(token),
    fail: (rule) => faults.fail(rule),
    hold: (rule) => faults.hold(rule),
    clearFaults: () => faults.clear(),
    async stop() {
      faults.clear();
      api.stop();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
      await Promise.all(serving);
      for (const repository of site.repositories) await quietRepository(repository);
      await site.deliverer.stop();
      for (const repository of site.repositories) await closeRepository(repository);
      await writeLog.close();
      if (violations.length > 0) {
        throw new Error(`the forge had exchanges that GitHub does not describe:\n- ${violations.join('\n- ')}`);
      }
    },
  };
}

/** @throws Error when there is no repository of that name */
function named(site: Site, name: string): ForgeContext {
  const [owner = '', repo = ''] = name.split('/');
  const found = site.find(owner, repo);
  if (!found) {
    const all = site.repositories.map((repository) => `${repository.owner}/${repository.repo}`).join(', ');
    throw new Error(`the forge has no repository ${name}, only ${all}`);
  }
  return found;
}

async function pageOf(site: Site, path: string): ReturnType<typeof page> {
  for (const repository of site.repositories) {
    const found = await page(repository, path);
    if (found) return found;
  }
  return undefined;
}

/** The methods of a control as an object of their own, which may be spread and taken apart. */
function methodsOf(control: Control): Pick<Control, keyof Control> {
  const names = Object.getOwnPropertyNames(Control.prototype).filter((name) => name !== 'constructor');
  const methods = names.map((name) => {
    const method: unknown = Reflect.get(control, name);
    if (typeof method !== 'function') throw new Error(`the control's ${name} is no method`);
    return [name, method.bind(control)] as const;
  });
  return Object.fromEntries(methods) as unknown as Pick<Control, keyof Control>;
}

async function listen(server: Server, port: number): Promise<number> {
  return new Promise((done, reject) => {
    server.on('error', (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === 'EADDRINUSE' ? new Error(`port ${port} is taken by another process; choose another`) : cause,
      ),
    );
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      done(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
