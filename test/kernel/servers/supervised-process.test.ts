import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { firstLine } from './first-line.ts';
import { logTail, startProcess, temporaryDirectory } from './supervised-process.ts';

const PATIENT = { timeout: 30_000, interval: 20 };

let dir: string;

beforeAll(async () => {
  dir = await temporaryDirectory('supervised-process-test');
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function shell(name: string, script: string) {
  return startProcess({ name, command: '/bin/sh', args: ['-c', script], logFile: join(dir, `${name}.log`) });
}

describe('a supervised process', () => {
  it('its output is in its log and its end is known', async () => {
    const child = await shell('speaker', 'echo out; echo err >&2; exit 3');
    expect(await child.exited).toEqual({ code: 3, signal: null });
    expect(child.exit()).toEqual({ code: 3, signal: null });
    expect(await logTail(child.logFile)).toBe('out\nerr');
  });

  it('a command that does not exist is an error that names the process', async () => {
    const start = startProcess({ name: 'ghost', command: '/nowhere/ghost', args: [], logFile: join(dir, 'ghost.log') });
    await expect(start).rejects.toThrow('ghost could not be started: spawn /nowhere/ghost ENOENT');
  });

  it('stop lets it end by itself', async () => {
    const child = await shell('polite', 'trap "exit 7" TERM; echo up; while :; do sleep 0.02; done');
    await vi.waitUntil(() => readFileSync(child.logFile, 'utf8') === 'up\n', PATIENT);
    expect(await child.stop(PATIENT.timeout)).toEqual({ code: 7, signal: null });
  });

  it('stop kills one that ignores SIGTERM when its grace is over', async () => {
    const child = await shell('stubborn', 'trap "" TERM; echo up; while :; do sleep 0.02; done');
    await vi.waitUntil(() => readFileSync(child.logFile, 'utf8') === 'up\n', PATIENT);
    expect(await child.stop(50)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('what it started ends with it', async () => {
    const child = await shell('parent', 'sleep 600 & echo $!; exit 0');
    await child.exited;
    const orphan = Number(await logTail(child.logFile));
    await vi.waitUntil(() => !isAlive(orphan), PATIENT);
  });
});

describe('when the program that started it ends', () => {
  /** A program with one supervised process, of which it prints the pid and the folder. */
  async function program(ending: string) {
    const module = join(import.meta.dirname, 'supervised-process.ts');
    const script = `
      const { startProcess, temporaryDirectory } = await import(${JSON.stringify(module)});
      const dir = await temporaryDirectory('program');
      const child = await startProcess({ name: 'sleep', command: 'sleep', args: ['600'], logFile: dir + '/log' });
      console.log(JSON.stringify({ pid: child.pid, dir }));
      ${ending}`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const exited = once(parent, 'exit');
    const { pid, dir } = JSON.parse(await firstLine(parent)) as { pid: number; dir: string };
    return { parent, exited, pid, dir };
  }

  it.each([
    ['normally', 'process.exit(0)'],
    ['by an exception that nobody caught', 'throw new Error("expected")'],
  ])('%s, the process and its files go', async (_how, ending) => {
    const { exited, pid, dir } = await program(ending);
    await exited;
    await vi.waitUntil(() => !isAlive(pid) && !existsSync(dir), PATIENT);
  });

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'by %s, the process and its files go',
    async (signal) => {
      const { parent, exited, pid, dir } = await program('');
      expect(isAlive(pid)).toBe(true);
      parent.kill(signal);
      await exited;
      await vi.waitUntil(() => !isAlive(pid) && !existsSync(dir), PATIENT);
    },
  );
});
