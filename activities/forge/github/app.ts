/**
 * A GitHub App as credential: its private key is exchanged for an installation token, which is valid for an hour and is
 * replaced before it expires.
 */
import { createAppAuth } from '@octokit/auth-app';
import { RequestError } from '@octokit/request-error';
import { Octokit } from '@octokit/rest';
import type { ApplicationFailure } from '@temporalio/common';
import { fingerprint, type GitHubCredentials, hostOf, SecretCache, REJECTED_REST_MS } from './credentials.ts';
import { failureOf, rateLimitWait, unauthorized } from './failures.ts';
import { fetchWhole } from './fetch.ts';
import { readPrivateKey } from '../../../domain/kernel/rsa-private-key.ts';

export interface AppOptions {
  /** The base URL of the REST API, for GitHub Enterprise too. */
  readonly apiUrl: string;
  /** The App's number or client id. */
  readonly appId: () => string;
  readonly installationId: () => string;
  /**
   * In any form that `readPrivateKey` accepts. All three functions are called at every exchange, so that the values can
   * be replaced without a restart.
   */
  readonly privateKey: () => string;
  /** Time limit of an exchange in milliseconds. Default: 30,000. */
  readonly requestTimeoutMs?: number;
}

/** A token with less remaining time is replaced, because a request may wait in a queue before it is sent. */
const RENEW_BEFORE_MS = 120_000;
/** GitHub's replicas may not know a new token for a few seconds. */
const REPLICATION_MS = 5_000;
/** The minimum time before a token is replaced, because the clocks may differ. */
const SHORTEST_LIFE_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** A line of a PEM has 64 characters; a shorter last line is not secret by itself. */
const SHORTEST_KEY_LINE = 32;

const ADVICE =
  'check GITHUB_APP_ID, GITHUB_INSTALLATION_ID and the private key, and that the App is still installed and not suspended; no restart is needed where they are read from files';

interface InstallationToken {
  readonly value: string;
  readonly obtainedAt: number;
  readonly expiresAt: number;
  readonly renewAt: number;
  /** The installation of the token. */
  readonly of: string;
  /** By GitHub's names: `contents: write`. */
  readonly permissions: Readonly<Record<string, string>>;
}

interface AppValues {
  readonly appId: string;
  readonly installationId: string;
  readonly privateKey: string;
}

/** The credential of a GitHub App's installation. */
export function appCredentials(options: AppOptions): GitHubCredentials {
  return new AppCredentials(options);
}

class AppCredentials implements GitHubCredentials {
  readonly host: string;
  readonly advice = ADVICE;
  readonly #options: AppOptions;
  readonly #secrets = new SecretCache();
  readonly #request: Octokit['request'];
  #token: InstallationToken | null = null;
  #exchanging: Promise<InstallationToken> | null = null;
  /** The last rejected exchange: the same values are not sent again for a while. */
  #rejected: { readonly values: string; readonly failure: ApplicationFailure; readonly askAgainAt: number } | null =
    null;

  constructor(options: AppOptions) {
    this.#options = options;
    this.host = hostOf(options.apiUrl);
    const timeoutMs = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
    const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const octokit = new Octokit({
      baseUrl: options.apiUrl.replace(/\/+$/, ''),
      userAgent: 'headroom',
      log: silent,
      // One exchange serves all activities that wait for a token.
      request: { fetch: fetchWhole({ timeoutMs, endsWithActivity: false }) },
    });
    this.#request = octokit.request;
  }

  get id(): string {
    const { appId, installationId } = this.#values();
    return `app-${appId}-installation-${installationId}`;
  }

