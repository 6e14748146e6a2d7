import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { compilerMemory } from '../../../tools/resolver/compiler-memory.ts';
import { PACKAGE_NAMES } from '../../../tools/resolver/debian-package.ts';
import { howFar } from '../../../tools/resolver/go-build.ts';
import { pinnedServer, SERVER_NAMES } from '../../../tools/resolver/pinned-servers.ts';
import { elapsed } from '../../../tools/resolver/progress.ts';
import { BareMachine, buildsScript } from './bare-machine.ts';

/** Milliseconds for child processes on a busy machine. */
const PATIENT = { timeout: 30_000, interval: 20 };
// Several of them one after the other, and one runs the real Go.
vi.setConfig({ testTimeout: 120_000 });
const GIBIBYTE = 1024 ** 3;
const ETCD = pinnedServer('etcd');
const ETCD_CACHE = join('cache', 'headroom', ETCD.cacheKey);
const PRODUCE = buildsScript(`echo "etcd Version: ${ETCD.version}"`);

let machine: BareMachine;
beforeEach(() => {
  machine = new BareMachine();
});
afterEach(() => machine.remove());

describe('the resolver of servers', () => {
  it('every server is pinned to an exact version by a go.mod and a go.sum', () => {
    expect(SERVER_NAMES).toContain('kube-scheduler');
    for (const name of SERVER_NAMES) {
      expect(pinnedServer(name).version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it('a Kubernetes binary is stamped with its version, without which it calls itself v0.0.0', () => {
    const { version, buildArguments } = pinnedServer('kube-apiserver');
    expect(buildArguments.at(-1)).toContain(`k8s.io/component-base/version.gitVersion=v${version}`);
  });

  it('a server on PATH is used when its version fits at major.minor', async () => {
    writeFileSync(
      join(machine.bin, 'etcd'),
      `#!/bin/sh\necho "etcd Version: ${ETCD.version.replace(/\d+$/, '99')}"\n`,
      {
        mode: 0o755,
      },
    );
    const { code, stdout } = await machine.resolve(['etcd']).answer;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(machine.bin, 'etcd')}\n` });
  });

  it('a server of another minor version on PATH is passed over, and the pinned one built', async () => {
    writeFileSync(join(machine.bin, 'etcd'), '#!/bin/sh\necho "etcd Version: 2.3.8"\n', { mode: 0o755 });
    machine.installGo(PRODUCE);
    const { code, stdout } = await machine.resolve(['etcd']).answer;
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(machine.home, ETCD_CACHE, 'etcd')}\n` });
  });

  it('a server is built once and then taken from the cache, even without Go', async () => {
    machine.installGo(PRODUCE);
    const first = await machine.resolve(['etcd']).answer;
    rmSync(join(machine.bin, 'go'));
    const second = await machine.resolve(['etcd']).answer;
    expect(second).toEqual({ code: 0, stdout: first.stdout, stderr: '' });
    expect(machine.builds()).toBe(1);
  });

  it('the first build says how long it takes and where its result is kept', async () => {
    machine.installGo(PRODUCE);
    const { stderr } = await machine.resolve(['etcd']).answer;
    expect(stderr).toMatch(/^Building etcd with Go, once: up to about 1 min on \d+ cores .*\/cache\/headroom\.\n/);
    expect(stderr).toMatch(/^built etcd \S+ \(\d+:\d\d\)$/m);
  });

  it('Go compiles without collecting garbage, below a limit that fits the memory of the machine', async () => {
    machine.installGo(`${PRODUCE}\necho "$GOGC $GOMEMLIMIT" > '${join(machine.home, 'variables')}'`);
    await machine.resolve(['etcd'], { GOGC: '50' }).answer;
    expect(readFileSync(join(machine.home, 'variables'), 'utf8')).toBe('50 \n');
    expect(compilerMemory({}, 24 * GIBIBYTE, 2)).toEqual({ GOGC: 'off', GOMEMLIMIT: '3072MiB' });
    expect(compilerMemory({}, 7.5 * GIBIBYTE, 2)).toEqual({ GOGC: 'off', GOMEMLIMIT: '2560MiB' });
    expect(compilerMemory({}, 16 * GIBIBYTE, 8)).toEqual({});
    expect(compilerMemory({ GOMEMLIMIT: '1GiB' }, 24 * GIBIBYTE, 2)).toEqual({});
  });

  it.each([
    [19, 100, '19 of 100 packages compiled'],
    [20, 100, '20 of 100 packages compiled, about 4 min left'],
    [90, 100, '90 of 100 packages compiled, less than a minute left'],
    [90, null, '90 packages compiled'],
  ])('a build of %d of %s packages in a minute says how long it still takes', (compiled, total, says) => {
    expect(howFar(compiled, total, 60_000)).toBe(says);
  });

  it('two that ask at the same time build once, and both get the binary', async () => {
    machine.installGo(`while [ ! -e '${join(machine.home, 'go-on')}' ]; do sleep 0.02; done\n${PRODUCE}`);
    const first = machine.resolve(['etcd']);
    await vi.waitUntil(() => machine.builds() === 1, PATIENT);
    const second = machine.resolve(['etcd']);
    await vi.waitUntil(() => second.stderr().includes('another process does, waiting for it'), PATIENT);
    writeFileSync(join(machine.home, 'go-on'), '');
    const answers = await Promise.all([first.answer, second.answer]);
    expect(answers.map(({ code, stdout }) => ({ code, stdout }))).toEqual([
      { code: 0, stdout: `${join(machine.home, ETCD_CACHE, 'etcd')}\n` },
      { code: 0, stdout: `${join(machine.home, ETCD_CACHE, 'etcd')}\n` },
    ]);
    expect(machine.builds()).toBe(1);
  });

  it('when a builder is killed half-way, one that waits builds afresh and nothing half-built is used or left', async () => {
    const goPid = join(machine.home, 'go.pid');
    machine.installGo(
      `echo half > "$out"; chmod +x "$out"; echo $$ > '${goPid}.new'; mv '${goPid}.new' '${goPid}'; exec sleep 600`,
    );
    const killed = machine.resolve(['etcd']);
    await vi.waitUntil(() => existsSync(goPid), PATIENT);
    machine.installGo(PRODUCE);
    const waiting = machine.resolve(['etcd']);
    await vi.waitUntil(() => waiting.stderr().includes('another process does, waiting for it'), PATIENT);
    killed.child.kill('SIGKILL');
    process.kill(Number(readFileSync(goPid, 'utf8')), 'SIGKILL');
    const { code, stdout } = await waiting.answer;
    expect(code).toBe(0);
    expect(execFileSync(stdout.trim(), { encoding: 'utf8' })).toBe(`etcd Version: ${ETCD.version}\n`);
    expect(readdirSync(join(machine.home, ETCD_CACHE)).sort()).toEqual(['etcd', 'lock']);
  });

  it('without Go it says in one sentence what to install', async () => {
    expect(await machine.resolve(['etcd']).answer).toEqual({
      code: 69,
      stdout: '',
      stderr: `etcd ${ETCD.version} has to be built, but there is no Go on PATH: install Go ${ETCD.goVersion} or newer, or put etcd ${ETCD.version} on PATH\n`,
    });
  });

  it('a Go that is too old is named with the version that is needed', async () => {
    machine.installGo(PRODUCE, 'go1.19.8');
    const { code, stderr } = await machine.resolve(['etcd']).answer;
    expect({ code, stderr }).toEqual({
      code: 69,
      stderr: `etcd ${ETCD.version} has to be built, but the Go on PATH is go1.19: install Go ${ETCD.goVersion} or newer, or put etcd ${ETCD.version} on PATH\n`,
    });
  });

  it('without a network it says that the modules could not be downloaded', async () => {
    // The real Go, an empty module cache, and a proxy address on which nothing listens.
    const { code, stderr } = await machine.resolve(['etcd'], {
      PATH: process.env['PATH'] ?? '',
      GOPROXY: 'http://127.0.0.1:1',
      GOMODCACHE: join(machine.home, 'modules'),
    }).answer;
    expect(code).toBe(69);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^etcd \S+ could not be built, because its Go modules could not be downloaded \(is the network up, and GOPROXY=http:\/\/127\.0\.0\.1:1 right\?\): .*connection refused/,
    );
  });

  it('a build that fails ends with what Go said last, and leaves nothing that looks built', async () => {
    machine.installGo('echo half > "$out"; echo "x.go:1:1: undefined: y" >&2; exit 1');
    const { code, stderr } = await machine.resolve(['etcd']).answer;
    expect(code).toBe(69);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(`etcd ${ETCD.version} could not be built: x.go:1:1: undefined: y`);
    expect(readdirSync(join(machine.home, ETCD_CACHE))).toEqual(['lock']);
  });

  it('an unknown name is answered with the names that there are', async () => {
    const { code, stderr } = await machine.resolve(['etdc']).answer;
    expect(code).toBe(64);
    expect(stderr).toBe(
      `no server is called etdc; there are ${[...SERVER_NAMES, ...PACKAGE_NAMES].join(', ')}; --pin stands by itself\n`,
    );
  });

  it('elapsed time reads as minutes and seconds', () => {
    expect([0, 9_999, 75_000, 600_000].map(elapsed)).toEqual(['0:00', '0:09', '1:15', '10:00']);
  });
});
