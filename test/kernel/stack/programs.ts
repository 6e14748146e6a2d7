/**
 * The product's programs as tests, the demo and benchmarks start them: bundled, as they ship. As Vitest's global set-up of
 * the integration tests this file has them built before any test waits for one, in a folder that no test run shares and that
 * has no packages above it, so that what is missing in them is missed.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Constants } from '../../../platform/config/config.ts';
import { ALLOCATOR, NODE_FLAGS } from '../../../tools/image/settings.ts';
import { ensurePrograms } from '../../../tools/programs/ensure-programs.ts';
import type { ProgramName } from '../../../tools/programs/program-names.ts';

/** Tests have no time for the spans of production. */
const WITH_CONSTANTS = fileURLToPath(new URL('./with-constants.mjs', import.meta.url));

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

/** The same with other values of constants. Without any, as people start it. */
export async function startWith(
  constants: Constants,
  name: 'worker' | 'starter' | 'all-in-one',
): Promise<ProgramStart> {
  if (Object.keys(constants).length === 0) {
    if (name !== 'all-in-one') return await startOf(name);
    const start = await startOf('headroom');
    return { ...start, args: [...start.args, name] };
  }
  const start = await startOf(name);
  return {
    ...start,
    args: [...start.args.slice(0, -1), WITH_CONSTANTS, ...start.args.slice(-1)],
    env: { ...start.env, HEADROOM_TEST_CONSTANTS: JSON.stringify(constants) },
  };
}

/**
 * What a test says of a program, parted: names with a dot, such as `timings.syncPoll`, are constants by their path; the others
 * are variables of the environment.
 */
export function parted(settings: Readonly<Record<string, string>>): {
  readonly env: Readonly<Record<string, string>>;
  readonly constants: Constants;
} {
  const [constants = [], env = []] = [true, false].map((isConstant) =>
    Object.entries(settings).filter(([name]) => name.includes('.') === isConstant),
  );
  return { env: Object.fromEntries(env), constants: Object.fromEntries(constants) };
}

/** The workflows, for tests that run a worker of their own. */
export async function testedWorkflows(): Promise<{ readonly codePath: string }> {
  return { codePath: join(await programsFolder(), 'workflow-bundle.js') };
}

async function programsFolder(): Promise<string> {
  return process.env[FOLDER] ?? (await ensurePrograms());
}
