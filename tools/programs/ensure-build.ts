/** Builds in folders of their own: made by the first who asks for one, and deleted when nobody has used it for long. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds. A build that was not used for so long is deleted when another one is made. */
const KEPT_UNUSED = 24 * 60 * 60 * 1000;

/** What is not a build, or no longer one: only the holder of the lock makes or removes it. */
const PARTIAL = '.partial';
const LOCK = 'lock';

/** Of the builds that this process uses, and goes on to mark as used. */
const inUse = new Set<string>();

/**
 * The folder of a build, which is made first where it is missing; of several processes that ask for it at once, one builds. It
 * stays for as long as this process runs: the modification time of the folder says when it was last in use.
 *
 * @param builds the folder of all builds.
 * @param build makes the build in a folder that it is given.
 * @param keptUnused milliseconds after which a build that nobody uses may be deleted.
 */
export async function ensureBuild(
  builds: string,
  name: string,
  build: (folder: string) => Promise<void>,
  keptUnused = KEPT_UNUSED,
): Promise<string> {
  const folder = join(builds, name);
  const unused = await unusedFor(folder);
  // Whoever may not write here cannot keep others from deleting it either, and can use what is there.
  const isSafe = unused !== null && (unused < keptUnused / 2 || !(await isWritable(builds)));
  if (!isSafe) await ensureUnderLock(builds, name, build, keptUnused);
  await markUsed(folder);
  if (!inUse.has(folder)) {
    inUse.add(folder);
    setInterval(() => void markUsed(folder).catch(() => {}), keptUnused / 24).unref();
  }
  return folder;
}

/** With the lock, nobody deletes what this process is about to use. */
async function ensureUnderLock(
  builds: string,
  name: string,
  build: (folder: string) => Promise<void>,
  keptUnused: number,
): Promise<void> {
  // Loaded only here: a command that finds its program built is to start at once.
  const { withBuildLock } = await import('../resolver/build-lock.ts');
  await mkdir(builds, { recursive: true });
  const unannounced = (): void => {};
  await withBuildLock(join(builds, LOCK), unannounced, async () => {
    const folder = join(builds, name);
    if ((await unusedFor(folder)) !== null) return await markUsed(folder);
    await removeUnused(builds, keptUnused);
    const partial = `${folder}.${randomUUID()}${PARTIAL}`;
    try {
      await build(partial);
      await rename(partial, folder);
    } catch (error) {
      // Again for as long as what did not fail still writes.
      await rm(partial, { recursive: true, force: true, maxRetries: 10 });
      throw error;
    }
  });
}

/** Only the holder of the lock may call this. */
async function removeUnused(builds: string, keptUnused: number): Promise<void> {
  for (const name of await readdir(builds)) {
    if (name === LOCK) continue;
    const path = join(builds, name);
    const isPartial = name.endsWith(PARTIAL);
    if (!isPartial && ((await unusedFor(path)) ?? 0) < keptUnused) continue;
    // Renamed first: a deletion that is cut short leaves half of it, which must not be found as a build.
    const removed = isPartial ? path : `${path}.${randomUUID()}${PARTIAL}`;
    if (!isPartial) await rename(path, removed);
    await rm(removed, { recursive: true, force: true });
  }
}

/** For how many milliseconds nobody has used it; null where it is not there. */
async function unusedFor(folder: string): Promise<number | null> {
  try {
    return Date.now() - (await stat(folder)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Somebody else's build, or one on a read-only file system, can be used all the same. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  try {
    await utimes(folder, now, now);
  } catch (error) {
    if (!['EPERM', 'EACCES', 'EROFS'].includes(codeOf(error))) throw error;
  }
}

async function isWritable(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
