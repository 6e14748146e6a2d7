import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BareMachine } from '../kernel/servers/bare-machine.ts';

// Each starts a process that loads a story.
vi.setConfig({ testTimeout: 60_000 });

let machine: BareMachine;
beforeEach(() => {
  machine = new BareMachine();
});
afterEach(() => machine.remove());

const EVERY = ['temporal', 'etcd', 'kube-apiserver', 'kube-controller-manager'];

it.each([
  ['main.ts', [], EVERY],
  ['main.ts', ['memcached'], [...EVERY, 'memcached_exporter']],
  ['main.ts', ['node-groups'], [...EVERY, 'kube-scheduler', 'kwok']],
  ['main.ts', ['lights-out'], EVERY],
  ['dev.ts', [], EVERY],
])('on an empty machine, %s %j builds what it starts, and nothing else', async (program, args, servers) => {
  machine.installGo('echo "this Go builds nothing" >&2; exit 1');
  const { code, stdout, stderr } = await machine.run(join(import.meta.dirname, program), [...args]).answer;
  expect(stderr).toMatch(new RegExp(`^Building ${servers.join(', ')} with Go, once: up to about \\d+ min`));
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^temporal \S+ could not be built: this Go builds nothing$/);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '\nStopping\n' });
});
