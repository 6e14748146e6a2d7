/** `npm test`: the real program and the real vitest, in a small checkout of its own. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { coreFiles } from '../../tools/test-run/core.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENT = { timeout: 60_000, interval: 50 };
/** Files of the core, and one that is not. */
const [FIRST, SECOND, THIRD] = ['quota-usage/owner', 'memcached/episodes', 'deploy/manifests'].map(
  (name) => `test/${name}.integration.test.ts`,
) as [string, string, string];
const OUTSIDE = 'test/outside.integration.test.ts';

const ONE_TEST = ["import { it } from 'vitest';", "it('passes', () => {});"];

let folder: string;

/** The tests that pass in a checkout: the checks, a unit test and one in each file of the core, where it is not replaced. */
const PASSED = 2 + coreFiles.size;

/** A checkout whose checks pass, with one unit test, and one in each file of the core. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-test-run-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await write('package.json', ['{"type": "module"}']);
  await write('.gitignore', ['/cache', '/npm', '/node_modules', '/tried-*', '/pids']);
  await write('vitest.config.ts', [
    'const project = (name, include, exclude = []) => ({ test: { name, include, exclude, isolate: false, testTimeout: 600_000 } });',
    'const integration = "test/**/*.integration.test.ts";',
    'export default { test: { projects: [project("unit", ["test/**/*.test.ts"], [integration]), project("integration", [integration])] } };',
  ]);
  await write('test/unit.test.ts', ONE_TEST);
  for (const file of coreFiles) await write(file, ONE_TEST);
  await write('npm', ['#!/bin/sh', 'exit 0']);
  await chmod(join(folder, 'npm'), 0o755);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function write(name: string, lines: readonly string[]): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), `${lines.join('\n')}\n`);
}

/** A file with one test that passes, and one that fails the first so many times. */
async function writeTest(file: string, failures: number): Promise<void> {
  const tries = `tried-${file.replaceAll('/', '-')}`;
  await write(file, [
    "import { appendFileSync, readFileSync } from 'node:fs';",
    "import { expect, it } from 'vitest';",
    "it('passes', () => {});",
    "it('is sometimes late', () => {",
    `  appendFileSync('${tries}', '.');`,
    `  expect(readFileSync('${tries}', 'utf8').length).toBeGreaterThan(${failures});`,
    '});',
  ]);
}

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=somebody', '-c', 'user.email=somebody@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' }).trim();
}

function startProgram(args: readonly string[], stdout: 'ignore' | 'pipe') {
  const program = spawn(process.execPath, [join(ROOT, 'tools/test-run/main.ts'), ...args], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: [folder, join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
      XDG_CACHE_HOME: join(folder, 'cache'),
      HEADROOM_RUN_BEGAN: String(Date.now() / 1_000 - 100),
    },
    stdio: ['ignore', stdout, 'ignore'],
  });
  onTestFinished(() => void program.kill('SIGTERM'));
  return program;
}

/** Runs it to its end: its exit code, the lines after vitest's, and the last line of `gate.jsonl`. */
async function runProgram(...args: readonly string[]) {
  const program = startProgram(args, 'pipe');
  let output = '';
  program.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(program, 'close');
  const gate = join(folder, 'cache/headroom/gate.jsonl');
  const entry: unknown = existsSync(gate)
    ? JSON.parse(readFileSync(gate, 'utf8').trim().split('\n').at(-1) ?? '')
    : null;
  const lines = output.trim().split('\n');
  return { code, lines: lines.slice(lines.findIndex((line) => line.startsWith('the run took'))), entry };
}

const tried = (file: string): number => readFileSync(join(folder, `tried-${file.replaceAll('/', '-')}`), 'utf8').length;
const WHY = 'is sometimes late: AssertionError: expected 1 to be greater than 1';

