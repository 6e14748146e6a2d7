/**
 * Headroom's identity on GitHub: the header of every request, what to do when GitHub rejects it, and its redaction from
 * texts. This file has the interface and the token; a GitHub App is in app.ts.
 */
import { digestOf } from '../../../domain/kernel/digest.ts';

export interface GitHubCredentials {
  /** The host of the API, with its port where it has one: `api.github.com`. */
  readonly host: string;
  /**
   * A stable name of this credential on its host, without secrets. Processes with the same credential have the same
   * name and therefore share a write budget. Computed at each use, because a rotated token has another name.
   */
  readonly id: string;
  /** What a person should check when GitHub rejects the credential, as the end of a sentence. */
  readonly advice: string;
  /**
   * The value of the header `authorization` for the next request.
   *
   * @throws {ApplicationFailure} ForgeUnauthorized, ForgeRateLimited or ForgeUnavailable if it has to be fetched.
   */
  authorization(): Promise<string>;
  /**
   * Reports that GitHub responded with 401 to this header.
   *
   * @returns the milliseconds for which the same header must not be sent again; 0 when the next `authorization()`
   *   returns a different one, so that the request can be sent again at once.
   */
  rejected(authorization: string): number;
  /** The account that requests are made by, where GitHub does not tell it at `/user`; null where it does. */
  account(): Promise<string | null>;
  /** What it may, by GitHub's names of permissions; null where GitHub does not tell, as for a token. */
  permissions(): Promise<Readonly<Record<string, string>> | null>;
  /** The text without any present or former secret of this credential. */
  redact(text: string): string;
}

/**
 * GitHub locks an account for a while if it keeps sending a rejected credential; a mistaken rejection ends by itself.
 */
export const REJECTED_REST_MS = 60_000;

/** How many secrets are redacted, former ones included: a slow response may arrive after a rotation. */
const REMEMBERED_SECRETS = 200;
const HIDDEN = '[redacted]';

/**
 * Credentials recognizable by their format: JSON Web Tokens, and private keys in PEM, also with escaped line breaks.
 */
const SECRET_FORMS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:\\+[nr]|\s)*[\w+/=]{16}[\s\S]*?(?:-----END|$)/g,
];

/** Remembers the values to redact: the present ones and the last ones before. */
export class SecretCache {
  readonly #values: string[] = [];

  remember(value: string): void {
    if (value === '' || this.#values.includes(value)) return;
    this.#values.unshift(value);
    this.#values.splice(REMEMBERED_SECRETS);
  }

  redact(text: string): string {
    const byForm = SECRET_FORMS.reduce((clean, form) => clean.replace(form, HIDDEN), text);
    // The longest first, because a secret may be part of another one.
    const values = this.#values.toSorted((a, b) => b.length - a.length);
    return values.reduce((clean, value) => clean.replaceAll(value, HIDDEN), byForm);
  }
}

/** `api.github.com`, or `github.example.com:8443`. */
export function hostOf(apiUrl: string): string {
  return new URL(apiUrl).host;
}

/** 48 bits of a SHA-256 hash: enough to distinguish secrets without revealing them. */
export function fingerprint(secret: string): string {
  return digestOf(secret, 12);
}

/**
 * A personal access token, or another token that GitHub accepts as it is.
 *
 * @param token called at every request, so that it can be replaced without a restart.
 */
export function tokenCredentials(options: {
  readonly apiUrl: string;
  readonly token: () => string;
}): GitHubCredentials {
  const secrets = new SecretCache();
  const current = (): string => {
    const token = options.token().trim();
    secrets.remember(token);
    return token;
  };
  return {
    host: hostOf(options.apiUrl),
    get id() {
      return `token-${fingerprint(current())}`;
    },
    advice:
      'check that it has not expired or been revoked and put a valid one in its place, no restart is needed where it is read from a file',
    authorization: () => Promise.resolve(`Bearer ${current()}`),
    // Only a person can replace a token.
    rejected: (authorization) => (authorization === `Bearer ${current()}` ? REJECTED_REST_MS : 0),
    account: () => Promise.resolve(null),
    permissions: () => Promise.resolve(null),
    redact: (text) => {
      current();
      return secrets.redact(text);
    },
  };
}
