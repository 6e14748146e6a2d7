/** The folders that a checkout keeps the programs in which were built from it. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ensureBuild } from '../../tools/programs/ensure-build.ts';
import { withBuildLock } from '../../tools/resolver/build-lock.ts';

const run = promisify(execFile);
const DAY = 24 * 60 * 60 * 1000;

let builds: string;

beforeEach(async () => {
  builds = await mkdtemp(join(tmpdir(), 'headroom-builds-'));
});
afterEach(async () => {
  await rm(builds, { recursive: true, force: true });
});

async function write(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, 'program'), 'built');
}

async function lastUsed(name: string, days: number): Promise<void> {
  const then = new Date(Date.now() - days * DAY);
  await utimes(join(builds, name), then, then);
}

it('is built once, and again only under another name', async () => {
  const build = vi.fn(write);
  const [first, second] = await Promise.all([ensureBuild(builds, 'a', build), ensureBuild(builds, 'a', build)]);
  expect([first, second]).toEqual([join(builds, 'a'), join(builds, 'a')]);
  expect(build).toHaveBeenCalledTimes(1);
  await ensureBuild(builds, 'b', build);
  expect(build).toHaveBeenCalledTimes(2);
});

it('what fails leaves nothing behind, and is built anew', async () => {
  const failing = async (folder: string): Promise<void> => {
    await write(folder);
    throw new Error('a module is missing');
  };
  await expect(ensureBuild(builds, 'a', failing)).rejects.toThrow('a module is missing');
  expect(await readdir(builds)).toEqual(['lock']);
  expect(await readFile(join(await ensureBuild(builds, 'a', write), 'program'), 'utf8')).toBe('built');
});

it('goes when another one is made, once nobody has used it for a day', async () => {
  for (const name of ['old', 'recent']) await ensureBuild(builds, name, write);
  await lastUsed('old', 1.1);
  await lastUsed('recent', 0.9);
  await ensureBuild(builds, 'new', write);
  expect((await readdir(builds)).toSorted()).toEqual(['lock', 'new', 'recent']);
});

it('one that has not been used for long is not deleted between being found and being used', async () => {
  await ensureBuild(builds, 'a', write);
  await lastUsed('a', 2);
  let found: Promise<string> | undefined;
  await withBuildLock(
    join(builds, 'lock'),
    () => {},
    async () => {
      found = ensureBuild(builds, 'a', write);
      await Promise.race([found, stat(builds)]);
      // As whoever makes another build does, while it has the lock.
      await rm(join(builds, 'a'), { recursive: true });
    },
  );
  expect(await readFile(join((await found) ?? '', 'program'), 'utf8')).toBe('built');
});

it('counts as used for as long as a process that asked for it runs', async () => {
  const kept = 24 * 50;
  const folder = await ensureBuild(builds, 'a', write, kept);
  await lastUsed('a', 2);
  await vi.waitFor(async () => expect(Date.now() - (await stat(folder)).mtimeMs).toBeLessThan(DAY), 30_000);
});

it("somebody else's can be used by who may not write it", async () => {
  // Root may write everything, so the program is asked by another user, to whom the folder of the builds belongs as little.
  const isRoot = process.getuid?.() === 0;
  const folder = isRoot ? builds : '/';
  const name = isRoot ? 'a' : 'usr';
  if (isRoot) {
    await chmod(builds, 0o755);
    await ensureBuild(builds, name, write);
    await lastUsed(name, 2);
    await rm(join(builds, 'lock'));
  }
  const module = fileURLToPath(new URL('../../tools/programs/ensure-build.ts', import.meta.url));
  const code = `
    const { ensureBuild } = await import(${JSON.stringify(module)});
    console.log(await ensureBuild(${JSON.stringify(folder)}, '${name}', () => { throw new Error('built again'); }));`;
  const user = isRoot ? { uid: 65534, gid: 65534 } : {};
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], user);
  expect(stdout).toBe(`${join(folder, name)}\n`);
});
