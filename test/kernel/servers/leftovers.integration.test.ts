import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { firstLine } from './first-line.ts';

const PATIENT = { timeout: 60_000, interval: 20 };

interface Started {
  readonly pids: readonly number[];
  /** The folder that everything was written to. */
  readonly dir: string;
}

/** A program that starts a control plane and Temporal, and then stays up as a test run does. */
async function programWithServers(): Promise<{ program: ChildProcess; started: Started }> {
  const module = (name: string) => JSON.stringify(join(import.meta.dirname, name));
  const script = `
    const { startControlPlane } = await import(${module('control-plane.ts')});
    const { startTemporal } = await import(${module('temporal.ts')});
    const [plane, temporal] = await Promise.all([startControlPlane(), startTemporal()]);
    console.log(JSON.stringify({ pids: [...Object.values(plane.pids()), temporal.pid()], dir: plane.dir }));`;
  const program = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group of its own, as a shell gives to what is started in the foreground.
    detached: true,
  });
  // Where the test fails, and the program stays up with its servers.
  onTestFinished(() => {
    program.kill('SIGKILL');
  });
  return { program, started: JSON.parse(await firstLine(program)) as Started };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('no server is left over', () => {
  it('after the program that started them was killed', async () => {
    const { program, started } = await programWithServers();
    expect(started.pids.filter(isAlive)).toHaveLength(4);
    program.kill('SIGKILL');
    await vi.waitUntil(() => !started.pids.some(isAlive) && !existsSync(dirname(started.dir)), PATIENT);
  });

  it('after Ctrl-C, which reaches the whole process group of the program', async () => {
    const { program, started } = await programWithServers();
    expect(started.pids.filter(isAlive)).toHaveLength(4);
    process.kill(-(program.pid ?? 0), 'SIGINT');
    await vi.waitUntil(() => !started.pids.some(isAlive) && !existsSync(dirname(started.dir)), PATIENT);
  });
});
