/** The packages of other people that the image has files of, each with a checksum that this repository pins. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Apt, AptFailed } from '../resolver/apt.ts';
import { withBuildLock } from '../resolver/build-lock.ts';
import { cacheFolder } from '../resolver/find-executable.ts';
import { DEBIAN_PACKAGES, ImageUnavailable, NODE_VERSION, type Pins } from './pins.ts';
import { type Architecture, ARCHITECTURES, NAMES_OF } from './platforms.ts';

const run = promisify(execFile);

/** What the folder of an unfinished download begins with. */
const PARTIAL = 'headroom-partial-';

/** What there is to build an image of one architecture from. */
export interface Downloads {
  /** The file of each package of Debian, by its name. */
  readonly debian: ReadonlyMap<string, string>;
  /** npm's package with Node, as a `.tgz`. */
  readonly node: Buffer;
}

/**
 * Downloads what is missing in the cache folder. Several processes may call it at once.
 *
 * @throws ImageUnavailable when a package cannot be had, or is not the pinned one.
 */
export async function download(pins: Pins, architecture: Architecture): Promise<Downloads> {
  const folder = join(cacheFolder(process.env), 'image');
  await mkdir(folder, { recursive: true });
  const onWait = (): void => {
    process.stderr.write('downloading packages for the image: another process does, waiting for it\n');
  };
  return await withBuildLock(join(folder, 'lock'), onWait, async () => {
    const packages = Object.entries(pins.packages).map(([name, { version, sha256 }]) => ({
      name,
      version,
      sha256: sha256[architecture],
    }));
    const there = new Set(await readdir(folder));
    // Of a process that was killed: whoever holds the lock is alone.
    for (const name of there) if (name.startsWith(PARTIAL)) await rm(join(folder, name), { recursive: true });
    const missing = packages.filter(({ sha256 }) => !there.has(`${sha256}.deb`));
    if (missing.length > 0) {
      const wanted = missing.map(({ name, version }) => `${name}=${version}`);
      await inTemporary(folder, async (temporary) => {
        const found = await debianFiles(temporary, architecture, wanted, pins.debian);
        for (const { name, version, sha256 } of missing) {
          const file = found.find((candidate) => candidate.sha256 === sha256);
          if (file === undefined) {
            throw new ImageUnavailable(
              `the package ${name} ${version} of ${architecture} does not have the pinned checksum ${sha256}`,
            );
          }
          await rename(file.path, join(folder, `${sha256}.deb`));
        }
      });
    }
    return {
      debian: new Map(packages.map(({ name, sha256 }) => [name, join(folder, `${sha256}.deb`)])),
      node: await nodePackage(folder, architecture, pins.node.integrity[architecture]),
    };
  });
}

/** What is served now, to be pinned. */
export async function newPins(): Promise<Pins> {
  const release = await debianRelease();
  const packages: Record<string, { version: string; sha256: Record<Architecture, string> }> = {};
  const integrity = { amd64: '', arm64: '' };
  for (const architecture of ARCHITECTURES) {
    await inTemporary(tmpdir(), async (temporary) => {
      for (const { path, sha256 } of await debianFiles(temporary, architecture, DEBIAN_PACKAGES, release)) {
        const { stdout } = await run('dpkg-deb', ['--show', '--showformat=${Package} ${Version}', path]);
        const [name = '', version = ''] = stdout.split(' ');
        const pinned = (packages[name] ??= { version, sha256: { amd64: '', arm64: '' } });
        if (pinned.version !== version) throw new ImageUnavailable(`${name} has another version for ${architecture}`);
        pinned.sha256[architecture] = sha256;
      }
    });
    const name = `node-linux-${NAMES_OF[architecture].node}@${NODE_VERSION}`;
    integrity[architecture] = (await npm(['view', name, 'dist.integrity'])).trim();
  }
  const sorted = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { debian: release, packages: sorted, node: { version: NODE_VERSION, integrity } };
}

/** The name of the release that apt-get asks for packages of. */
async function debianRelease(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8');
  return /^VERSION_CODENAME=(\S+)$/m.exec(text)?.[1] ?? 'unknown';
}

async function debianFiles(
  temporary: string,
  architecture: Architecture,
  packages: readonly string[],
  release: string,
): Promise<readonly { readonly path: string; readonly sha256: string }[]> {
  const apt = new Apt(temporary, process.env);
  try {
    await apt.ownLists(architecture);
    const downloads = await apt.download(packages);
    const files = (await readdir(downloads)).filter((file) => file.endsWith('.deb'));
    return await Promise.all(
      files.map(async (file) => {
        const path = join(downloads, file);
        return {
          path,
          sha256: createHash('sha256')
            .update(await readFile(path))
            .digest('hex'),
        };
      }),
    );
  } catch (error) {
    if (!(error instanceof AptFailed)) throw error;
    throw new ImageUnavailable(
      `packages for ${architecture} cannot be had from Debian (${error.message}): build on Debian ${release}, or in its container; where it serves newer ones by now, \`npm run image -- --pin\` pins those`,
    );
  }
}

async function nodePackage(folder: string, architecture: Architecture, integrity: string): Promise<Buffer> {
  const name = `node-linux-${NAMES_OF[architecture].node}`;
  const cached = join(folder, `${name}-${NODE_VERSION}.tgz`);
  const isPinned = (content: Buffer): boolean =>
    `sha512-${createHash('sha512').update(content).digest('base64')}` === integrity;
  const there = await readFile(cached).catch(() => null);
  if (there !== null && isPinned(there)) return there;
  return await inTemporary(folder, async (temporary) => {
    await npm(['pack', `${name}@${NODE_VERSION}`, '--silent', '--pack-destination', temporary]);
    const [file = ''] = await readdir(temporary);
    const content = await readFile(join(temporary, file));
    if (!isPinned(content)) throw new ImageUnavailable(`npm's package ${name} ${NODE_VERSION} is not the pinned one`);
    await rename(join(temporary, file), cached);
    return content;
  });
}

async function npm(args: readonly string[]): Promise<string> {
  try {
    return (await run('npm', [...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new ImageUnavailable(`npm ${args[0]} ${args[1]} failed: ${stderr.split('\n').at(-1) || String(error)}`);
  }
}

async function inTemporary<Result>(folder: string, work: (temporary: string) => Promise<Result>): Promise<Result> {
  const temporary = await mkdtemp(join(folder, PARTIAL));
  try {
    return await work(temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
