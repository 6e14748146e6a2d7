/** Certificates of clients and servers, as cert-manager makes them where nobody asks for a usage. */
// Must be imported first: the library reads its own decorators with it.
import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import { BasicConstraintsExtension, X509Certificate, X509CertificateGenerator } from '@peculiar/x509';
import type { Pair } from '../../starter/admission/certificate.ts';
import { issueAuthority } from '../../starter/admission/issue.ts';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const HOUR_MS = 3_600_000;

export async function newAuthority(): Promise<Pair> {
  return await issueAuthority(Date.now());
}

/** A certificate for an hour that the authority vouches for, as a server and as a client. */
export async function certificateOf(authority: Pair, name: string): Promise<Pair> {
  const keys = await webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
  const pem = { type: 'pkcs8', format: 'der' } as const;
  const signing = createPrivateKey(authority.key).export(pem);
  const certificate = await X509CertificateGenerator.create({
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + HOUR_MS),
    subject: `CN=${name}`,
    issuer: new X509Certificate(authority.certificate).subject,
    publicKey: keys.publicKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    signingKey: await webcrypto.subtle.importKey('pkcs8', signing, KEY, false, ['sign']),
    extensions: [new BasicConstraintsExtension(false, undefined, true)],
  });
  const key = createPrivateKey({
    key: Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)),
    ...pem,
  });
  return { certificate: certificate.toString('pem'), key: key.export({ type: 'pkcs8', format: 'pem' }) as string };
}
