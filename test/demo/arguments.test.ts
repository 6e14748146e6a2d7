import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

function run(program: string, ...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL(program, import.meta.url)), ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return { status, stderr };
}

it('the demo says in a sentence which argument it does not know, and ends with 2', () => {
  expect(run('main.ts', '--exti')).toEqual({
    status: 2,
    stderr: 'unknown argument --exti: there is memcached, node-groups, lights-out, --exit\n',
  });
});

it('dev takes no arguments, and says so', () => {
  expect(run('dev.ts', '--exit')).toEqual({ status: 2, stderr: 'unknown argument --exit: there are none\n' });
});
