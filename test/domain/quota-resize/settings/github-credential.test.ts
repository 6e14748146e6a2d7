import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../../../starter/config.ts';
import { ConfigError } from '../../../../platform/config/config-problem.ts';
import { createGitHubCredentials } from '../../../../activities/quota-resize/github-credentials.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pkcs1 = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const base = { CLUSTER_NAME: 'kind', HEADROOM_MODE: 'propose', GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops' };
const app = { ...base, GITHUB_APP_ID: '123456', GITHUB_INSTALLATION_ID: '7654321', GITHUB_PRIVATE_KEY: pkcs1 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headroom-credential-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function load(env: Record<string, string>, isStarter = false): Config {
  return loadConfig({ env: { HOME: folder, ...env }, argv: [], program: isStarter ? 'starter' : 'worker' });
}

function rejection(env: Record<string, string>, isStarter = false): string {
  try {
    load(env, isStarter);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

function credentialsOf({ github }: Config) {
  if (github === undefined) throw new Error('GitHub is not configured');
  return createGitHubCredentials(github.credential, { apiUrl: github.apiUrl, requestTimeoutMs: 1000 });
}

/** Any part of the key that is long enough to be of use to anybody. */
function showsKey(text: string): boolean {
  return [pkcs1, pkcs8].some((pem) =>
    pem
      .split('\n')
      .slice(1, -2)
      .some((line) => text.includes(line)),
  );
}

describe('a GitHub App', () => {
  it.each([
    ['PKCS#1', pkcs1],
    ['PKCS#8', pkcs8],
    ['PKCS#1 with written line breaks', pkcs1.replaceAll('\n', '\\n')],
    ['PKCS#8 with the line breaks of Windows', pkcs8.replaceAll('\n', '\r\n')],
  ])('is taken with a key in %s', (_form, key) => {
    const config = load({ ...app, GITHUB_PRIVATE_KEY: key });
    expect(config.github?.credential.kind).toBe('app');
    expect(credentialsOf(config)).toMatchObject({
      host: 'api.github.com',
      id: 'app-123456-installation-7654321',
    });
  });

  it('may be named by its client id', () => {
    expect(credentialsOf(load({ ...app, GITHUB_APP_ID: 'Iv23liAbCdEfGhIjKlMn' })).id).toBe(
      'app-Iv23liAbCdEfGhIjKlMn-installation-7654321',
    );
  });

  it('is taken from files, and followed when they change', () => {
    const id = file('id', '123456\n');
    const installation = file('installation', '7654321\n');
    const key = file('key.pem', pkcs8);
    const config = load({
      ...base,
      GITHUB_APP_ID_FILE: id,
      GITHUB_INSTALLATION_ID_FILE: installation,
      GITHUB_PRIVATE_KEY_FILE: key,
    });
    const credentials = credentialsOf(config);
    expect(credentials.id).toBe('app-123456-installation-7654321');
    writeFileSync(installation, '42');
    expect(credentials.id).toBe('app-123456-installation-42');
    writeFileSync(installation, 'forty-two');
    expect(credentials.id, 'what is no number is not taken over').toBe('app-123456-installation-42');
  });

  it('stops the process for a key that is of no use, with what is wrong and nothing of the key', () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    const wrong: readonly (readonly [string, string])[] = [
      [pkcs1.slice(0, 900), 'it is cut off or damaged'],
      [pkcs8.replace('M', 'N'), 'it is cut off or damaged'],
      ['ghp_0123456789abcdefghijklmnopqrstuvwxyz', 'it does not begin with "-----BEGIN RSA PRIVATE KEY-----"'],
      [ec.export({ type: 'pkcs8', format: 'pem' }).toString(), 'it is a key of type ec, and not RSA'],
      [
        privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p' }).toString(),
        'it is encrypted with a passphrase',
      ],
    ];
    for (const [key, reason] of wrong) {
      const { GITHUB_PRIVATE_KEY: _none, ...rest } = app;
      for (const env of [
        { ...app, GITHUB_PRIVATE_KEY: key },
        { ...rest, GITHUB_PRIVATE_KEY_FILE: file('key.pem', key) },
      ]) {
        const message = rejection(env);
        expect(message).toMatch(/GITHUB_PRIVATE_KEY(_FILE)?\b/);
        expect(message).toContain(reason);
        expect(showsKey(message)).toBe(false);
        expect(message).not.toContain('ghp_');
      }
    }
  });

  it('is rejected beside a token, and when a part of it is missing', () => {
    expect(rejection({ ...app, GITHUB_TOKEN: 'a-token' })).toContain(
      'GITHUB_TOKEN: is set and GITHUB_APP_ID is set as well: expected either a token or an App',
    );
    const { GITHUB_INSTALLATION_ID: _none, ...rest } = app;
    expect(rejection(rest)).toContain(
      'GITHUB_INSTALLATION_ID or GITHUB_INSTALLATION_ID_FILE: is required with GITHUB_APP_ID',
    );
    expect(rejection({ ...app, GITHUB_APP_ID: 'headroom' })).toContain('the number of a GitHub App');
    expect(rejection({ ...app, GITHUB_APP_ID_FILE: file('id', '1') })).toContain('keep one of them');
  });

  it('is shown by no printing of the configuration', () => {
    const config = load(app);
    const printed = [
      JSON.stringify(config),
      inspect(config, { depth: null, showHidden: true }),
      String(config.secrets),
    ];
    for (const text of printed) expect(showsKey(text)).toBe(false);
  });
});

describe('the name of a token', () => {
  it('is the same for the same token, another one for another, and gives nothing of it away', () => {
    const idOf = (token: string) => credentialsOf(load({ ...base, GITHUB_TOKEN: token })).id;
    expect(idOf('first-token')).toBe(idOf('first-token'));
    expect(idOf('first-token')).not.toBe(idOf('second-token'));
    expect(idOf('first-token')).toMatch(/^token-[0-9a-f]{12}$/);
  });
});

describe('webhooks', () => {
  const webhooks = { CLUSTER_NAME: 'kind', GITHUB_WEBHOOKS: 'true' };

  it('are off unless they are switched on', () => {
    expect(load({ CLUSTER_NAME: 'kind' }, true).webhooks).toEqual({
      pollMs: undefined,
      address: undefined,
      secrets: undefined,
    });
  });

  it('are rejected without a secret, which a worker with the same configuration does not need', () => {
    expect(rejection(webhooks, true)).toContain(
      'GITHUB_WEBHOOK_SECRET or GITHUB_WEBHOOK_SECRET_FILE: is required with GITHUB_WEBHOOKS',
    );
    expect(load(webhooks).webhooks.address).toBeUndefined();
  });

  it('are signed with any of two secrets, by a comma or on two lines, and a file of them is followed', () => {
    const two = { ...webhooks, GITHUB_WEBHOOK_SECRET: 'old secret, new secret' };
    expect(load(two, true).webhooks.secrets?.reveal()).toEqual(['old secret', 'new secret']);
    const path = file('secret', 'old\nnew\n');
    const { secrets } = load({ ...webhooks, GITHUB_WEBHOOK_SECRET_FILE: path }, true).webhooks;
    expect(secrets?.reveal()).toEqual(['old', 'new']);
    writeFileSync(path, 'new\n');
    expect(secrets?.reveal()).toEqual(['new']);
    expect(rejection({ ...webhooks, GITHUB_WEBHOOK_SECRET: ' ,' }, true)).toContain('GITHUB_WEBHOOK_SECRET');
  });

  it('make the worker ask once an hour', () => {
    expect(load({ CLUSTER_NAME: 'kind', GITHUB_WEBHOOKS: 'true' }).webhooks.pollMs).toBe(3_600_000);
  });
});
