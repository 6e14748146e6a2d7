/**
 * The one endpoint of GitHub that takes an App's own signature: it exchanges it for the token of an installation. Beside
 * it there is one that tells whom a token belongs to.
 */
import { createPublicKey, createVerify, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AppEndpoint extends AsyncDisposable {
  readonly url: string;
  /** What came in, as `METHOD path`. */
  readonly requests: readonly string[];
  /** Every token that was given out, the oldest first. */
  readonly tokens: readonly string[];
  /** Whether the signature is accepted; a person may replace the key or suspend the installation. */
  key: KeyObject;
  suspended: boolean;
  /** How long a token is valid, in milliseconds. */
  lifeMs: number;
  /** Tokens that are valid no more, whatever their age. */
  readonly revoked: Set<string>;
  /** The next answers, instead of the right ones. */
  readonly failures: { status: number; body: unknown; headers?: Record<string, string> }[];
}

/** @param prefix of every path: `/api/v3` on GitHub Enterprise. */
export async function startAppEndpoint(
  app: { readonly appId: string; readonly installationId: string; readonly key: KeyObject },
  prefix = '',
): Promise<AppEndpoint> {
  const requests: string[] = [];
  const tokens: string[] = [];
  const expiry = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(`${request.method} ${path}`);
    const failure = endpoint.failures.shift();
    if (failure !== undefined) return send(response, failure.status, failure.body, failure.headers);
    if (request.method === 'POST' && path === `${prefix}/app/installations/${app.installationId}/access_tokens`) {
      const rejected = obstacleOf(bearer(request), app.appId, endpoint.key);
      if (rejected !== null) return send(response, 401, { message: rejected });
      if (endpoint.suspended) return send(response, 403, { message: 'This installation has been suspended' });
      const token = `ghs_${randomBytes(18).toString('hex')}`;
      tokens.push(token);
      expiry.set(token, Date.now() + endpoint.lifeMs);
      const expiresAt = new Date(Date.now() + endpoint.lifeMs).toISOString();
      return send(response, 201, { token, expires_at: expiresAt, permissions: { contents: 'write' } });
    }
    const token = bearer(request);
    const isValid = Date.now() < (expiry.get(token) ?? 0) && !endpoint.revoked.has(token);
    if (!isValid) return send(response, 401, { message: 'Bad credentials' });
    return send(response, 200, { token: tokens.indexOf(token) });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const endpoint: AppEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    requests,
    tokens,
    key: app.key,
    suspended: false,
    lifeMs: 3_600_000,
    revoked: new Set(),
    failures: [],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
  return endpoint;
}

function send(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function bearer(request: IncomingMessage): string {
  return request.headers.authorization?.replace(/^bearer /i, '') ?? '';
}

/** Why a JSON Web Token is not taken, in GitHub's words; null when it is. */
function obstacleOf(jwt: string, appId: string, key: KeyObject): string | null {
  const [head = '', body = '', signature = ''] = jwt.split('.');
  const verify = createVerify('RSA-SHA256').update(`${head}.${body}`);
  if (!verify.verify(createPublicKey(key), signature, 'base64url')) return 'A JSON web token could not be decoded';
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as { iss: unknown; exp: number };
  if (String(claims.iss) !== appId) return 'Integration not found';
  return claims.exp * 1000 < Date.now() ? "'Expiration time' claim ('exp') must be a numeric value" : null;
}
