import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ensureBuild } from './ensure-build.ts';
import { SOURCES } from './sources.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const BUILD_MAIN = join(ROOT, 'tools/programs/build-main.ts');

/** Where a checkout keeps the programs that were built from it, a folder for each state of the source. */
const BUILDS = join(ROOT, '.headroom/programs');

/**
 * The folder of this checkout's programs, as shipped. They are built first if the source has changed; of several
 * concurrent processes only one builds.
 *
 * @throws Error when the source cannot be bundled.
 */
export async function ensurePrograms(): Promise<string> {
  return await ensureBuild(BUILDS, fingerprint(), buildApart);
}

/** In a process of its own: the bundlers keep more than 2 GB, which a test run or a benchmark would hold until it ends. */
async function buildApart(folder: string): Promise<void> {
  const child = spawn(process.execPath, [BUILD_MAIN, folder], { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  if (code === 0) return;
  throw new Error(`the programs could not be built (${signal ?? `exit code ${code}`}):\n${stderr}`);
}

function fingerprint(): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}`);
  for (const file of SOURCES.flatMap(filesOf)) hash.update(`\n${file}\n`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/** The files at or below a path, always in the same order. */
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