describe('a run', () => {
  it('of the core leaves the others out, and notes the tree that it proved', async () => {
    await writeTest(FIRST, 0);
    await writeTest(OUTSIDE, 9);
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '-m', 'a tree');
    const { code, lines, entry } = await runProgram();
    expect(lines.at(-1)).toBe(`${PASSED + 1} passed, 0 failed`);
    expect(code).toBe(0);
    expect(entry).toEqual({
      tree: git('rev-parse', 'HEAD^{tree}'),
      clean: true,
      ring: 'core',
      seconds: expect.toSatisfy((seconds: number) => seconds >= 100),
      passed: PASSED + 1,
      failed: 0,
      flaky: [],
    });
    expect(globSync('cache/headroom/runs/*', { cwd: folder })).toEqual([]);
  });

  it('of all has everything, repeats nothing outside of the core, and says that the tree was not clean', async () => {
    await writeTest(FIRST, 0);
    await writeTest(OUTSIDE, 1);
    git('init', '--quiet');
    git('add', FIRST);
    git('commit', '--quiet', '-m', 'a part of the tree');
    const { code, lines, entry } = await runProgram('all');
    expect(lines).toContain(`failed: ${OUTSIDE} > ${WHY}`);
    expect(lines.at(-1)).toBe(`${PASSED + 2} passed, 1 failed`);
    expect(code).toBe(1);
    expect(entry).toMatchObject({ clean: false, ring: 'all', failed: 1, flaky: [] });
    expect(tried(OUTSIDE)).toBe(1);
  });

  it('with two files of the core that pass when each is run again alone is green, names both and keeps the logs', async () => {
    await writeTest(FIRST, 1);
    await writeTest(SECOND, 1);
    await writeTest(THIRD, 0);
    const { code, lines } = await runProgram();
    expect(lines).toEqual(expect.arrayContaining([`flaky: ${FIRST} (${WHY})`, `flaky: ${SECOND} (${WHY})`]));
    expect(lines.at(-2)).toMatch(/^2 flaky: /);
    expect(lines.at(-1)).toBe(`${PASSED + 3} passed, 0 failed`);
    expect(code).toBe(0);
    expect([FIRST, SECOND, THIRD].map(tried)).toEqual([2, 2, 1]);
    const logs = globSync('cache/headroom/runs/*/*.log', { cwd: folder }).map((file) => file.replace(/^.*\//, ''));
    expect(logs.toSorted()).toEqual(['again-1.log', 'again-2.log', 'integration.log', 'unit.log']);
  });

  it('is red when a file of the core fails the second time as well', async () => {
    await writeTest(FIRST, 2);
    const { code, lines } = await runProgram();
    expect(lines).toContain(`failed: ${FIRST} > is sometimes late: AssertionError: expected 2 to be greater than 2`);
    expect(lines.at(-1)).toBe(`${PASSED} passed, 1 failed`);
    expect(code).toBe(1);
    expect(tried(FIRST)).toBe(2);
  });

  it('is red when more than two files of the core fail, and none of them is run again', async () => {
    for (const file of [FIRST, SECOND, THIRD]) await writeTest(file, 1);
    const { code, lines } = await runProgram();
    expect(lines.at(-1)).toBe(`${PASSED} passed, 3 failed`);
    expect(code).toBe(1);
    expect([FIRST, SECOND, THIRD].map(tried)).toEqual([1, 1, 1]);
  });

  it('is red for an error outside of any test, though the file that also failed passes when it is run again', async () => {
    await writeTest(FIRST, 1);
    await write(SECOND, [
      "import { it } from 'vitest';",
      "it('leaves something behind', async () => {",
      "  void Promise.reject(new Error('nobody waits for this'));",
      '  await new Promise((resolve) => setTimeout(resolve, 50));',
      '});',
    ]);
    const { code, lines } = await runProgram();
    expect(lines).toContain('failed: outside of any test: nobody waits for this');
    expect(lines.at(-1)).toBe(`${PASSED + 1} passed, 1 failed`);
    expect(code).toBe(1);
  });

  it('is red when nothing is tried the second time', async () => {
    await write(FIRST, [
      "import { existsSync, writeFileSync } from 'node:fs';",
      "import { it } from 'vitest';",
      "it('is tried once', ({ skip }) => {",
      "  if (existsSync('tried-once')) skip();",
      "  writeFileSync('tried-once', '');",
      "  throw new Error('no');",
      '});',
    ]);
    const { code, lines } = await runProgram();
    expect(lines).toContain(`failed: ${FIRST} > is tried once: Error: no`);
    expect(lines.at(-1)).toBe(`${PASSED - 1} passed, 1 failed`);
    expect(code).toBe(1);
  });

  it('is red when a file of the core is not there, or has no test that is run', async () => {
    await rm(join(folder, FIRST));
    await write(SECOND, ["import { it } from 'vitest';", "it.skip('passes', () => {});"]);
    const { code, lines } = await runProgram();
    for (const file of [FIRST, SECOND]) expect(lines).toContain(`failed: ${file}: no test of it ran`);
    expect(lines.at(-1)).toBe(`${PASSED - 2} passed, 2 failed`);
    expect(code).toBe(1);
  });

  it('says why a group of tests could not be set up', async () => {
    await write(OUTSIDE, [
      "import { beforeAll, describe, it } from 'vitest';",
      "describe('a group', () => {",
      "  beforeAll(() => { throw new Error('no server'); });",
      "  it('passes', () => {});",
      '});',
    ]);
    const { lines } = await runProgram('all');
    expect(lines).toContain(`failed: ${OUTSIDE}: no server`);
  });

  it('counts a vitest that was killed while it wrote what it had counted', async () => {
    await write('vitest', ['#!/bin/sh', 'printf "{" > "$HEADROOM_TEST_RUN_RECORD"', 'kill -KILL $$']);
    await chmod(join(folder, 'vitest'), 0o755);
    const { code, lines } = await runProgram();
    expect(lines).toContain('failed: vitest wrote no report, a signal ended it');
    expect(code).toBe(1);
  });

  it('of no ring that there is says which there are, and runs nothing', async () => {
    const program = startProgram(['test/quota-resize'], 'ignore');
    expect(await once(program, 'close')).toEqual([2, null]);
    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });
});

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  '%s to the program alone ends vitest, its workers and their servers, and notes no tree',
  async (signal, exitCode) => {
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '-m', 'a tree');
    await write('test/endless.test.ts', [
      `import { startProcess } from '${ROOT}test/kernel/servers/supervised-process.ts';`,
      "import { writeFileSync } from 'node:fs';",
      "import { it } from 'vitest';",
      "it('takes for ever', async () => {",
      "  const server = { name: 'server', command: 'sleep', args: ['600'], logFile: 'server.log' };",
      '  const { pid, exited } = await startProcess(server);',
      "  writeFileSync('pids', `${process.pid} ${process.ppid} ${pid}.`);",
      '  await exited;',
      '});',
    ]);
    const program = startProgram([], 'ignore');
    const ended = once(program, 'exit');
    const written = join(folder, 'pids');
    await vi.waitUntil(() => existsSync(written) && readFileSync(written, 'utf8').endsWith('.'), PATIENT);
    const pids = readFileSync(written, 'utf8').replace('.', '').split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([true, true, true]);
    program.kill(signal);
    expect(await ended).toEqual([exitCode, null]);
    await vi.waitUntil(() => pids.every((pid) => !isAlive(pid)), PATIENT);
    expect(existsSync(join(folder, 'cache/headroom/gate.jsonl'))).toBe(false);
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
