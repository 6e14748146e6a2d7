import { EXECUTABLE_NAMES, type ExecutableName, ensureServers, isExecutableName } from './ensure-servers.ts';
import { ServerUnavailable } from './go-build.ts';

/**
 * `node tools/resolver/main.ts [names…]` prints the path of each server, building what is missing, or with DOWNLOAD=1 taking its
 * official release. Without names: what the tests and the demo start, but for packages: a machine that has none of those runs all
 * other tests. `--pin` writes the list of the releases' checksums instead.
 */

/** "A service is unavailable" of sysexits.h: a server is nowhere and cannot be built. */
const EXIT_UNAVAILABLE = 69;
/** "The command was used incorrectly" of sysexits.h. */
const EXIT_USAGE = 64;

const NEEDED: readonly ExecutableName[] = [
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

async function main(args: readonly string[]): Promise<number> {
  const pins = args.length === 1 && args[0] === '--pin';
  const unknown = pins ? [] : args.filter((name) => !isExecutableName(name));
  if (unknown.length > 0) {
    console.error(
      `no server is called ${unknown.join(' or ')}; there are ${EXECUTABLE_NAMES.join(', ')}; --pin stands by itself`,
    );
    return EXIT_USAGE;
  }
  try {
    if (pins) {
      const { pinChecksums } = await import('./pin-checksums.ts');
      console.log(`pinned the checksums of ${await pinChecksums(process.env)} release files`);
    } else {
      const paths = await ensureServers(args.length === 0 ? NEEDED : args.filter(isExecutableName));
      for (const path of paths) console.log(path);
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

process.exitCode = await main(process.argv.slice(2));
