import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { resolve } from 'node:path';
import { Checks } from './checks.ts';
import type { ForgeContext } from './context.ts';
import { Control } from './control.ts';
import { GitRepository } from './git/repository.ts';
import { page } from './html.ts';
import { ApiServer } from './http/api-server.ts';
import { ControlServer } from './http/control-server.ts';
import { type Fault, type FaultRule, Faults, type Hold, type HoldRule } from './http/faults.ts';
import { RateLimits } from './http/rate-limits.ts';
import { WriteLog, type WriteExchange } from './http/write-log.ts';
import { Mutex } from './mutex.ts';
import { OpenApiValidation } from './openapi-validation.ts';
import type { ForgeOptions } from './options.ts';
import { PullRequests } from './pull-requests.ts';
import { Urls } from './represent/urls.ts';
import { checkRoutes } from './routes/checks.ts';
import { commitRoutes } from './routes/commits.ts';
import { contentRoutes } from './routes/contents.ts';
import { gitDatabaseRoutes } from './routes/git-database.ts';
import { issueRoutes } from './routes/issues.ts';
import { protectionRoutes } from './routes/protection.ts';
import { pullRoutes } from './routes/pulls.ts';
import { referenceRoutes } from './routes/references.ts';
import { repositoryRoutes } from './routes/repository.ts';
import { serveGit } from './smart-http.ts';
import { Store } from './store.ts';

export type { FaultAction } from './http/faults.ts';
export type { ForgeOptions } from './options.ts';

/**
 * GitHub's REST API over a real bare repository, running. Beside what is here it has everything of `Control`: what
 * people and CI do.
 */
export interface Forge extends Pick<Control, keyof Control> {
  /** The address of the API, for a client's `baseUrl`; `/api/v3` may be appended. */
  readonly url: string;
  /** The address that `git clone` takes. */
  readonly cloneUrl: string;
  readonly port: number;
  readonly gitDir: string;
  readonly defaultBranch: string;
  /** Every write exchange so far, the refused ones too, in the order of their answers. */
  readonly writes: readonly WriteExchange[];
  /** How many API requests came in. */
  readonly requests: number;
  /** Method and route of every kind of request so far: `GET /repos/{owner}/{repo}/pulls/{pull_number}`. */
  readonly endpoints: ReadonlySet<string>;
  /** What was not as GitHub's OpenAPI description says; empty without validation. */
  readonly violations: string[];
  /** Makes matching requests go wrong. */
  fail(rule: FaultRule): Fault;
  /** Stops a matching request before or after its effect. */
  hold(rule: HoldRule): Hold;
  /** Forgets faults and breaks what is held. */
  clearFaults(): void;
  /**
   * Stops listening and breaks what is open.
   * @throws Error when an exchange was not as GitHub describes it
   */
  stop(): Promise<void>;
}

/**
 * Serves a bare git repository as GitHub would.
 * @throws Error in one sentence when the repository or the port cannot be used
 */
