import { availableParallelism } from 'node:os';
import { isPackageName, PACKAGE_NAMES, type PackageName, resolvePackage } from './debian-package.ts';
import { isDownloadWanted } from './download-settings.ts';
import { cacheFolder } from './find-executable.ts';
import { type Environment, requireGo } from './go-build.ts';
import { isServerName, pinnedServer, type PinnedServer, SERVER_NAMES, type ServerName } from './pinned-servers.ts';
import { releaseFile } from './releases.ts';
import { findServer, resolveServer } from './resolve-server.ts';

/** Anything that is found or made here: a server, or an executable of the machine's distribution. */
export type ExecutableName = ServerName | PackageName;

export const EXECUTABLE_NAMES: readonly ExecutableName[] = [...SERVER_NAMES, ...PACKAGE_NAMES];

export function isExecutableName(name: string): name is ExecutableName {
  return isServerName(name) || isPackageName(name);
}

/** The number of cores of the machine on which the durations of cold builds were measured. */
const MEASURED_CORES = 2;

/**
 * Finds these, one after the other, because a build takes all cores; says first on stderr what is missing and how long that takes.
 *
 * @returns their paths.
 * @throws ServerUnavailable with one sentence for the first that is nowhere and cannot be had.
 */
export async function ensureServers(
  names: readonly ExecutableName[],
  environment: Environment = process.env,
): Promise<readonly string[]> {
  const downloads = isDownloadWanted(environment);
  const missing = [];
  for (const server of names.filter(isServerName).map(pinnedServer)) {
    if ((await findServer(server, environment)) === undefined) missing.push(server);
  }
  await announce(missing, downloads, environment);
  const paths = [];
  for (const name of names) {
    paths.push(isServerName(name) ? await resolveServer(name, environment) : await resolvePackage(name, environment));
  }
  return paths;
}

async function announce(missing: readonly PinnedServer[], downloads: boolean, environment: Environment): Promise<void> {
  const isReleased = (server: PinnedServer): boolean => downloads && releaseFile(server) !== undefined;
  const downloaded = missing.filter(isReleased);
  const built = missing.filter((server) => !isReleased(server));
  const kept = `They are kept in ${cacheFolder(environment)}.`;
  if (downloaded.length > 0) {
    process.stderr.write(`Downloading ${namesOf(downloaded)}, once; what cannot be had is built. ${kept}\n`);
  }
  if (built[0] !== undefined) {
    await requireGo(built[0], environment);
    const cores = availableParallelism();
    const seconds = built.reduce((sum, server) => sum + server.coldBuildSeconds, 0);
    const minutes = Math.ceil((seconds * MEASURED_CORES) / cores / 60);
    process.stderr.write(
      `Building ${namesOf(built)} with Go, once: up to about ${minutes} min on ${cores} cores that do nothing else. ${kept}\n`,
    );
  }
}

function namesOf(servers: readonly PinnedServer[]): string {
  return servers.map(({ name }) => name).join(', ');
}
