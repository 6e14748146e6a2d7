import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { PINNED_FILE, publishedChecksum } from './checksums.ts';
import { type Environment, ServerUnavailable } from './go-build.ts';
import { pinnedServer, SERVER_NAMES } from './pinned-servers.ts';
import { DownloadFailed, ReleaseHosts } from './release-hosts.ts';
import { PLATFORMS, releaseFile } from './releases.ts';

/**
 * Writes the list of pinned checksums: what the releases of the pinned versions publish, for every platform. Only those are asked
 * for, and not the files.
 *
 * @returns how many there are.
 * @throws ServerUnavailable, and the list is as it was, when one of them cannot be had.
 */
export async function pinChecksums(environment: Environment, file = PINNED_FILE): Promise<number> {
  const releases = SERVER_NAMES.flatMap((name) =>
    PLATFORMS.flatMap((platform) => releaseFile(pinnedServer(name), platform) ?? []),
  );
  const pinned: Record<string, string> = {};
  try {
    const hosts = new ReleaseHosts(environment);
    try {
      for (const release of releases) pinned[release.url] = await publishedChecksum(hosts, release);
    } finally {
      await hosts.close();
    }
  } catch (error) {
    if (!(error instanceof DownloadFailed)) throw error;
    throw new ServerUnavailable(`${file} is as it was, because a checksum could not be had: ${error.message}`);
  }
  const partial = `${file}.${randomUUID()}`;
  await writeFile(partial, `${JSON.stringify(pinned, null, 2)}\n`);
  await rename(partial, file);
  return releases.length;
}
