import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'tools/resolver/beside-npm.sh');
/** Found on PATH. */
const MAKE = 'make';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'beside-npm-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** A command on PATH. */
function install(name: string, script: string): void {
  writeFileSync(join(home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

/** What Go was asked for, in order of the folders. */
function asked(path: string, make = process.pid): readonly string[] {
  install('go', `echo "$(basename "$PWD") $GOGC $GOFLAGS $GOWORK: $*" >> '${join(home, 'asked')}'`);
  writeFileSync(join(home, 'asked'), '');
  execFileSync('/bin/sh', [SCRIPT, String(make), 'etcd', 'kubernetes'], {
    env: { PATH: path, HOME: home },
    stdio: 'ignore',
  });
  return readFileSync(join(home, 'asked'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

it('while npm installs, all modules are fetched, and the first is compiled with the flags of its build', () => {
  expect(asked(`${home}:/usr/bin:/bin`)).toEqual([
    'etcd  -mod=readonly off: list -deps -export -trimpath tool',
    'etcd  -mod=readonly off: list -deps tool',
    'kubernetes  -mod=readonly off: list -deps tool',
  ]);
});

it('nothing is fetched where the servers are in the cache, or where there is no Go', () => {
  expect(asked('/usr/bin:/bin')).toEqual([]);
  const built = join(home, '.cache/headroom/etcd-1.2.3-abc');
  mkdirSync(built, { recursive: true });
  writeFileSync(join(built, 'etcd'), '', { mode: 0o755 });
  expect(asked(`${home}:/usr/bin:/bin`)).toEqual([]);
});

it('nothing is fetched or compiled for a server that is on PATH', () => {
  install('etcd', '');
  expect(asked(`${home}:/usr/bin:/bin`)).toEqual(['kubernetes  -mod=readonly off: list -deps tool']);
});

describe('Go ends with make', () => {
  /** Starts `make install` as a terminal does, and waits until Go downloads. */
  async function makeInstall(npm: string) {
    const pidFile = join(home, 'go.pid');
    install('go', `echo $$ > '${pidFile}.partial'; mv '${pidFile}.partial' '${pidFile}'; exec sleep 60`);
    install('npm', `while [ ! -e '${pidFile}' ]; do sleep 0.1; done; ${npm}`);
    writeFileSync(join(home, 'package-lock.json'), '{}');
    symlinkSync(join(ROOT, 'tools'), join(home, 'tools'));
    const make = spawn(MAKE, ['-f', join(ROOT, 'Makefile'), 'install', 'GO_MODULES=kubernetes'], {
      cwd: home,
      env: { PATH: `${home}:${process.env['PATH']}`, HOME: home },
      detached: true,
      stdio: 'ignore',
    });
    const ended = once(make, 'exit');
    await vi.waitUntil(() => existsSync(pidFile), { timeout: 10_000 });
    return { group: -(make.pid ?? 0), ended, go: Number(readFileSync(pidFile, 'utf8')) };
  }

  function isAlive(pid: number): boolean {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  }

  it.each([
    ['Ctrl-C', 'exec sleep 60'],
    ['a failed installation', 'exit 1'],
  ])(
    'after %s',
    async (what, npm) => {
      const { group, ended, go } = await makeInstall(npm);
      if (what === 'Ctrl-C') process.kill(group, 'SIGINT');
      try {
        await ended;
        await vi.waitUntil(() => !isAlive(go), { timeout: 10_000 });
      } finally {
        if (isAlive(go)) process.kill(go);
      }
    },
    30_000,
  );
});
