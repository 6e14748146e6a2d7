/** What `npm test` started does not outlive it: the real program, the real vitest, and a server of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENT = { timeout: 60_000, interval: 50 };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-test-run-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A checkout whose checks pass, and whose only test starts a server and then takes for ever. */
async function checkoutWithATest(): Promise<void> {
  const write = async (name: string, lines: readonly string[]): Promise<void> =>
    await writeFile(join(folder, name), `${lines.join('\n')}\n`);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await write('package.json', ['{"type": "module"}']);
  await write('vitest.config.ts', [
    'export default { test: { projects: [{ test: { name: "unit", include: ["*.test.ts"], testTimeout: 600_000 } }] } };',
  ]);
  await write('endless.test.ts', [
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
  await write('npm', ['#!/bin/sh', 'exit 0']);
  await chmod(join(folder, 'npm'), 0o755);
}

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s to the program alone ends vitest, its workers and their servers', async (signal, exitCode) => {
  await checkoutWithATest();
  const program = spawn(process.execPath, [join(ROOT, 'tools/test-run/main.ts')], {
    cwd: folder,
    env: { ...process.env, PATH: [folder, join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter) },
    stdio: 'ignore',
  });
  onTestFinished(() => void program.kill('SIGTERM'));
  const ended = once(program, 'exit');
  const written = join(folder, 'pids');
  await vi.waitUntil(() => existsSync(written) && readFileSync(written, 'utf8').endsWith('.'), PATIENT);
  const pids = readFileSync(written, 'utf8').replace('.', '').split(' ').map(Number);
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  program.kill(signal);
  expect(await ended).toEqual([exitCode, null]);
  await vi.waitUntil(() => pids.every((pid) => !isAlive(pid)), PATIENT);
});
