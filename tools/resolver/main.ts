import { availableParallelism } from 'node:os';
import { isPackageName, PACKAGE_NAMES, type PackageName, resolvePackage } from './debian-package.ts';
import { cacheFolder } from './find-executable.ts';
import { requireGo, ServerUnavailable } from './go-build.ts';
import { isServerName, pinnedServer, SERVER_NAMES, type ServerName } from './pinned-servers.ts';
import { findServer, resolveServer } from './resolve-server.ts';

/**
 * `node tools/resolver/main.ts [names…]` prints the path of each server, building what is missing. Without names: what the
 * tests and the demo start, but for packages: a machine that has none of those runs all other tests.
 */

/** "A service is unavailable" of sysexits.h: a server is nowhere and cannot be built. */
const EXIT_UNAVAILABLE = 69;
/** "The command was used incorrectly" of sysexits.h. */
const EXIT_USAGE = 64;

/** The number of cores of the machine on which the durations of cold builds were measured. */
const MEASURED_CORES = 2;

type Name = ServerName | PackageName;

const NEEDED: readonly ServerName[] = [
  'temporal',
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
  'kustomize',
  'helm',
  'memcached_exporter',
];

async function main(names: readonly string[]): Promise<number> {
  const isName = (name: string): name is Name => isServerName(name) || isPackageName(name);
  const unknown = names.filter((name) => !isName(name));
  if (unknown.length > 0) {
    const known = [...SERVER_NAMES, ...PACKAGE_NAMES].join(', ');
    console.error(`no server is called ${unknown.join(' or ')}; there are ${known}`);
    return EXIT_USAGE;
  }
  const wanted = names.length === 0 ? NEEDED : names.filter(isName);
  try {
    await announceBuilds(wanted.filter(isServerName));
    for (const name of wanted) {
      console.log(isServerName(name) ? await resolveServer(name) : await resolvePackage(name));
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
