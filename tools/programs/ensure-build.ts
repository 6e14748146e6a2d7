/** Builds in separate folders: created on first use and deleted when unused for long. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

/** Milliseconds after which an unused build is deleted when another one is created. */
const KEPT_UNUSED = 24 * 60 * 60 * 1000;

/** Marks a folder that is no complete build; only the holder of the lock creates or removes it. */
const PARTIAL = '.partial';
const LOCK = 'lock';

/** Builds that this process uses and keeps marking as used. */
const inUse = new Set<string>();

/**
 * The folder of a build, which is created if missing; of several concurrent processes only one builds. It stays while
 * this process runs: the folder's modification time tells when it was last used.
 *
 * @param builds the folder of all builds.
 * @param build creates the build in the given folder.
 * @param keptUnused milliseconds after which an unused build may be deleted.
 */
export async function ensureBuild(
  builds: string,
  name: string,
  build: (folder: string) => Promise<void>,
  keptUnused = KEPT_UNUSED,
): Promise<string> {
  const folder = join(builds, name);
  const unused = await unusedFor(folder);
  // Without write permission, a build can neither be marked as used nor be deleted by this user's processes, so it is
  // used as it is.
  const isSafe = unused !== null && (unused < keptUnused / 2 || !(await isWritable(builds)));
  if (!isSafe) await ensureUnderLock(builds, name, build, keptUnused);
  await markUsed(folder);
  if (!inUse.has(folder)) {
    inUse.add(folder);
    setInterval(() => void markUsed(folder).catch(() => {}), keptUnused / 24).unref();
  }
  return folder;
}

/** While the lock is held, nobody deletes the build that this process is about to use. */
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
      // Retries while steps that did not fail are still writing.
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
    // Renamed first: an interrupted deletion must not leave half a folder that looks like a build.
    const removed = isPartial ? path : `${path}.${randomUUID()}${PARTIAL}`;
    if (!isPartial) await rename(path, removed);
    await rm(removed, { recursive: true, force: true });
  }
}

/** Milliseconds since its last use; null when it does not exist. */
async function unusedFor(folder: string): Promise<number | null> {
  try {
    return Date.now() - (await stat(folder)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A build of another user, or on a read-only file system, can be used without marking. */
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
