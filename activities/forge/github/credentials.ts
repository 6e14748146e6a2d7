/**
 * Who Headroom is to GitHub: the header of every request, what to do when GitHub refuses it, and how to keep it out of
 * every text. Here is the interface and the token; an App is in github-app.ts.
 */
import { createHash } from 'node:crypto';

export interface GitHubCredentials {
  /** The host of the API, with its port where it has one: `api.github.com`. */
  readonly host: string;
  /**
   * The stable name of this credential on its host, with nothing secret in it: every process with the same credential has
   * the same name, which is what shares a budget. Asked anew at each use, because a rotated token has another name.
   */
  readonly id: string;
  /** What a person should look at when GitHub refuses the credential, as the end of a sentence. */
  readonly advice: string;
  /**
   * The value of the header `authorization`, valid for the next request.
   *
   * @throws {ApplicationFailure} ForgeUnauthorized, ForgeRateLimited or ForgeUnavailable where it has to be fetched.
   */
  authorization(): Promise<string>;
  /**
   * Tells that GitHub answered 401 to this header.
   *
   * @returns the milliseconds for which the same header must not be sent again; 0 when the next `authorization()` gives
   *   another one, so that the request can be sent again at once.
   */
  rejected(authorization: string): number;
  /** The text without any secret of this credential, also without those that it had before. */
  redact(text: string): string;
}

/** GitHub locks an account out for a while that goes on sending what it has refused; a refusal by mistake ends. */
export const REJECTED_REST_MS = 60_000;

/** How many secrets are taken out of texts, former ones too: an answer that was slow may come after a rotation. */
const REMEMBERED_SECRETS = 200;
const HIDDEN = '[redacted]';

/** Credentials by their form: JSON Web Tokens, and private keys in PEM, also with escaped line breaks. */
const SECRET_FORMS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:\\+[nr]|\s)*[\w+/=]{16}[\s\S]*?(?:-----END|$)/g,
];

/** The values that must be in no text: those of now, and the last ones before. */
export class SecretCache {
  readonly #values: string[] = [];

  remember(value: string): void {
    if (value === '' || this.#values.includes(value)) return;
    this.#values.unshift(value);
    this.#values.splice(REMEMBERED_SECRETS);
  }

  redact(text: string): string {
    const byForm = SECRET_FORMS.reduce((clean, form) => clean.replace(form, HIDDEN), text);
    // The longest first: a secret may be a part of another one.
    const values = this.#values.toSorted((a, b) => b.length - a.length);
    return values.reduce((clean, value) => clean.replaceAll(value, HIDDEN), byForm);
  }
}

/** `api.github.com`, or `github.example.com:8443`. */
export function hostOf(apiUrl: string): string {
  return new URL(apiUrl).host;
}

/** 48 bits of a hash of 256: they tell two secrets apart and say nothing about either. */
export function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 12);
}

/**
 * A personal access token, or any other that GitHub takes as it is.
 *
 * @param token asked at every request, so that it is replaced without a restart.
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
    // Only the owner can replace it.
    rejected: (authorization) => (authorization === `Bearer ${current()}` ? REJECTED_REST_MS : 0),
    redact: (text) => {
      current();
      return secrets.redact(text);
    },
  };
}
