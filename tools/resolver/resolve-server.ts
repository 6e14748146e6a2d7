import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withBuildLock } from './build-lock.ts';
import type { Place } from './download-server.ts';
import { isDownloadWanted } from './download-settings.ts';
import { cacheFolder, findOnPath, isExecutable } from './find-executable.ts';
import { type Environment, goBuild, requireGo } from './go-build.ts';
import { type PinnedServer, pinnedServer, type ServerName } from './pinned-servers.ts';
import { showProgress } from './progress.ts';

/**
 * Finds the binary of a server: on PATH if its version is the pinned one at major.minor, in the cache folder, or else by
 * building it with Go, which takes minutes once; with DOWNLOAD=1 its official release is put into the cache folder instead, where it
 * can be had. Safe to call from several processes at once: one builds, the others wait.
 *
 * @param environment where PATH, HOME, XDG_CACHE_HOME, Go's own variables and those of downloads are read; `process.env` unless a
 *   test says otherwise.
 * @returns the absolute path of the binary.
 * @throws ServerUnavailable with one sentence when the server is nowhere and cannot be built.
 */
export async function resolveServer(name: ServerName, environment: Environment = process.env): Promise<string> {
  const server = pinnedServer(name);
  return (await findServer(server, environment)) ?? (await obtainServer(server, environment));
}

/** The path of a server that needs no build, or undefined. */
export async function findServer(server: PinnedServer, environment: Environment): Promise<string | undefined> {
  const onPath = await findOnPath(server, environment);
  if (onPath !== undefined) {
    return onPath;
  }
  const cached = cachedBinary(server, environment);
  return (await isExecutable(cached)) ? cached : undefined;
}

function cachedBinary(server: PinnedServer, environment: Environment): string {
  return join(cacheFolder(environment), server.cacheKey, server.name);
}

async function obtainServer(server: PinnedServer, environment: Environment): Promise<string> {
  const downloads = isDownloadWanted(environment);
  const binary = cachedBinary(server, environment);
  const folder = dirname(binary);
  await mkdir(folder, { recursive: true });
  const onWait = () => {
    const what = `${downloads ? 'downloading' : 'building'} ${server.name} ${server.version}`;
    process.stderr.write(`${what}: another process does, waiting for it\n`);
  };
  return withBuildLock(join(folder, 'lock'), onWait, async () => {
    if (await isExecutable(binary)) {
      return binary; // made while this process waited
    }
    await removePartial(folder);
    const unfinished = join(folder, 'unfinished');
    if (!downloads || !(await tryDownload(server, { binary, unfinished }, environment))) {
      await buildServer(server, binary, environment);
      await rm(unfinished, { recursive: true, force: true });
    }
    return binary;
  });
}

/** Says why where it cannot be had. The modules are loaded for this only: every test imports this file. */
async function tryDownload(server: PinnedServer, place: Place, environment: Environment): Promise<boolean> {
  const [{ downloadServer }, { DownloadFailed }] = await Promise.all([
    import('./download-server.ts'),
    import('./release-hosts.ts'),
  ]);
  const progress = showProgress(`downloading ${server.name} ${server.version}`);
  try {
    await downloadServer(server, place, environment, progress.detail);
    progress.done(`downloaded ${server.name} ${server.version}`);
    return true;
  } catch (error) {
    if (error instanceof DownloadFailed) {
      const { name, version } = server;
      progress.done(`${name} ${version} is built, because it could not be downloaded: ${error.message}`);
      return false;
    }
    progress.done(`downloading ${server.name} ${server.version} failed`);
    throw error;
  }
}

async function buildServer(server: PinnedServer, binary: string, environment: Environment): Promise<void> {
  await requireGo(server, environment);
  const title = `building ${server.name} ${server.version}`;
  const partial = `${binary}.${randomUUID()}.partial`;
  const progress = showProgress(title);
  try {
    await goBuild(server, partial, environment, progress.detail);
    await rename(partial, binary);
  } catch (error) {
    progress.done(`${title} failed`);
    await rm(partial, { force: true });
    throw error;
  }
  progress.done(`built ${server.name} ${server.version}`);
}

/** What somebody left who was killed. Only the holder of the lock may call this. */
async function removePartial(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    if (file.endsWith('.partial')) {
      await rm(join(folder, file), { force: true });
    }
  }
}