  async authorization(): Promise<string> {
    const values = this.#values();
    const token = this.#token;
    if (token?.of === installationOf(values) && Date.now() < token.renewAt) return header(token);
    const rejected = this.#rejected;
    if (rejected?.values === fingerprintOf(values) && Date.now() < rejected.askAgainAt) throw rejected.failure;
    this.#exchanging ??= this.#exchange(values).finally(() => {
      this.#exchanging = null;
    });
    return header(await this.#exchanging);
  }

  rejected(authorization: string): number {
    const token = this.#token;
    if (token === null || authorization !== header(token)) return 0;
    const now = Date.now();
    const age = now - token.obtainedAt;
    if (now < token.expiresAt && age < REPLICATION_MS) return REPLICATION_MS;
    // A token that is so new was rejected for another reason than its age, and the next one would be rejected too.
    if (now < token.expiresAt && age < REJECTED_REST_MS) return REJECTED_REST_MS;
    this.#token = null;
    return 0;
  }

  async account(): Promise<string | null> {
    const values = this.#values();
    try {
      const { token } = await this.#authOf(values)({ type: 'app' });
      this.#secrets.remember(token);
      const { data } = await this.#request('GET /app', { headers: { authorization: `Bearer ${token}` } });
      return data === null || data.slug === undefined ? null : `${data.slug}[bot]`;
    } catch (error) {
      throw this.#failureOf(error, values);
    }
  }

  async permissions(): Promise<Readonly<Record<string, string>> | null> {
    await this.authorization();
    return this.#token?.permissions ?? null;
  }

  redact(text: string): string {
    this.#values();
    return this.#secrets.redact(text);
  }

  async #exchange(values: AppValues): Promise<InstallationToken> {
    try {
      const answer = await this.#authOf(values)({ type: 'installation', refresh: true });
      const { token: value } = answer;
      this.#secrets.remember(value);
      const obtainedAt = Date.now();
      const expiresAt = Date.parse(answer.expiresAt);
      const renewAt = Math.max(expiresAt - RENEW_BEFORE_MS, obtainedAt + SHORTEST_LIFE_MS);
      const permissions = answer.permissions as Readonly<Record<string, string>>;
      this.#token = { value, obtainedAt, expiresAt, renewAt, of: installationOf(values), permissions };
      this.#rejected = null;
      return this.#token;
    } catch (error) {
      throw this.#failureOf(error, values);
    }
  }

  #authOf({ appId, installationId, privateKey }: AppValues): ReturnType<typeof createAppAuth> {
    return createAppAuth({
      appId,
      installationId,
      privateKey: readPrivateKey(privateKey),
      request: this.#request,
      log: { warn: () => {} },
    });
  }

  #failureOf(error: unknown, values: AppValues): Error {
    const now = Date.now();
    const isAnswer = error instanceof RequestError;
    const isUnauthorized = isAnswer && error.response !== undefined && error.status < 500 && error.status !== 408;
    // Without a response the network may be down; any other error is about the key, which a retry does not fix.
    if (isAnswer && (!isUnauthorized || rateLimitWait(error, now) !== undefined)) {
      return failureOf(error, `an installation token on ${this.host}`, now, (text) => this.redact(text));
    }
    const words = this.redact(error instanceof Error ? error.message : String(error));
    const failure = unauthorized(
      `App ${values.appId} a token for installation ${values.installationId}`,
      isAnswer ? `${error.status}: ${words}` : words,
      this.advice,
    );
    this.#rejected = { values: fingerprintOf(values), failure, askAgainAt: now + REJECTED_REST_MS };
    return failure;
  }

  /** The present values; the secret ones are redacted from all texts from here on. */
  #values(): AppValues {
    const { appId, installationId, privateKey } = this.#options;
    const values = { appId: appId().trim(), installationId: installationId().trim(), privateKey: privateKey() };
    for (const line of values.privateKey.split(/\\n|\s+/)) {
      if (line.length >= SHORTEST_KEY_LINE) this.#secrets.remember(line);
    }
    return values;
  }
}

function header(token: InstallationToken): string {
  return `Bearer ${token.value}`;
}

function installationOf({ appId, installationId }: AppValues): string {
  return `${appId}/${installationId}`;
}

function fingerprintOf(values: AppValues): string {
  return fingerprint(JSON.stringify(values));
}
