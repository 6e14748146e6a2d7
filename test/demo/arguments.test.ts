import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** For a Node that starts and reads the program's sources: a second, and several on a machine under load. */
const timeout = 60_000;

function run(program: string, ...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return { status, stderr };
}

it('the demo says in a sentence which argument it does not know, and ends with 2', { timeout }, () => {
  expect(run('main.ts', '--exti')).toEqual({ status: 2, stderr: 'unknown argument --exti: there is --exit\n' });
});

it('dev takes no arguments, and says so', { timeout }, () => {
  expect(run('dev.ts', '--exit')).toEqual({ status: 2, stderr: 'unknown argument --exit: there are none\n' });
});
