import { availableParallelism } from 'node:os';
import { requireGo, ServerUnavailable } from './go-build.ts';
import { isServerName, pinnedServer, SERVER_NAMES, type ServerName } from './pinned-servers.ts';
import { cacheFolder, findServer, resolveServer } from './resolve-server.ts';

/**
 * `node tools/resolver/main.ts [names…]` prints the path of each server, building what is missing. Without names: what the
 * tests and the demo start.
 */

/** "A service is unavailable" of sysexits.h: a server is nowhere and cannot be built. */
const EXIT_UNAVAILABLE = 69;
/** "The command was used incorrectly" of sysexits.h. */
const EXIT_USAGE = 64;

/** The number of cores of the machine on which the durations of cold builds were measured. */
const MEASURED_CORES = 2;

const NEEDED: readonly ServerName[] = ['temporal', 'etcd', 'kube-apiserver', 'kube-controller-manager'];

async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !isServerName(name));
  if (unknown.length > 0) {
    console.error(`no server is called ${unknown.join(' or ')}; there are ${SERVER_NAMES.join(', ')}`);
    return EXIT_USAGE;
  }
  const wanted = names.length === 0 ? NEEDED : names.filter(isServerName);
  try {
    await announceBuilds(wanted);
    for (const name of wanted) {
      console.log(await resolveServer(name));
    }
    return 0;
  } catch (error) {
    if (error instanceof ServerUnavailable) {
      console.error(error.message);
      return EXIT_UNAVAILABLE;
    }
    throw error;
  }
}

async function announceBuilds(names: readonly ServerName[]): Promise<void> {
  const missing = [];
  for (const name of names) {
    const server = pinnedServer(name);
    if ((await findServer(server, process.env)) === undefined) {
      missing.push(server);
    }
  }
  if (missing[0] !== undefined) {
    await requireGo(missing[0], process.env);
    const cores = availableParallelism();
    const seconds = missing.reduce((sum, server) => sum + server.coldBuildSeconds, 0);
    const minutes = Math.ceil((seconds * MEASURED_CORES) / cores / 60);
    const names = missing.map((server) => server.name).join(', ');
    console.error(
      `Building ${names} with Go, once: up to about ${minutes} min on ${cores} cores that do nothing else. They are kept in ${cacheFolder(process.env)}.`,
    );
  }
}

process.exitCode = await main(process.argv.slice(2));
