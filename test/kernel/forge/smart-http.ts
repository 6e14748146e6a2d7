import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ForgeContext } from './context.ts';
import { gitEnvironment } from './git/command.ts';
import type { WriteLog } from './http/write-log.ts';

/**
 * Git over HTTP: clone and fetch for everybody, push with a token, by `git http-backend`. A push is logged as a write,
 * and the pull requests follow it.
 */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  {
    forge,
    url,
    path,
    user,
    writeLog,
  }: { forge: ForgeContext; url: URL; path: string; user: string | undefined; writeLog: WriteLog },
): Promise<void> {
  const pushes = path === '/git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack';
  if (user === undefined && (pushes || request.headers.authorization !== undefined)) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"', 'content-type': 'text/plain' });
    response.end('Authentication failed: give the token as the password.\n');
    return;
  }
  const environment = {
    ...gitEnvironment(),
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_TRANSLATED: `${forge.git.gitDir}${path}`,
    REQUEST_METHOD: request.method ?? 'GET',
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    CONTENT_LENGTH: request.headers['content-length'],
    HTTP_CONTENT_ENCODING: header(request, 'content-encoding'),
    GIT_PROTOCOL: header(request, 'git-protocol'),
    REMOTE_ADDR: '127.0.0.1',
    // With a remote user http-backend takes pushes without being told so in the repository's configuration.
    ...(user === undefined ? {} : { REMOTE_USER: user }),
  };
  if (path !== '/git-receive-pack') return backend(request, response, environment);
  await forge.lock.run(async () => {
    const before = await branches(forge);
    // Who has pushed finds the pull requests moved: the answer ends once the forge has taken the push in.
    await backend(request, response, environment, async () => recordPush(before));
  });

  async function recordPush(before: ReadonlyMap<string, string>): Promise<void> {
    const after = await branches(forge);
    const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
      (ref) => before.get(ref) !== after.get(ref),
    );
    for (const ref of changed) {
      const move = { branch: ref, before: before.get(ref) ?? null, after: after.get(ref) ?? null };
      await forge.pulls.branchMoved(move, user ?? forge.owner);
      writeLog.add({
        at: new Date().toISOString(),
        method: 'POST',
        path: url.pathname,
        status: 200,
        effect: true,
        requestBody: { branch: ref, before: before.get(ref) ?? null, after: after.get(ref) ?? null },
        responseBody: undefined,
        user: user ?? 'unknown',
        branch: ref,
      });
    }
    await forge.store.save();
  }
}

async function branches({ git }: ForgeContext): Promise<Map<string, string>> {
  return new Map((await git.refs('refs/heads/')).map(({ ref, sha }) => [ref.slice('refs/heads/'.length), sha]));
}

/** Runs `git http-backend` as the CGI program that it is. The answer ends after `beforeEnd`. */
async function backend(
  request: IncomingMessage,
  response: ServerResponse,
  environment: NodeJS.ProcessEnv,
  beforeEnd: () => Promise<void> = async () => {},
): Promise<void> {
  const child = spawn('git', ['http-backend'], { env: environment, stdio: 'pipe' });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  child.stderr.resume();
  response.on('close', () => child.kill());
  let head: Buffer | undefined = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (head === undefined) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const headers: Record<string, string> = {};
    let status = 200;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const colon = line.indexOf(':');
      const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
      if (name.toLowerCase() === 'status') status = Number(value.slice(0, 3));
      else headers[name] = value;
    }
    response.writeHead(status, headers);
    response.write(head.subarray(end + 4));
    head = undefined;
  });
  await new Promise<void>((resolve) => {
    child.on('error', () => resolve());
    child.on('close', () => resolve());
  });
  try {
    await beforeEnd();
  } finally {
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
    response.end();
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
