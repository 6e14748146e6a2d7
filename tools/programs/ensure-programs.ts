import { createHash, randomUUID } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Where a checkout keeps the programs that were built from it, a folder for each state of the source. */
const BUILDS = join(ROOT, '.headroom/programs');

/** What the programs are made of: a change in any of these is another build. */
export const SOURCES: readonly string[] = [
  'activities',
  'domain',
  'platform',
  'starter',
  'worker',
  'workflows',
  'tools/programs',
  'package-lock.json',
];

/** Milliseconds. A build that was not used for so long is deleted when another one is made. */
const KEPT_UNUSED = 24 * 60 * 60 * 1000;

/**
 * The folder of this checkout's programs, as they ship. They are built first where the source has changed since; of several
 * processes that ask for it at once, one builds.
 *
 * @throws Error where the source cannot be bundled.
 */
export async function ensurePrograms(): Promise<string> {
  const folder = join(BUILDS, fingerprint());
  if (!existsSync(folder)) await build(folder);
  const now = new Date();
  await utimes(folder, now, now);
  return folder;
}

async function build(folder: string): Promise<void> {
  // Loaded only here: a command that finds its program built is to start at once.
  const [{ buildPrograms }, { withBuildLock }] = await Promise.all([
    import('./build-programs.ts'),
    import('../resolver/build-lock.ts'),
  ]);
  await mkdir(BUILDS, { recursive: true });
  const lock = join(BUILDS, 'lock');
  const unannounced = (): void => {};
  await withBuildLock(lock, unannounced, async () => {
    if (existsSync(folder)) return;
    await removeUnused();
    const partial = `${folder}.${randomUUID()}.partial`;
    try {
      await buildPrograms(partial);
      await rename(partial, folder);
    } catch (error) {
      // Again for as long as what did not fail still writes.
      await rm(partial, { recursive: true, force: true, maxRetries: 10 });
      throw error;
    }
  });
}

function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of SOURCES.flatMap(filesOf)) hash.update(`\n${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/** The files at or below a path, in an order that is always the same. */
function filesOf(path: string): readonly string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return [path];
    throw error;
  }
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)]));
}

/** Only the holder of the lock may call this. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(BUILDS)) {
    const path = join(BUILDS, name);
    const isOld = (await stat(path)).mtimeMs < Date.now() - KEPT_UNUSED;
    if (name !== 'lock' && (isOld || name.endsWith('.partial'))) await rm(path, { recursive: true, force: true });
  }
}
