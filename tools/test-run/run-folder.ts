import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../resolver/find-executable.ts';

/** So many runs in which something failed keep their folder. */
const KEPT = 10;

/**
 * A new folder in Headroom's cache folder for what a run prints and reports, and for the logs of what its tests start. Those of
 * the latest runs are kept, the others removed.
 */
export async function openRunFolder(environment: NodeJS.ProcessEnv = process.env): Promise<string> {
  const runs = join(cacheFolder(environment), 'runs');
  await mkdir(runs, { recursive: true });
  const old = (await readdir(runs)).toSorted().slice(0, 1 - KEPT);
  // Other checkouts share the folder, and their runs may not have come to their end.
  for (const name of old) if (!isAlive(Number(name.split('-').at(-1)))) await remove(join(runs, name));
  const folder = join(runs, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}`);
  await mkdir(folder);
  return folder;
}

/** Keeps the folder of a run, or removes it; the folder where it is kept. */
export async function closeRunFolder(folder: string, isKept: boolean): Promise<string | undefined> {
  await remove(join(folder, 'compiled'));
  if (isKept) return folder;
  await remove(folder);
  return undefined;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function remove(folder: string): Promise<void> {
  // Again for as long as a process that is ending still writes what it has compiled.
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}
