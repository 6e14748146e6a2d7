import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { PINNED_FILE, pinnedChecksums, publishedChecksum } from './checksums.ts';
import { downloadSettings } from './download-settings.ts';
import { type Environment, ServerUnavailable } from './go-build.ts';
import { pinnedServer, SERVER_NAMES } from './pinned-servers.ts';
import { DownloadFailed, ReleaseHosts } from './release-hosts.ts';
import { PLATFORMS, releaseFile } from './releases.ts';

/**
 * Writes the list of pinned checksums: what the releases of the pinned versions publish, for every platform. Only those are asked
 * for, and not the files.
 *
 * @returns how many there are.
 * @throws ServerUnavailable, and the list is as it was, when one of them cannot be had, or is not what is pinned for the same file;
 *   also for a mirror, whose word is not that of the releases.
 */
export async function pinChecksums(
  environment: Environment,
  file = PINNED_FILE,
  hostsOf = () => new ReleaseHosts(environment),
): Promise<number> {
  if (downloadSettings(environment).mirror !== undefined) {
    throw new ServerUnavailable('--pin asks the hosts of the releases themselves: unset DOWNLOAD_MIRROR');
  }
  const before = await pinnedChecksums(file);
  const releases = SERVER_NAMES.flatMap((name) =>
    PLATFORMS.flatMap((platform) => releaseFile(pinnedServer(name), platform) ?? []),
  );
  const pinned: Record<string, string> = {};
  try {
    const hosts = hostsOf();
    try {
      for (const release of releases) pinned[release.url] = await publishedChecksum(hosts, release);
    } finally {
      await hosts.close();
    }
  } catch (error) {
    if (!(error instanceof DownloadFailed)) throw error;
    throw new ServerUnavailable(`${file} is as it was, because a checksum could not be had: ${error.message}`);
  }
  for (const [url, published] of Object.entries(pinned)) {
    const pin = before[url] ?? published;
    if (pin !== published) {
      throw new ServerUnavailable(
        `${url} is pinned with ${pin}, and ${published} is published now: if this is right, remove its line from ${file}`,
      );
    }
  }
  const partial = `${file}.${randomUUID()}`;
  await writeFile(partial, `${JSON.stringify(pinned, null, 2)}\n`);
  await rename(partial, file);
  return releases.length;
}
