import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ServerUnavailable } from './go-build.ts';
import { DownloadFailed, type ReleaseHosts } from './release-hosts.ts';
import type { ReleaseFile } from './releases.ts';

/** SHA-256 in hexadecimal, by the URL of the release file. */
export type Checksums = Readonly<Record<string, string>>;

/** What this repository pins; `npm run servers -- --pin` writes it. */
export const PINNED_FILE = join(import.meta.dirname, '../release-checksums.json');

const SHA256 = /^[0-9a-f]{64}$/;

const checksums = z.record(z.url(), z.string().regex(SHA256, 'is no SHA-256 in hexadecimal'));

/** @throws ServerUnavailable when the list cannot be read. */
export async function pinnedChecksums(file = PINNED_FILE): Promise<Checksums> {
  try {
    return checksums.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ServerUnavailable(
      `${file} cannot be used, put {} into it and \`npm run servers -- --pin\` fills it: ${why}`,
    );
  }
}

/**
 * The checksum that a release publishes for a file: alone, or in the line of a list that ends with the name of the file.
 * @throws DownloadFailed when there is none.
 */
export async function publishedChecksum(hosts: ReleaseHosts, { url, checksumUrl }: ReleaseFile): Promise<string> {
  const lines = (await hosts.text(checksumUrl)).split('\n').map((line) => line.trim().split(/\s+/));
  // `sha256sum` marks a file that it read as binary with an asterisk.
  const line = lines.find(([, name]) => name?.replace(/^\*/, '') === basename(url)) ?? lines[0];
  const [checksum = '', name] = line ?? [];
  const isOfFile = name === undefined || name.replace(/^\*/, '') === basename(url);
  if (!isOfFile || !SHA256.test(checksum)) {
    throw new DownloadFailed(`${hosts.addressOf(checksumUrl)} has no SHA-256 of ${basename(url)}`);
  }
  return checksum;
}

export async function checksumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
