import { type KeyObject, verify } from 'node:crypto';
import { ApiError } from '../api-error.ts';

// GitHub takes no assertion that is valid for longer.
const LONGEST_SECONDS = 10 * 60;

/** An app as far as its assertions are concerned. */
export interface Issuer {
  readonly id: number;
  readonly clientId: string;
  /** Public keys, of which one must fit. */
  readonly keys: readonly KeyObject[];
}

/** Whether a token has the form of a JSON web token. */
export function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/**
 * The app that signed an assertion.
 * @param now in milliseconds since 1970
 * @throws ApiError 401 in GitHub's words, 404 for an app that it does not know
 */
export function issuerOf<T extends Issuer>(token: string, apps: readonly T[], now: number): T {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const claims = decoded(payload);
  if (!claims || decoded(header)?.['alg'] !== 'RS256') throw undecodable();
  const { iss, iat, exp } = claims;
  if (iss === undefined) throw new ApiError(401, "Missing 'issuer' claim ('iss') in assertion");
  const app = apps.find(({ id, clientId }) => iss === id || iss === String(id) || iss === clientId);
  if (!app) throw new ApiError(404, 'Integration not found');
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  if (!app.keys.some((key) => verify('RSA-SHA256', signed, key, bytes))) throw undecodable();
  const seconds = now / 1000;
  if (typeof exp !== 'number' || exp <= seconds) {
    throw new ApiError(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  }
  if (exp > seconds + LONGEST_SECONDS) {
    throw new ApiError(401, "'Expiration time' claim ('exp') is too far in the future");
  }
  if (!Number.isInteger(iat) || Number(iat) > seconds) {
    throw new ApiError(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  }
  return app;
}

function undecodable(): ApiError {
  return new ApiError(401, 'A JSON web token could not be decoded');
}

function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
