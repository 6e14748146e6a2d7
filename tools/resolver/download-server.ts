import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Checksums, checksumOf, pinnedChecksums, publishedChecksum } from './checksums.ts';
import { printedVersion } from './find-executable.ts';
import type { Environment } from './go-build.ts';
import type { PinnedServer } from './pinned-servers.ts';
import { DownloadFailed, ReleaseHosts } from './release-hosts.ts';
import { releaseFile, THIS_PLATFORM } from './releases.ts';

/** Where a server is put, in folders of one file system. */
export interface Place {
  readonly binary: string;
  /** What came of its release file: kept where that is not all, so that the next time goes on with it. */
  readonly unfinished: string;
}

/**
 * Puts the official release of a server in its place. What is there, executable, has the checksum that the release publishes, the
 * pinned one where there is one, and the pinned version.
 *
 * @param place only the holder of the folder's lock may call this.
 * @param onProgress told how far it is, in a few words.
 * @throws DownloadFailed, in words that fit into a sentence, where it cannot be had; ServerUnavailable for settings that cannot be used.
 */
export async function downloadServer(
  server: PinnedServer,
  { binary, unfinished }: Place,
  environment: Environment,
  onProgress: (detail: string) => void,
  pinned?: Checksums,
): Promise<void> {
  const release = releaseFile(server);
  if (release === undefined) {
    throw new DownloadFailed(`no release file of it for ${THIS_PLATFORM.os}/${THIS_PLATFORM.arch} is known`);
  }
  await mkdir(unfinished, { recursive: true });
  const file = join(unfinished, basename(release.url));
  const hosts = new ReleaseHosts(environment);
  const [url, checksumUrl] = [hosts.addressOf(release.url), hosts.addressOf(release.checksumUrl)];
  try {
    const expected = await publishedChecksum(hosts, release);
    const pin = (pinned ?? (await pinnedChecksums()))[release.url];
    if (pin !== undefined && pin !== expected) {
      throw new DownloadFailed(`${checksumUrl} has ${expected} for it, and this repository pins ${pin}`);
    }
    const began = performance.now();
    let first: number | undefined;
    const fetchFile = async (): Promise<boolean> =>
      await hosts.file(release.url, file, (have, total) => {
        first ??= have;
        onProgress(howMuch(have, total, have - first, performance.now() - began));
      });
    let found = existsSync(file) ? await checksumOf(file) : undefined;
    // What was there may be the bad part of one that was put together: once more from its beginning.
    for (let tries = 0, mayBePart = true; found !== expected && mayBePart && tries < 2; tries += 1) {
      if (tries > 0) await rm(file);
      mayBePart = await fetchFile();
      found = await checksumOf(file);
    }
    if (found !== expected) {
      await rm(unfinished, { recursive: true });
      throw new DownloadFailed(`${url} has the checksum ${found}, and ${checksumUrl} says ${expected}`);
    }
  } finally {
    await hosts.close();
  }
  onProgress('unpacking');
  const partial = join(dirname(binary), `${server.name}.${randomUUID()}.partial`);
  try {
    await (release.member === undefined ? rename(file, partial) : unpack(file, release.member, partial));
    await chmod(partial, 0o755);
    const version = await printedVersion(partial, server);
    if (version !== server.version) {
      const says = version === undefined ? 'does not start here' : `is ${version}`;
      throw new DownloadFailed(`${url} ${says}, and ${server.version} is pinned`);
    }
    await rename(partial, binary);
  } finally {
    await Promise.all([partial, unfinished].map((path) => rm(path, { recursive: true, force: true })));
  }
}

/** Only the one file is unpacked, whatever else is in the archive. macOS' tar reads zip as well. */
async function unpack(archive: string, member: string, output: string): Promise<void> {
  // The shell writes the file, so that a hundred megabytes do not go through this process.
  const script = 'exec tar -xOf "$1" "$2" > "$3"';
  try {
    await promisify(execFile)('/bin/sh', ['-c', script, 'sh', archive, member, output]);
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new DownloadFailed(`tar could not unpack ${member} from ${basename(archive)}: ${stderr || String(error)}`);
  }
}

const MEGABYTE = 1_000_000;

/** The progress of a download in a few words, with the remaining time at the pace so far. */
export function howMuch(have: number, total: number | undefined, came: number, milliseconds: number): string {
  const megabytes = (bytes: number): string => (bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0);
  if (total === undefined) return `${megabytes(have)} MB`;
  const counted = `${megabytes(have)} of ${megabytes(total)} MB`;
  // Of less than that, the pace says nothing.
  if (came < MEGABYTE || have >= total) return counted;
  const seconds = ((milliseconds / came) * (total - have)) / 1000;
  return `${counted}, ${seconds < 60 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} min`} left`;
}