export async function startForge(options: ForgeOptions): Promise<Forge> {
  const gitDir = resolve(options.gitDir);
  const git = await GitRepository.open(gitDir);
  const store = await Store.open(gitDir);
  const { owner, repo, login = 'headroom-bot' } = options;
  const checks = new Checks(store, options.checks ?? 'none', options.checkDelayMs ?? 200);
  const pulls = new PullRequests({
    git,
    store,
    checks,
    owner,
    mergeableDelayMs: options.mergeableDelayMs ?? 50,
    mergeMethods: options.mergeMethods ?? ['merge', 'squash', 'rebase'],
  });
  const defaultBranch = await git.defaultBranch();
  // A run of the tests says so in its environment, also to the processes that it starts.
  const validate = options.validate ?? process.env['VITEST'] !== undefined;
  const validation = validate ? new OpenApiValidation() : undefined;
  const faults = new Faults();
  const writeLog = new WriteLog(options.log);
  const tokens = tokensOf(options, login);

  const server = createServer();
  const port = await listen(server, options.port ?? 0).catch(async (cause: unknown) => {
    await git.close();
    throw cause;
  });
  const url = `http://127.0.0.1:${port}`;
  const forge: ForgeContext = {
    owner,
    repo,
    defaultBranch,
    urls: new Urls(url, owner, repo),
    git,
    store,
    checks,
    pulls,
    limits: new RateLimits(
      options.rateLimit?.limit ?? 5000,
      options.rateLimit?.windowSeconds ?? 3600,
      options.secondaryLimits ?? {},
    ),
    lock: new Mutex(),
    treeLimit: {
      entries: options.treeLimit?.entries ?? 100_000,
      // GitHub says 7 MB.
      bytes: options.treeLimit?.bytes ?? 7 * 1024 * 1024,
    },
  };
  const api = new ApiServer({
    forge,
    // The first that fits answers, so the paths that end in a name come before those that take any rest.
    routes: [
      ...protectionRoutes,
      ...checkRoutes,
      ...pullRoutes,
      ...issueRoutes,
      ...referenceRoutes,
      ...gitDatabaseRoutes,
      ...contentRoutes,
      ...commitRoutes,
      ...repositoryRoutes,
    ],
    faults,
    writeLog,
    tokens,
    login,
    latencyMs: options.latencyMs ?? 0,
    decisionPattern: options.decisionPattern ?? /([^/]+)$/,
    validation,
  });
  const control = new Control(forge);
  const violations = validation?.violations ?? [];
  const controlServer = new ControlServer({
    control,
    faults,
    report: () => ({ requests: api.requests, writes: writeLog.entries, violations }),
  });
  const gitPrefix = `/${owner}/${repo}.git`;

  const serving = new Set<Promise<void>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const address = new URL(request.url ?? '/', url);
    const served = serve(request, response, address)
      .catch((cause: unknown) => {
        // Only a broken connection gets here; an error of the API is an answer.
        response.destroy(cause instanceof Error ? cause : undefined);
      })
      .finally(() => serving.delete(served));
    serving.add(served);
  });

  async function serve(request: IncomingMessage, response: ServerResponse, address: URL): Promise<void> {
    if (address.pathname.startsWith('/_forge')) return controlServer.handle(request, response, address);
    if (address.pathname.startsWith(`${gitPrefix}/`)) {
      const user = userOfGit(request, tokens, login);
      const path = address.pathname.slice(gitPrefix.length);
      return serveGit(request, response, { forge, url: address, path, user, writeLog });
    }
    const found = request.method === 'GET' ? await page(forge, address.pathname) : undefined;
    if (found !== undefined) {
      response.writeHead(200, { 'content-type': found.contentType }).end(found.text);
      return undefined;
    }
    address.pathname = address.pathname.replace(/^\/api\/v3(?=\/)/, '');
    return api.handle(request, response, address);
  }

  checks.resume();
  return {
    url,
    cloneUrl: `${url}${gitPrefix}`,
    port,
    gitDir,
    defaultBranch,
    writes: writeLog.entries,
    get requests() {
      return api.requests;
    },
    endpoints: api.endpoints,
    violations,
    fail: (rule) => faults.fail(rule),
    hold: (rule) => faults.hold(rule),
    clearFaults: () => faults.clear(),
    setDefaultChecks: (mode) => control.setDefaultChecks(mode),
    setCheckRun: (change) => control.setCheckRun(change),
    setStatus: (change) => control.setStatus(change),
    protectBranch: (branch, wanted) => control.protectBranch(branch, wanted),
    closePullRequest: (number, by) => control.closePullRequest(number, by),
    reopenPullRequest: (number, by) => control.reopenPullRequest(number, by),
    mergePullRequest: (number, by, method) => control.mergePullRequest(number, by, method),
    approveReview: (number, by) => control.approveReview(number, by),
    requestChanges: (number, by) => control.requestChanges(number, by),
    comment: (number, by, body) => control.comment(number, by, body),
    setDraft: (number, draft) => control.setDraft(number, draft),
    pushCommit: (push) => control.pushCommit(push),
    deleteBranch: (branch) => control.deleteBranch(branch),
    readFile: (ref, path) => control.readFile(ref, path),
    branchTip: (branch) => control.branchTip(branch),
    async stop() {
      faults.clear();
      checks.stop();
      api.stop();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
      // What is under way finishes, so that the repository and the state on disk are whole.
      await Promise.all(serving);
      await pulls.stop();
      await store.save();
      await git.close();
      await writeLog.close();
      if (violations.length > 0) {
        throw new Error(`the forge had exchanges that GitHub does not describe:\n- ${violations.join('\n- ')}`);
      }
    },
  };
}

function tokensOf({ token, tokens }: ForgeOptions, login: string): ReadonlyMap<string, string> | undefined {
  if (token === undefined && tokens === undefined) return undefined;
  return new Map([...(token === undefined ? [] : [[token, login] as const]), ...Object.entries(tokens ?? {})]);
}

/** Who speaks git: undefined for a wrong password, and for nobody where a token is asked for. */
function userOfGit(
  { headers }: IncomingMessage,
  tokens: ReadonlyMap<string, string> | undefined,
  login: string,
): string | undefined {
  if (!tokens) return login;
  const [, credentials = ''] = (headers.authorization ?? '').split(' ');
  const [user = '', password = ''] = Buffer.from(credentials, 'base64').toString().split(':');
  return tokens.get(password) ?? tokens.get(user);
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
