/**
 * The product's programs as tests, the demo and benchmarks start them: bundled, as they ship. As Vitest's global set-up of
 * the integration tests this file has them built before any test waits for one, in a folder that no test run shares and that
 * has no packages above it, so that what is missing in them is missed.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALLOCATOR, NODE_FLAGS } from '../../../tools/image/settings.ts';
import { ensurePrograms } from '../../../tools/programs/ensure-programs.ts';
import type { ProgramName } from '../../../tools/programs/program-names.ts';

/** The variable by which the tests' processes know the folder of their run. */
const FOLDER = 'HEADROOM_TEST_PROGRAMS';

/** How a program is started. */
export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Has Node keep what it has compiled: it is a third of a start, and tests start hundreds. Also how memory is allocated in the image. */
  readonly env: Readonly<Record<string, string>>;
}

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'headroom-programs-'));
  const isProgram = (path: string): boolean => !path.endsWith('/compiled');
  await cp(await ensurePrograms(), folder, { recursive: true, filter: isProgram });
  process.env[FOLDER] = folder;
  // Again for as long as a process that is ending still writes what it has compiled.
  return async () => await rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** How to start one of the programs of this checkout; they are built first where that is needed. */
export async function startOf(name: ProgramName): Promise<ProgramStart> {
  const folder = await programsFolder();
  return {
    command: process.execPath,
    args: [...NODE_FLAGS, join(folder, `${name}.js`)],
    env: { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...ALLOCATOR },
  };
}

/** The workflows, for tests that run a worker of their own. */
export async function testedWorkflows(): Promise<{ readonly codePath: string }> {
  return { codePath: join(await programsFolder(), 'workflow-bundle.js') };
}

async function programsFolder(): Promise<string> {
  return process.env[FOLDER] ?? (await ensurePrograms());
}
