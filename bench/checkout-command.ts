/** Commands of `headroom` as whole processes, on checkouts that are written into a temporary folder. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { startOf } from '../test/kernel/stack/programs.ts';
import type { Files } from '../test/layouts/tree.ts';

/** A process writes its greatest resident memory, in KiB, and its CPU time, in µs, to its fourth file descriptor when it ends. */
const TELLS_USE =
  'data:text/javascript,import{writeSync}from"node:fs";process.on("exit",()=>{const u=process.resourceUsage();writeSync(3,JSON.stringify([u.maxRSS,u.userCPUTime+u.systemCPUTime]))})';

interface CommandRun {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly megabytes: number;
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `headroom` with arguments on the checkout. */
export type RunCommand = (...args: readonly string[]) => CommandRun;

/** Writes the files as a checkout, and removes it afterwards. */
export async function inCheckout<T>(files: Files, measure: (run: RunCommand) => T): Promise<T> {
  const start = await startOf('headroom');
  const root = mkdtempSync(join(tmpdir(), 'headroom-bench-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    spawnSync('git', ['init', '--quiet'], { cwd: root });
    return measure((...args) => {
      const before = performance.now();
      const run = spawnSync(start.command, ['--import', TELLS_USE, ...start.args, ...args, '--repo', root], {
        env: { ...process.env, ...start.env },
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      });
      const seconds = (performance.now() - before) / 1_000;
      const [memory = 0, cpu = 0] = JSON.parse(run.output[3]?.toString() || '[]') as number[];
      return {
        seconds,
        cpuSeconds: cpu / 1_000_000,
        megabytes: Math.round(memory / 1024),
        status: run.status,
        stdout: run.stdout.toString(),
        stderr: run.stderr.toString(),
      };
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
