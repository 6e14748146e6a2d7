/** Makes certificates: an authority of one's own, and a certificate of a server that it vouches for. */
// Must be imported first: the library reads its own decorators with it.
import 'reflect-metadata';
import { createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Pair } from './certificate.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AUTHORITY_DAYS = 5 * 365;
const SERVER_DAYS = 90;
/** How far the API server's clock may be behind. */
const BACKDATED_MS = HOUR_MS;

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** An authority for five years, which may sign certificates of servers and no other authority. */
export async function issueAuthority(now: EpochMs): Promise<Pair> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity(now, AUTHORITY_DAYS),
    serialNumber: newSerial(),
    name: 'CN=headroom-admission-ca',
    signingAlgorithm: SIGNATURE,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pemOf(certificate), key: await pemOfKey(keys.privateKey) };
}

/** A certificate for ninety days of the server that is called by this DNS name or IP address. */
export async function issueServer(host: string, authority: Pair, now: EpochMs): Promise<Pair> {
  const keys = await newKeys();
  const issuer = new X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey(
    'pkcs8',
    createPrivateKey(authority.key).export({ type: 'pkcs8', format: 'der' }),
    KEY,
    false,
    ['sign'],
  );
  const certificate = await X509CertificateGenerator.create({
    ...validity(now, SERVER_DAYS),
    serialNumber: newSerial(),
    // A name of a subject is at most 64 characters, and nobody looks at it: the host is an alternative name.
    subject: 'CN=headroom-admission',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingAlgorithm: SIGNATURE,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pemOf(certificate), key: await pemOfKey(keys.privateKey) };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
}

/** A positive number of 16 bytes, in hexadecimal digits. */
function newSerial(): string {
  const bytes = randomBytes(16);
  // The first bit is the sign; the second makes sure that the first byte is not zero.
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x40, 0);
  return bytes.toString('hex');
}

/** Certificates know whole seconds. */
function validity(now: EpochMs, days: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const from = Math.floor(now / 1000) * 1000;
  return { notBefore: new Date(from - BACKDATED_MS), notAfter: new Date(from + days * DAY_MS) };
}

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString('pem').trim()}\n`;
}

async function pemOfKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, type: 'pkcs8', format: 'der' }).export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}
