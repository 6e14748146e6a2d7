import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Apt, AptFailed } from './apt.ts';
import { withBuildLock } from './build-lock.ts';
import { cacheFolder, findOnPath, fits, isExecutable, type Wanted } from './find-executable.ts';
import { type Environment, ServerUnavailable } from './go-build.ts';
import { showProgress } from './progress.ts';

/** An executable of the machine's own distribution, which is unpacked and not installed. */
interface Packaged extends Wanted {
  readonly package: string;
  /** Where it is in the package. */
  readonly path: string;
  /** What it has to have besides its version, for people. */
  readonly with?: string;
}

const PACKAGES = {
  memcached: {
    name: 'memcached',
    package: 'memcached',
    // Distributions patch a version and keep its number: that is what they vouch for, by signatures that apt checks.
    version: '1.6',
    path: 'usr/bin/memcached',
    versionArguments: ['-h'],
    // One that was built without TLS does not know the option.
    printedVersion: /^memcached (\S+)[^]*--enable-ssl/,
    with: ' with TLS',
  },
  prometheus: {
    name: 'prometheus',
    package: 'prometheus',
    version: '2.42',
    path: 'usr/bin/prometheus',
    versionArguments: ['--version'],
    printedVersion: /^prometheus, version (\S+)/,
  },
  promtool: {
    name: 'promtool',
    package: 'prometheus',
    version: '2.42',
    path: 'usr/bin/promtool',
    versionArguments: ['--version'],
    printedVersion: /^promtool, version (\S+)/,
  },
} as const satisfies Record<string, Packaged>;

export type PackageName = keyof typeof PACKAGES;

export const PACKAGE_NAMES = Object.keys(PACKAGES) as readonly PackageName[];

export function isPackageName(name: string): name is PackageName {
  return Object.hasOwn(PACKAGES, name);
}

/**
 * Finds an executable on PATH or in the cache folder, or else downloads its package with apt-get and unpacks it there, with the
 * libraries that this machine lacks. Nothing is installed, and no rights are needed. Several processes may call it at once.
 *
 * @returns the absolute path of the executable. One from the cache folder finds its libraries beside itself, so that a copy of its
 *   folder works as well.
 * @throws ServerUnavailable with one sentence when it is nowhere and cannot be had.
 */
export async function resolvePackage(name: PackageName, environment: Environment = process.env): Promise<string> {
  const wanted: Packaged = PACKAGES[name];
  const onPath = await findOnPath(wanted, environment);
  if (onPath !== undefined) return onPath;
  const folder = join(
    cacheFolder(environment),
    `${wanted.package}-${wanted.version}-${process.platform}-${process.arch}`,
  );
  const executable = join(folder, 'unpacked', name);
  if (await isExecutable(executable)) return executable;
  await mkdir(folder, { recursive: true });
  const title = `unpacking ${wanted.package} ${wanted.version}`;
  const onWait = () => {
    process.stderr.write(`${title}: another process does, waiting for it\n`);
  };
  return await withBuildLock(join(folder, 'lock'), onWait, async () => {
    if (await isExecutable(executable)) return executable;
    await removePartial(folder);
    const progress = showProgress(title);
    const partial = join(folder, `${randomUUID()}.partial`);
    try {
      await unpackAll(wanted, partial, environment);
      await rename(join(partial, 'unpacked'), join(folder, 'unpacked'));
      await rm(partial, { recursive: true, force: true });
    } catch (error) {
      progress.done(`${title} failed`);
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
    progress.done(`unpacked ${wanted.package} ${wanted.version}`);
    return executable;
  });
}

/** What was killed half-way. Only the holder of the lock may call this. */
async function removePartial(folder: string): Promise<void> {
  for (const file of await readdir(folder)) {
    if (file.endsWith('.partial')) await rm(join(folder, file), { recursive: true, force: true });
  }
}

/** Starts an executable with the libraries beside it, wherever the folder is. */
const launcher = (path: string): string => `#!/bin/sh
here=$(dirname "$0")
for folder in "$here"/lib/*-* "$here"/usr/lib/*-*; do
  LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$folder"
done
LD_LIBRARY_PATH="\${LD_LIBRARY_PATH#:}" exec "$here/${path}" "$@"
`;

async function unpackAll(wanted: Packaged, partial: string, environment: Environment): Promise<void> {
  const unpacked = join(partial, 'unpacked');
  await mkdir(unpacked, { recursive: true });
  const apt = new Apt(partial, environment);
  const executable = join(unpacked, wanted.name);
  try {
    await apt.unpack([wanted.package], unpacked);
    for (const { name, path } of Object.values(PACKAGES).filter((other) => other.package === wanted.package)) {
      await writeFile(join(unpacked, name), launcher(path), { mode: 0o755 });
    }
    if (await fits(executable, wanted)) return;
    await apt.unpack(await apt.libraries(wanted.package), unpacked);
    if (await fits(executable, wanted)) return;
  } catch (error) {
    if (error instanceof AptFailed) throw unavailable(wanted, error.message);
    throw error;
  }
  const { version, with: besides = '' } = wanted;
  throw unavailable(wanted, `the package of this distribution is not ${version}${besides}, or does not start`);
}

function unavailable({ name, version, with: besides = '' }: Packaged, why: string): ServerUnavailable {
  return new ServerUnavailable(
    `${name} ${version} is not on PATH, and could not be unpacked from a package (${why}): install ${name} ${version}${besides}`,
  );
}
