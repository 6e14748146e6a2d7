import { generateKeyPairSync } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GitHubClient } from '../../../../activities/forge/github/client.ts';
import { appCredentials } from '../../../../activities/forge/github/app.ts';
import { type AppEndpoint, startAppEndpoint } from './app-endpoint.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const app = { appId: '123456', installationId: '7654321', key: privateKey };
const MINUTE = 60_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Moves the clock, and only it: requests go on in real time. */
function passTime(ms: number): void {
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: now + ms });
}

/** A client that is the App, and what it logged. */
function clientOf(endpoint: AppEndpoint, values: { appId?: string; key?: () => string } = {}) {
  const lines: string[] = [];
  const credentials = appCredentials({
    apiUrl: endpoint.url,
    appId: () => values.appId ?? app.appId,
    installationId: () => app.installationId,
    privateKey: values.key ?? (() => pem),
    requestTimeoutMs: 5000,
  });
  const client = new GitHubClient({
    apiUrl: endpoint.url,
    owner: 'acme',
    repo: 'gitops',
    credentials,
    writeSpacingMs: 0,
    requestTimeoutMs: 5000,
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
  });
  /** Which of the tokens a request was made with. */
  const ask = async () =>
    (await client.data<{ token: number }>((octokit) => octokit.request('GET /repos/acme/gitops/whoami'))).token;
  /** The same with a write. */
  const write = async () =>
    (await client.data<{ token: number }>((octokit) => octokit.request('POST /repos/acme/gitops/whoami'))).token;
  return { client, credentials, ask, write, lines };
}

describe('an App’s installation token', () => {
  it('is fetched once for all who wait for it, and used until shortly before its hour ends', async () => {
    await using endpoint = await startAppEndpoint(app);
    const { ask, client } = clientOf(endpoint);
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([0, 0, 0]);
    expect(client.forRepository('acme', 'other').credentials.id).toBe('app-123456-installation-7654321');
    passTime(57 * MINUTE);
    expect(await ask()).toBe(0);
    passTime(2 * MINUTE);
    expect(await ask(), 'a minute before it ends').toBe(1);
    expect(endpoint.tokens).toHaveLength(2);
  });

  it('is fetched from the API’s own address, on GitHub Enterprise below /api/v3', async () => {
    await using endpoint = await startAppEndpoint(app, '/api/v3');
    await clientOf(endpoint).ask();
    expect(endpoint.requests[0]).toBe('POST /api/v3/app/installations/7654321/access_tokens');
  });

  it('that is refused is replaced at once, and the request is sent again, a write too', async () => {
    await using endpoint = await startAppEndpoint(app);
    const { ask, write } = clientOf(endpoint);
    expect(await ask()).toBe(0);
    passTime(10 * MINUTE);
    endpoint.revoked.add(endpoint.tokens[0] ?? '');
    expect(await ask()).toBe(1);
    passTime(10 * MINUTE);
    endpoint.revoked.add(endpoint.tokens[1] ?? '');
    expect(await write()).toBe(2);
  });

  it('that is refused although it is new is not asked with again for a while, nor is another one fetched', async () => {
    await using endpoint = await startAppEndpoint(app);
    endpoint.failures.push({ status: 201, body: { token: 'unknown-token', expires_at: '2999-01-01T00:00:00Z' } });
    const { ask } = clientOf(endpoint);
    const failure: unknown = await ask().catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ForgeUnauthorized', nonRetryable: false, nextRetryDelay: 5000 });
    expect(String(failure)).toContain('check GITHUB_APP_ID, GITHUB_INSTALLATION_ID and the private key');
    expect(String(failure)).not.toContain('unknown-token');
    const asked = endpoint.requests.length;
    await expect(ask()).rejects.toMatchObject({ type: 'ForgeUnauthorized' });
    expect(endpoint.requests).toHaveLength(asked);
    passTime(2 * MINUTE);
    expect(await ask(), 'two minutes later').toBe(0);
  });
});

describe('an App that GitHub does not know', () => {
  it('is said to be that, asked for once a minute, and taken without a restart when its key is replaced', async () => {
    await using endpoint = await startAppEndpoint(app);
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    let key = other.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { ask, credentials } = clientOf(endpoint, { key: () => key });
    const failure: unknown = await ask().catch((error: unknown) => error);
    expect(failure).toMatchObject({ type: 'ForgeUnauthorized', nonRetryable: false });
    expect(String(failure)).toContain(
      'GitHub refuses App 123456 a token for installation 7654321 (401: A JSON web token could not be decoded',
    );
    await expect(ask()).rejects.toMatchObject({ type: 'ForgeUnauthorized' });
    expect(endpoint.requests).toHaveLength(1);
    key = pem.replaceAll('\n', '\\n');
    expect(await ask()).toBe(0);
    expect(credentials.redact(key.slice(40, 200))).not.toContain(pem.split('\n')[1]);
  });

  it('waits for a suspended installation, and says so', async () => {
    await using endpoint = await startAppEndpoint(app);
    endpoint.suspended = true;
    const { ask } = clientOf(endpoint);
    await expect(ask()).rejects.toMatchObject({
      type: 'ForgeUnauthorized',
      message: expect.stringContaining('403: This installation has been suspended'),
    });
    endpoint.suspended = false;
    passTime(2 * MINUTE);
    expect(await ask()).toBe(0);
  });

  it('is not the reason when GitHub is away or limits the exchange', async () => {
    await using endpoint = await startAppEndpoint(app);
    const { ask } = clientOf(endpoint);
    endpoint.failures.push({ status: 502, body: 'bad gateway' });
    await expect(ask()).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    endpoint.failures.push({ status: 429, body: { message: 'slow down' }, headers: { 'retry-after': '7' } });
    await expect(ask()).rejects.toMatchObject({ type: 'ForgeRateLimited', nextRetryDelay: 7000 });
    expect(await ask(), 'neither is taken for a refusal').toBe(0);
  });
});

describe('an App’s secrets', () => {
  it('are in no failure and no line of the log, whatever goes wrong', async () => {
    await using endpoint = await startAppEndpoint(app);
    const { ask, lines, credentials } = clientOf(endpoint);
    await ask();
    const token = endpoint.tokens[0] ?? '';
    const secret = `${token} and ${pem} and ${pem.replaceAll('\n', '\\n')}`;
    const texts: string[] = [];
    for (const status of [400, 401, 403, 404, 409, 422, 429, 500, 503]) {
      for (let time = 0; time < 2; time += 1) endpoint.failures.push({ status, body: { message: secret } });
      const failure: unknown = await ask().catch((error: unknown) => error);
      endpoint.failures.length = 0;
      texts.push(`${String(failure)} ${(failure as Error).stack} ${JSON.stringify(failure)}`);
      passTime(3 * MINUTE);
    }
    expect(texts).toHaveLength(9);
    const keyLines = pem.split('\n').slice(1, -2);
    for (const text of [...texts, lines.join(), credentials.redact(secret)]) {
      expect(text).not.toContain(token);
      for (const line of keyLines) expect(text).not.toContain(line);
    }
  });
});
