/** The token of VPSie's REST, from the Secret that a person wrote. */
import { z } from 'zod';
import type { EpochMs } from '../../../../domain/kernel/time.ts';
import { readAnswer } from './answer.ts';
import type { VpsieOptions } from './options.ts';
import { providerUnavailable, quotable } from './quoted-message.ts';

/** How long what was read of the Secret is used. */
const SECRET_MS = 60_000;
/** A token is renewed so long before it ends, or after half of its time. */
const RENEWED_BEFORE_MS = 300_000;
/** Where VPSie does not say when a token ends. */
const DEFAULT_TOKEN_MS = 1_800_000;
/** A person has to write other credentials. */
const REFUSED_RETRY_MS = 30_000;

/** What is secret, and where it may be sent. */
export interface Access {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a request for a token. */
export type PostForm = (
  url: string,
  form: URLSearchParams,
) => Promise<{ readonly status: number; readonly text: string }>;

interface Token {
  readonly value: string;
  readonly renewAt: EpochMs;
}

interface ReadSecret {
  readonly data: Readonly<Record<string, string>>;
  readonly at: EpochMs;
}

const expiry = z.union([z.string(), z.number()]).nullish();
const tokenSchema = z.object({ token: z.string().min(1), expires: expiry });
/** It is at the top, or in `data`. */
const grantSchema = z.union([
  z.object({ accessToken: tokenSchema }),
  z.object({ data: z.object({ accessToken: tokenSchema }) }).transform(({ data }) => data),
]);

export class Credentials {
  readonly #options: Pick<VpsieOptions, 'baseUrl' | 'readSecret'>;
  readonly #post: PostForm;
  #secret: ReadSecret | null = null;
  #token: Token | null = null;
  #asking: Promise<Access> | null = null;
  readonly #secrets = new Set<string>();

  constructor(options: Pick<VpsieOptions, 'baseUrl' | 'readSecret'>, post: PostForm) {
    this.#options = options;
    this.#post = post;
  }

  /** Everything secret that was ever used. */
  get secrets(): Iterable<string> {
    return this.#secrets;
  }

  /** @throws `ProviderUnavailable` where there is no usable Secret, or VPSie gives no token for it. */
  async access(): Promise<Access> {
    // Those that need a token at the same time ask for one.
    this.#asking ??= this.#find().finally(() => {
      this.#asking = null;
    });
    return await this.#asking;
  }

  /** After VPSie has not accepted the token: the next one is asked for, with the Secret as it is then. */
  refused(): void {
    this.#secret = null;
    this.#token = null;
  }

  async #find(): Promise<Access> {
    const data = await this.#data();
    const baseUrl = checkedUrl(data['url']?.trim() || this.#options.baseUrl);
    const value = data['token']?.trim() || (await this.#granted(baseUrl, data));
    this.#secrets.add(value);
    return { baseUrl, headers: headersOf(value, baseUrl) };
  }

  async #data(): Promise<Readonly<Record<string, string>>> {
    const now = Date.now();
    if (this.#secret === null || now - this.#secret.at > SECRET_MS) {
      const data = await this.#options.readSecret();
      if (JSON.stringify(data) !== JSON.stringify(this.#secret?.data ?? null)) this.#token = null;
      this.#secret = { data, at: now };
    }
    return this.#secret.data;
  }

  async #granted(baseUrl: string, data: Readonly<Record<string, string>>): Promise<string> {
    const now = Date.now();
    if (this.#token !== null && now < this.#token.renewAt) return this.#token.value;
    const clientId = data['clientId']?.trim();
    const clientSecret = data['clientSecret']?.trim();
    if (!clientId || !clientSecret) {
      const message = "VPSie's Secret has neither token, nor clientId and clientSecret";
      throw providerUnavailable(message, REFUSED_RETRY_MS);
    }
    this.#secrets.add(clientSecret);
    const { status, text } = await this.#post(
      `${baseUrl}/auth/from/api`,
      new URLSearchParams({ clientId, clientSecret }),
    );
    const answer = readAnswer(status, null, text);
    if (answer.kind !== 'done') {
      const words = 'message' in answer ? `: ${quotable(answer.message, this.#secrets)}` : '';
      const message = `VPSie gives no token for clientId and clientSecret of its Secret (${status}${words})`;
      throw providerUnavailable(message, REFUSED_RETRY_MS);
    }
    this.#token = readGrant(text, now);
    return this.#token.value;
  }
}

/** The API below `/apps` takes a token in a header of its own, that of `/v2` as a bearer token. */
function headersOf(token: string, baseUrl: string): Access['headers'] {
  const isOfApps = new URL(baseUrl).pathname.startsWith('/apps/');
  return isOfApps ? { 'vpsie-auth': token } : { authorization: `Bearer ${token}` };
}

function readGrant(text: string, now: EpochMs): Token {
  const grant = grantSchema.safeParse(parsed(text));
  if (!grant.success) throw providerUnavailable('VPSie answered a request for a token without one', REFUSED_RETRY_MS);
  const { token, expires } = grant.data.accessToken;
  const lasts = Math.max(0, expiryOf(expires, now) - now);
  return { value: token, renewAt: now + lasts - Math.min(RENEWED_BEFORE_MS, lasts / 2) };
}

/** A text is a date, a number seconds or milliseconds of 1970. */
function expiryOf(expires: string | number | null | undefined, now: EpochMs): EpochMs {
  const at = typeof expires === 'string' ? Date.parse(expires) : (expires ?? Number.NaN);
  if (!Number.isFinite(at)) return now + DEFAULT_TOKEN_MS;
  return at < 1e11 ? at * 1000 : at;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** A person writes it: what it says gets the token, so it is not taken as it comes. */
function checkedUrl(written: string): string {
  const url = URL.canParse(written) ? new URL(written) : null;
  const isSafe =
    url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname)));
  if (!isSafe || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const message = "VPSie's address (url in its Secret, or the setting) is no plain https address";
    throw providerUnavailable(message, REFUSED_RETRY_MS);
  }
  return url.href.replace(/\/+$/u, '');
}
