/** A certificate in a folder that somebody else maintains: cert-manager through a mounted Secret, or a person. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { CertificateError, checkPair, type Pair } from './certificate.ts';
import type { CertificateSource } from './keep.ts';

/** kubelet updates a Secret by swapping symbolic links, which a watch on the files does not notice. */
const CHECK_EVERY_MS = 30_000;

export interface GivenCertificateOptions {
  /** For messages: `the admission webhooks`. */
  readonly of: string;
  /** With `tls.crt` and `tls.key`. */
  readonly folder: string;
  /** Milliseconds between two passes. */
  readonly everyMs?: number;
  readonly now?: () => EpochMs;
}

/** The certificate in a folder, which is never written to. */
export function givenCertificate(options: GivenCertificateOptions): CertificateSource {
  const { of, folder, everyMs = CHECK_EVERY_MS, now = Date.now } = options;
  const names = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  const readFolder = async (): Promise<Pair> => ({
    certificate: await readPart(names.certificate),
    key: await readPart(names.key),
  });
  return {
    name: `the certificate of ${of} in ${folder}`,
    everyMs,
    read: async () => {
      let pair = await readFolder();
      for (;;) {
        try {
          return checkPair(pair, names, now());
        } catch (error) {
          // The files may be replaced between reading one and the other, so both are read twice and must be equal.
          const again = await readFolder();
          if (isDeepStrictEqual(again, pair)) throw error;
          pair = again;
        }
      }
    },
  };
}

/** @throws {CertificateError} that names the file and what the system said of it. */
async function readPart(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message.split(', ', 1)[0] : String(error);
    throw new CertificateError(`${file} cannot be read: ${reason}`);
  }
}
