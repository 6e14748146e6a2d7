import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../tools/resolver/beside-npm.sh');

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'beside-npm-'));
  writeFileSync(
    join(home, 'go'),
    `#!/bin/sh\necho "$(basename "$PWD") $GOGC $GOFLAGS $GOWORK: $*" >> '${join(home, 'asked')}'\n`,
    { mode: 0o755 },
  );
});
afterEach(() => rmSync(home, { recursive: true }));

/** What Go was asked for, in order of the folders. */
function asked(path: string): readonly string[] {
  writeFileSync(join(home, 'asked'), '');
  execFileSync('/bin/sh', [SCRIPT, 'etcd', 'kubernetes'], { env: { PATH: path, HOME: home } });
  return readFileSync(join(home, 'asked'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

it('while npm installs, all modules are fetched, and the first is compiled with the flags of its build', () => {
  expect(asked(`${home}:/usr/bin:/bin`)).toEqual([
    'etcd  -mod=readonly off: list -deps tool',
    'etcd 400 -mod=readonly off: list -deps -export -trimpath tool',
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
