/** A certificate of a server with its key, as it is read from PEM. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';

/** Both in PEM. The certificate may be followed by those that it hangs on. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** A pair that a server can be given. */
export interface ServerCertificate extends Pair {
  readonly leaf: X509Certificate;
}

/** A certificate or a key that no server can be given; the message says which and why. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** How the two parts of a pair are called in messages. */
export interface PairNames {
  readonly certificate: string;
  readonly key: string;
}

/**
 * The pair, checked that a server can use it: both parts are valid, they belong together, and the certificate has not
 * expired.
 *
 * @throws {CertificateError}
 */
export function checkPair({ certificate, key }: Pair, names: PairNames, now: EpochMs): ServerCertificate {
  const leaf = readCertificate(certificate, names.certificate);
  if (!leaf.checkPrivateKey(readKey(key, names.key))) {
    throw new CertificateError(`the key in ${names.key} is not the key of the certificate in ${names.certificate}`);
  }
  if (leaf.validToDate.getTime() <= now) {
    throw new CertificateError(
      `the certificate in ${names.certificate} is over since ${formatInstant(leaf.validToDate.getTime())}`,
    );
  }
  try {
    // Also parses the rest of the chain, and rejects a key that is too weak for the machine's policy.
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new CertificateError(`${names.certificate} with ${names.key} cannot be used: ${reasonOf(error)}`);
  }
  return { certificate, key, leaf };
}

/** @throws {CertificateError} with the name in its message. */
export function readCertificate(pem: string, name: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new CertificateError(`${name} holds no certificate in PEM: ${reasonOf(error)}`);
  }
}

/** @throws {CertificateError} with the name in its message, and nothing of the key. */
export function readKey(pem: string, name: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new CertificateError(`${name} holds no private key in PEM: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
