// oxlint-disable-next-line no-restricted-imports -- A key is read from its argument alone.
import { createPrivateKey, type KeyObject } from 'node:crypto';

/**
 * The RSA key in a PEM of PKCS#1 or PKCS#8, with line breaks or with `\n` written out as environment files have it.
 *
 * @returns the same key in PKCS#8, the only form that WebCrypto signs with.
 * @throws {Error} with what is wrong, and nothing of the key.
 */
export function readPrivateKey(text: string): string {
  const pem = text.replaceAll('\\n', '\n').trim();
  if (/-----BEGIN (?:RSA )?PUBLIC KEY-----/.test(pem)) throw new Error('it is a public key');
  if (/ENCRYPTED/.test(pem)) throw new Error('it is encrypted with a passphrase');
  if (!/^-----BEGIN (?:RSA )?PRIVATE KEY-----\s/.test(pem)) {
    throw new Error('it does not begin with "-----BEGIN RSA PRIVATE KEY-----" or "-----BEGIN PRIVATE KEY-----"');
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // OpenSSL's messages name internal routines and might quote parts of the key.
    throw new Error('it is cut off or damaged');
  }
  if (key.asymmetricKeyType !== 'rsa') throw new Error(`it is a key of type ${key.asymmetricKeyType}, and not RSA`);
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
