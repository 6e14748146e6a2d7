/** The starter's own certificate authority: its parts, and when each is renewed. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { EpochMs } from '../../domain/kernel/time.ts';
import {
  CertificateError,
  checkPair,
  type Pair,
  readCertificate,
  readKey,
  type ServerCertificate,
} from './certificate.ts';

/** All in PEM. */
export interface Chain {
  readonly server: Pair;
  /** The signing authority, followed by older ones that have not expired: clients that trust these trust the server. */
  readonly authorities: string;
  /** The key of the first authority. */
  readonly authorityKey: string;
}

/** A chain that can be served. */
export interface CheckedChain {
  readonly server: ServerCertificate;
  readonly authorities: string;
}

export type ChainReview =
  | { readonly kind: 'good'; readonly chain: CheckedChain }
  /** A new chain has to be stored; `why` is for the log, such as "it is not for x". */
  | { readonly kind: 'renew'; readonly why: string; readonly next: Chain & CheckedChain };

/** What makes the parts of a chain. */
export interface Issuer {
  readonly issueAuthority: (now: EpochMs) => Promise<Pair>;
  readonly issueServer: (host: string, authority: Pair, now: EpochMs) => Promise<Pair>;
}

const SERVER_NAMES = { certificate: 'tls.crt', key: 'tls.key' };

/**
 * Checks whether a chain is valid for a host, and renews parts when a third of their lifetime is left.
 *
 * Clients must trust a new authority before it signs anything. While the server's certificate is valid, only the
 * authority is renewed, and it signs from the next renewal on. Older authorities stay trusted until they expire.
 */
export async function reviewChain(
  kept: Chain | null,
  { host, now, issuer }: { readonly host: string; readonly now: EpochMs; readonly issuer: () => Promise<Issuer> },
): Promise<ChainReview> {
  const trusted = kept === null ? [] : trustedAuthorities(kept.authorities, now);
  const authority = kept === null ? null : signingAuthority(trusted, kept.authorityKey);
  const isAuthorityDue = authority === null || isDue(authority.certificate, now);
  const server = kept === null ? 'there is none yet' : serverOf(kept.server, { host, now, trusted });
  const isUsable = typeof server !== 'string';
  if (isUsable && !isAuthorityDue && !isDue(server.leaf, now)) {
    return { kind: 'good', chain: { server, authorities: bundleOf(trusted) } };
  }
  const { issueAuthority, issueServer } = await issuer();
  const signing = isAuthorityDue ? await issueAuthority(now) : authority.pair;
  const staysAsItIs = isUsable && isAuthorityDue;
  const next: Chain & CheckedChain = {
    server: staysAsItIs ? server : checkPair(await issueServer(host, signing, now), SERVER_NAMES, now),
    authorities: isAuthorityDue ? `${signing.certificate}${bundleOf(trusted)}` : bundleOf(trusted),
    authorityKey: signing.key,
  };
  if (!isUsable) return { kind: 'renew', why: server, next };
  if (authority === null) return { kind: 'renew', why: 'its authority cannot sign another one', next };
  return { kind: 'renew', why: isAuthorityDue ? 'its authority ends soon' : 'it ends soon', next };
}

interface Trusted {
  readonly pem: string;
  readonly certificate: X509Certificate;
}

/** The authorities of a bundle that are to be trusted now, in its order, each once. */
function trustedAuthorities(bundle: string, now: EpochMs): readonly Trusted[] {
  const found = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(found)].flatMap((pem) => {
    const certificate = orNull(() => readCertificate(pem, 'ca.crt'));
    return certificate !== null && certificate.ca && isValid(certificate, now) ? [{ pem, certificate }] : [];
  });
}

/** The first authority, if the stored key belongs to it. */
function signingAuthority(
  [first]: readonly Trusted[],
  key: string,
): { readonly pair: Pair; readonly certificate: X509Certificate } | null {
  const readable = orNull(() => readKey(key, 'ca.key'));
  if (first === undefined || readable === null || !first.certificate.checkPrivateKey(readable)) return null;
  return { pair: { certificate: `${first.pem}\n`, key }, certificate: first.certificate };
}

/** The server's certificate, or why it is not valid. */
function serverOf(
  server: Pair,
  { host, now, trusted }: { readonly host: string; readonly now: EpochMs; readonly trusted: readonly Trusted[] },
): ServerCertificate | string {
  let checked: ServerCertificate;
  try {
    checked = checkPair(server, SERVER_NAMES, now);
  } catch (error) {
    if (error instanceof CertificateError) return error.message;
    throw error;
  }
  const { leaf } = checked;
  if (!isValid(leaf, now)) return `it is not valid before ${leaf.validFrom}`;
  const isForHost = isIP(host) === 0 ? leaf.checkHost(host, { subject: 'never' }) : leaf.checkIP(host);
  if (isForHost === undefined) return `it is not for ${host}`;
  const isVouchedFor = trusted.some(
    ({ certificate }) => leaf.checkIssued(certificate) && leaf.verify(certificate.publicKey),
  );
  return isVouchedFor ? checked : 'its authority is not among those in ca.crt';
}

function isValid({ validFromDate, validToDate }: X509Certificate, now: EpochMs): boolean {
  return validFromDate.getTime() <= now && now < validToDate.getTime();
}

/** Whether only a third of the lifetime is left. */
function isDue({ validFromDate, validToDate }: X509Certificate, now: EpochMs): boolean {
  const life = validToDate.getTime() - validFromDate.getTime();
  return validToDate.getTime() - now <= life / 3;
}

function bundleOf(authorities: readonly { readonly pem: string }[]): string {
  return authorities.map(({ pem }) => `${pem}\n`).join('');
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof CertificateError) return null;
    throw error;
  }
}
