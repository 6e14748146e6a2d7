import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withBuildLock } from './build-lock.ts';
import { cacheFolder, findOnPath, isExecutable } from './find-executable.ts';
import { type Environment, goBuild, requireGo } from './go-build.ts';
import { type PinnedServer, pinnedServer, type ServerName } from './pinned-servers.ts';
import { showProgress } from './progress.ts';

/**
 * Finds the binary of a server: on PATH if its version is the pinned one at major.minor, in the cache folder, or else by
 * building it with Go, which takes minutes once. Safe to call from several processes at once: one builds, the others wait.
 *
 * @param environment where PATH, HOME, XDG_CACHE_HOME and Go's own variables are read; `process.env` unless a test says
 *   otherwise.
 * @returns the absolute path of the binary.
 * @throws ServerUnavailable with one sentence when the server is nowhere and cannot be built.
 */
export async function resolveServer(name: ServerName, environment: Environment = process.env): Promise<string> {
  const server = pinnedServer(name);
  return (await findServer(server, environment)) ?? (await buildServer(server, environment));
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

async function buildServer(server: PinnedServer, environment: Environment): Promise<string> {
  const binary = cachedBinary(server, environment);
  const folder = join(cacheFolder(environment), server.cacheKey);
  await mkdir(folder, { recursive: true });
  const title = `building ${server.name} ${server.version}`;
  const onWait = () => {
    process.stderr.write(`${title}: another process does, waiting for it\n`);
  };
  return withBuildLock(join(folder, 'lock'), onWait, async () => {
    if (await isExecutable(binary)) {
      return binary; // built while this process waited
    }
    await requireGo(server, environment);
    await removePartialBuilds(folder);
    const partial = join(folder, `${server.name}.${randomUUID()}.partial`);
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
    return binary;
  });
}

/** What a builder left that was killed. Only the holder of the lock may call this. */
async function removePartialBuilds(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    if (file.endsWith('.partial')) {
      await rm(join(folder, file), { force: true });
    }
  }
}
