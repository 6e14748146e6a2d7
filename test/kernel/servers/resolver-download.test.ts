import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { type Checksums, pinnedChecksums } from '../../../tools/resolver/checksums.ts';
import { downloadServer, howMuch, type Place } from '../../../tools/resolver/download-server.ts';
import { isDownloadWanted } from '../../../tools/resolver/download-settings.ts';
import { type Environment, ServerUnavailable } from '../../../tools/resolver/go-build.ts';
import { pinChecksums } from '../../../tools/resolver/pin-checksums.ts';
import { pinnedServer, SERVER_NAMES, type ServerName } from '../../../tools/resolver/pinned-servers.ts';
import { DownloadFailed, ReleaseHosts } from '../../../tools/resolver/release-hosts.ts';
import { PLATFORMS, type ReleaseFile, releaseFile, THIS_PLATFORM } from '../../../tools/resolver/releases.ts';
import { type Answer, BareMachine, buildsScript } from './bare-machine.ts';
import { type ReleaseServer, sha256, startReleaseServer } from './release-server.ts';

// Child processes on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const ETCD = pinnedServer('etcd');
const SCHEDULER = pinnedServer('kube-scheduler');
/** What each says when it is asked for its version. */
const SAYS: Partial<Record<ServerName, string>> = {
  temporal: `temporal version ${pinnedServer('temporal').releaseVersion} (Server ${pinnedServer('temporal').version}, UI 2)`,
  etcd: `etcd Version: ${ETCD.version}`,
  'kube-scheduler': `Kubernetes v${SCHEDULER.version}`,
};
const BUILT_HERE = buildsScript(`echo "# built here"; echo "${SAYS.etcd}"`);

let machine: BareMachine;
let host: ReleaseServer;
beforeEach(async () => {
  machine = new BareMachine();
  host = await startReleaseServer();
});
afterEach(async () => {
  machine.remove();
  await host.stop();
});

function released(name: ServerName): ReleaseFile {
  const release = releaseFile(pinnedServer(name), { ...THIS_PLATFORM, os: 'linux' });
  if (release === undefined) throw new Error(`${name} has no release file`);
  return release;
}

/** An executable that says its version, as large as a download that can be cut. */
function executable(says: string): string {
  return `#!/bin/sh\necho "${says}"\nexit\n# ${randomBytes(300_000).toString('hex')}\n`;
}

/** Publishes a server as its project does, and returns the executable. */
function publish(name: ServerName, says = SAYS[name] ?? ''): string {
  const { url, checksumUrl, member } = released(name);
  const content = executable(says);
  let file: Uint8Array = Buffer.from(content);
  if (member !== undefined) {
    const folder = join(machine.home, `release-of-${name}`);
    mkdirSync(dirname(join(folder, member)), { recursive: true });
    writeFileSync(join(folder, member), content);
    writeFileSync(join(folder, 'LICENSE'), 'free');
    file = execFileSync('tar', ['-czf', '-', 'LICENSE', member], { cwd: folder, maxBuffer: 10_000_000 });
  }
  host.put(url, file);
  const others = `${'0'.repeat(64)}  another-file.tar.gz\n`;
  const list = `${others}${sha256(file)}  ${url.split('/').at(-1)}\n`;
  host.put(checksumUrl, checksumUrl.endsWith('.sha256') ? sha256(file) : list);
  return content;
}

async function download(name: ServerName, env: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return await machine.resolve([name], { DOWNLOAD: '1', DOWNLOAD_MIRROR: host.url, ...env }).answer;
}

function cached(name: ServerName): string {
  return join(machine.home, 'cache', 'headroom', pinnedServer(name).cacheKey, name);
}

/** Where a server is put by a download without the resolver around it. */
function placeOf(name: ServerName): Place {
  const folder = join(machine.home, `place-of-${name}`);
  return { binary: join(folder, name), unfinished: join(folder, 'unfinished') };
}

async function put(name: ServerName, env: Environment = {}, pinned?: Checksums): Promise<void> {
  const environment = { DOWNLOAD_MIRROR: host.url, ...env };
  await downloadServer(pinnedServer(name), placeOf(name), environment, () => {}, pinned);
}

/** What an earlier download left, and what the host said of it then. */
function leave(name: ServerName, content: string, etag: string): void {
  const { unfinished } = placeOf(name);
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, name), content);
  writeFileSync(join(unfinished, `${name}.validator`), etag);
}

/** Where the test's host has it. */
function mirrored(url: string): string {
  return url.replace('https:/', host.url);
}

/** The sentence that says why a server is built. */
function reason({ stderr }: Answer): string {
  return stderr.split('\n').find((line) => line.includes('is built, because')) ?? stderr;
}

/** How often its release file was asked for, and how. */
function requests(name: ServerName): readonly { readonly range: string | undefined; readonly sent: number }[] {
  const { url } = released(name);
  return host.asked
    .filter(({ path }) => path.endsWith(url.replace('https:/', '')))
    .map(({ range, sent }) => ({ range, sent }));
}

describe.skipIf(process.platform !== 'linux')('with DOWNLOAD=1', () => {
  it.each(['temporal', 'etcd', 'kube-scheduler'] as const)(
    '%s is its official release, and is built nowhere',
    async (name) => {
      const content = publish(name);
      const answer = await download(name);
      expect(answer).toMatchObject({ code: 0, stdout: `${cached(name)}\n` });
      expect(answer.stderr).toMatch(new RegExp(`^Downloading ${name}, once; what cannot be had is built\\..*\\n`));
      expect(answer.stderr).toMatch(new RegExp(`^downloaded ${name} \\S+ \\(0:\\d\\d\\)$`, 'm'));
      expect(readFileSync(cached(name), 'utf8')).toBe(content);
      expect(readdirSync(dirname(cached(name))).sort()).toEqual([name, 'lock'].sort());
    },
  );

  it('what was downloaded is used without DOWNLOAD, and no host is asked again', async () => {
    publish('etcd');
    await download('etcd');
    const before = host.asked.length;
    expect(await machine.resolve(['etcd']).answer).toEqual({ code: 0, stdout: `${cached('etcd')}\n`, stderr: '' });
    expect(host.asked).toHaveLength(before);
  });

  it('two that ask at the same time download it once', async () => {
    publish('etcd');
    const answers = await Promise.all([download('etcd'), download('etcd')]);
    expect(answers.map(({ code }) => code)).toEqual([0, 0]);
    expect(requests('etcd')).toHaveLength(1);
  });

  it('a file with another checksum than the published one is built, and nothing of it is left', async () => {
    publish('etcd');
    const { url, checksumUrl } = released('etcd');
    host.put(url, 'something else');
    machine.installGo(BUILT_HERE);
    const answer = await download('etcd');
    expect(answer.code).toBe(0);
    expect(reason(answer)).toContain(
      `etcd ${ETCD.version} is built, because it could not be downloaded: ${mirrored(url)} has the checksum ${sha256('something else')}, and ${mirrored(checksumUrl)} says `,
    );
    expect(readFileSync(cached('etcd'), 'utf8')).toContain('# built here');
    expect(readdirSync(dirname(cached('etcd'))).sort()).toEqual(['etcd', 'lock']);
  });

  it('a file that is published with another checksum than the pinned one is not even asked for', async () => {
    publish('etcd');
    const { url } = released('etcd');
    const pinned = { [url]: sha256('what was released once') };
    await expect(put('etcd', {}, pinned)).rejects.toThrow(
      `and this repository pins ${sha256('what was released once')}`,
    );
    expect(requests('etcd')).toEqual([]);
    expect(existsSync(placeOf('etcd').binary)).toBe(false);
  });

  it('a release of another version than the pinned one is not used', async () => {
    publish('etcd', 'etcd Version: 3.0.1');
    await expect(put('etcd')).rejects.toThrow(`is 3.0.1, and ${ETCD.version} is pinned`);
    expect(readdirSync(dirname(placeOf('etcd').binary))).toEqual([]);
  });

  it('an archive that is checked and cannot be unpacked is not used', async () => {
    publish('etcd');
    const { url, checksumUrl } = released('etcd');
    host.put(url, 'no archive');
    host.put(checksumUrl, `${sha256('no archive')}  ${url.split('/').at(-1)}\n`);
    await expect(put('etcd')).rejects.toThrow(/tar could not unpack \S+\/etcd from etcd-\S+: /);
  });

  it('a file that is cut again and again is continued where it was cut', async () => {
    const content = publish('kube-scheduler');
    host.treat(released('kube-scheduler').url, { cutAfter: 250_000 });
    await put('kube-scheduler');
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
    const starts = requests('kube-scheduler').map(({ range }) => Number(/\d+/.exec(range ?? '0')?.[0]));
    expect(starts.length).toBeGreaterThan(2);
    // What had come, but for what was still on its way through the client when the connection broke.
    for (const [at, start] of starts.entries()) expect(start).toBeGreaterThan(at * 150_000 - 1);
  });

  it('a file that a host has at another one is continued there', async () => {
    const content = publish('kube-scheduler');
    const elsewhere = host.url.replace('127.0.0.1', 'localhost');
    host.treat(released('kube-scheduler').url, { redirectTo: `${elsewhere}/files.example/blob?signature=1` });
    host.put('https://files.example/blob?signature=1', content);
    leave('kube-scheduler', content.slice(0, 1000), `"${sha256(content).slice(0, 16)}"`);
    await put('kube-scheduler');
    expect(host.asked.at(-1)).toEqual({
      path: '/files.example/blob?signature=1',
      range: 'bytes=1000-',
      sent: content.length - 1000,
    });
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
  });

  it('where a redirect leads to is named when it refuses, without what signs it', async () => {
    publish('kube-scheduler');
    const { url } = released('kube-scheduler');
    const elsewhere = host.url.replace('127.0.0.1', 'localhost');
    host.treat(url, { redirectTo: `${elsewhere.replace('//', '//me:SECRET@')}/files.example/blob?signature=1` });
    host.treat('https://files.example/blob?signature=1', { status: 403 });
    await expect(put('kube-scheduler')).rejects.toThrow(
      new DownloadFailed(`${mirrored(url)} (at ${elsewhere}) is answered with 403 Forbidden`),
    );
  });

  it('where a redirect leads to is given up when it is silent, and the host that led there is not', async () => {
    publish('etcd');
    publish('kube-scheduler');
    const elsewhere = host.url.replace('127.0.0.1', 'localhost');
    for (const name of ['etcd', 'kube-scheduler'] as const) {
      host.treat(released(name).url, { redirectTo: `${elsewhere}/files.example/${name}` });
      host.treat(`https://files.example/${name}`, { isSilent: true });
      const says = new DownloadFailed(`${elsewhere} did not answer for 1 s`);
      await expect(put(name, { DOWNLOAD_TIMEOUT: '1' })).rejects.toThrow(says);
    }
    expect(host.asked.filter(({ path }) => path.startsWith('/files.example'))).toHaveLength(1);
  });

  it('a redirect away from https is refused', async () => {
    publish('etcd');
    machine.installGo(BUILT_HERE);
    const now = Date.now();
    const authority = await issueAuthority(now);
    const { certificate: cert, key } = await issueServer('localhost', authority, now);
    const server = createTlsServer({ cert, key }, (incoming, outgoing) => {
      outgoing.writeHead(302, { location: `${host.url}${incoming.url}` }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const mirror = `https://localhost:${(server.address() as AddressInfo).port}`;
    const trusted = join(machine.home, 'authority.pem');
    writeFileSync(trusted, authority.certificate);
    const answer = await download('etcd', { DOWNLOAD_MIRROR: mirror, NODE_EXTRA_CA_CERTS: trusted });
    server.closeAllConnections();
    server.close();
    expect(reason(answer)).toContain(`/SHA256SUMS leads to ${host.url}, which is refused: it is not https`);
    expect(host.asked).toEqual([]);
  });

  it('where a host knows no ranges, the file comes from its beginning', async () => {
    const content = publish('kube-scheduler');
    const { url } = released('kube-scheduler');
    leave('kube-scheduler', content.slice(0, 1000), `"${sha256(content).slice(0, 16)}"`);
    host.treat(url, { ignoresRange: true });
    await put('kube-scheduler');
    expect(requests('kube-scheduler')).toEqual([{ range: 'bytes=1000-', sent: content.length }]);
  });

  it('what an interrupted download left is continued by the next one', async () => {
    const content = publish('kube-scheduler');
    const { url } = released('kube-scheduler');
    host.treat(url, { cutAfter: 250_000, isSilent: true });
    const first = machine.resolve(['kube-scheduler'], { DOWNLOAD: '1', DOWNLOAD_MIRROR: host.url });
    const part = join(dirname(cached('kube-scheduler')), 'unfinished', 'kube-scheduler');
    await vi.waitUntil(() => existsSync(part) && statSync(part).size === 250_000, { timeout: 30_000, interval: 20 });
    expect(statSync(part).mode & 0o111).toBe(0);
    first.child.kill('SIGKILL');
    await first.answer;
    host.treat(url, {});
    expect(await download('kube-scheduler')).toMatchObject({ code: 0 });
    expect(requests('kube-scheduler').at(-1)).toEqual({ range: 'bytes=250000-', sent: content.length - 250_000 });
    expect(readFileSync(cached('kube-scheduler'), 'utf8')).toBe(content);
  });

  it('what was left of another file is not continued', async () => {
    const content = publish('kube-scheduler');
    leave('kube-scheduler', 'x'.repeat(1000), '"of another file"');
    await put('kube-scheduler');
    expect(requests('kube-scheduler')).toEqual([{ range: 'bytes=1000-', sent: content.length }]);
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
  });

  it('what was left and is all there is used, and not asked for', async () => {
    const content = publish('kube-scheduler');
    leave('kube-scheduler', content, `"${sha256(content).slice(0, 16)}"`);
    await put('kube-scheduler');
    expect(requests('kube-scheduler')).toEqual([]);
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
  });

  it.each([
    ['as long as the file', (length: number) => [`bytes=${length}-`, undefined]],
    ['shorter', () => ['bytes=1000-', undefined]],
  ])('what was left and is wrong, %s, is asked for anew', async (length, ranges) => {
    const content = publish('kube-scheduler');
    const left = 'x'.repeat(length === 'shorter' ? 1000 : content.length);
    leave('kube-scheduler', left, `"${sha256(content).slice(0, 16)}"`);
    await put('kube-scheduler');
    expect(requests('kube-scheduler').map(({ range }) => range)).toEqual(ranges(content.length));
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
  });

  it('a file that is wrong from its beginning is asked for once', async () => {
    publish('kube-scheduler');
    host.put(released('kube-scheduler').url, 'something else');
    leave('kube-scheduler', 'x'.repeat(10), `"${sha256('something else').slice(0, 16)}"`);
    await expect(put('kube-scheduler')).rejects.toThrow(`has the checksum ${sha256('something else')}`);
    expect(requests('kube-scheduler').map(({ range }) => range)).toEqual(['bytes=10-', undefined]);
    await expect(put('kube-scheduler')).rejects.toThrow(`has the checksum ${sha256('something else')}`);
    expect(requests('kube-scheduler')).toHaveLength(3);
  });

  it.each([
    ['url', { isReset: true }],
    ['url', { status: 503 }],
    ['checksumUrl', { isReset: true }],
    ['checksumUrl', { status: 429 }],
    ['checksumUrl', { cutAfter: 10 }],
  ] as const)('one hiccup of a host, for its %s %j, is no reason for a build', async (which, treatment) => {
    const content = publish('kube-scheduler');
    host.treat(released('kube-scheduler')[which], { ...treatment, times: 1 });
    await put('kube-scheduler');
    expect(readFileSync(placeOf('kube-scheduler').binary, 'utf8')).toBe(content);
  });

  it('a host that goes on having hiccups is asked twice', async () => {
    publish('kube-scheduler');
    host.treat(released('kube-scheduler').url, { status: 503 });
    await expect(put('kube-scheduler')).rejects.toThrow('is answered with 503 Service Unavailable');
    expect(requests('kube-scheduler')).toHaveLength(2);
  });

  it('a file without an end is given up, and nothing of it stays', async () => {
    const { url } = released('kube-scheduler');
    const file = join(machine.home, 'part');
    for (const isEndless of [true, false]) {
      host.put(url, 'x'.repeat(100_001));
      host.treat(url, { isEndless });
      const hosts = new ReleaseHosts({ DOWNLOAD_MIRROR: host.url }, 100_000);
      await expect(hosts.file(url, file, () => {})).rejects.toThrow(`${mirrored(url)} is longer than 100000 bytes`);
      await hosts.close();
      expect(existsSync(file)).toBe(false);
    }
  });

  it('a disk without space is named, and the host is not', async () => {
    publish('kube-scheduler');
    const file = join(machine.home, 'part');
    symlinkSync('/dev/full', file);
    const hosts = new ReleaseHosts({ DOWNLOAD_MIRROR: host.url });
    await expect(hosts.file(released('kube-scheduler').url, file, () => {})).rejects.toThrow(
      new DownloadFailed(`${file} cannot be written: ENOSPC: no space left on device, write`),
    );
    await hosts.close();
    expect(readdirSync(machine.home)).not.toContain('part');
  });

  it('a file that is not there is built', async () => {
    publish('etcd');
    const { url } = released('etcd');
    host.treat(url, { status: 404 });
    machine.installGo(BUILT_HERE);
    const answer = await download('etcd');
    expect(answer).toMatchObject({ code: 0, stdout: `${cached('etcd')}\n` });
    expect(reason(answer)).toContain(`${mirrored(url)} is answered with 404 Not Found`);
    expect(answer.stderr).toMatch(/^built etcd \S+ \(0:\d\d\)$/m);
  });

  it('a release without a checksum is not asked for its file', async () => {
    publish('etcd');
    const { checksumUrl } = released('etcd');
    host.put(checksumUrl, `${'0'.repeat(64)}  another-file.tar.gz\n`);
    await expect(put('etcd')).rejects.toThrow(`${mirrored(checksumUrl)} has no SHA-256 of etcd-`);
    expect(requests('etcd')).toEqual([]);
  });

  it('a host that does not answer is given up, and asked for no other file', async () => {
    host.treat(released('kube-scheduler').checksumUrl, { isSilent: true });
    host.treat(released('kube-apiserver').checksumUrl, { isSilent: true });
    machine.installGo(buildsScript('echo built'));
    const env = { DOWNLOAD: '1', DOWNLOAD_MIRROR: host.url, DOWNLOAD_TIMEOUT: '1' };
    const { code, stderr } = await machine.resolve(['kube-scheduler', 'kube-apiserver'], env).answer;
    expect(code).toBe(0);
    expect(stderr.split(`could not be downloaded: ${host.url} did not answer for 1 s`)).toHaveLength(3);
    expect(host.asked).toHaveLength(1);
    expect(machine.builds()).toBe(2);
  });

  it('a host that nobody listens on is named, and without Go it says what to install', async () => {
    await host.stop();
    const answer = await download('etcd');
    expect(answer.code).toBe(69);
    expect(reason(answer)).toMatch(/SHA256SUMS: .*ECONNREFUSED/);
    expect(answer.stderr).toContain('but there is no Go on PATH: install Go');
  });

  it('a server without official release files is built', async () => {
    machine.installGo(buildsScript('echo kwok version v0.8.0'));
    const answer = await download('kwok');
    expect(answer.code).toBe(0);
    expect(answer.stderr).toMatch(/^Building kwok with Go, once/);
    expect(reason(answer)).toContain(`no release file of it for linux/${THIS_PLATFORM.arch} is known`);
    expect(host.asked).toEqual([]);
  });

  it('the proxy of the environment is used, but not for the hosts of NO_PROXY', async () => {
    publish('etcd');
    const proxy = await startProxy();
    // A name that only the proxy can resolve.
    const mirror = `files.invalid:${new URL(host.url).port}`;
    const env = { DOWNLOAD_MIRROR: `http://${mirror}`, HTTP_PROXY: proxy.url };
    await put('etcd', env);
    expect(proxy.asked[0]).toMatch(new RegExp(`^GET http://${mirror}/github\\.com/etcd-io/.*/SHA256SUMS$`));
    // The mirror speaks no TLS, but the proxy was asked for a tunnel to it.
    const overTls = { DOWNLOAD_MIRROR: `https://${mirror}`, HTTPS_PROXY: proxy.url };
    await expect(put('temporal', overTls)).rejects.toThrow(DownloadFailed);
    expect(proxy.asked.at(-1)).toBe(`CONNECT ${mirror}`);
    await expect(put('temporal', { ...env, NO_PROXY: 'files.invalid' })).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    await proxy.stop();
  });

  it('a proxy that cannot be used is named with what would be right', async () => {
    await expect(put('etcd', { HTTP_PROXY: 'proxy:3128' })).rejects.toThrow(
      'HTTP_PROXY is "proxy:3128", and has to be a URL such as http://proxy.example:3128',
    );
    await expect(put('etcd', { HTTPS_PROXY: 'socks5://me:SECRET@proxy:3128' })).rejects.toThrow(
      new DownloadFailed('HTTPS_PROXY is "…@proxy:3128", and has to be a URL such as http://proxy.example:3128'),
    );
  });
});

it('without DOWNLOAD no host is asked', async () => {
  publish('etcd');
  machine.installGo(BUILT_HERE);
  const { code, stderr } = await machine.resolve(['etcd'], { DOWNLOAD_MIRROR: host.url }).answer;
  expect({ code, asked: host.asked }).toEqual({ code: 0, asked: [] });
  expect(stderr).not.toMatch(/download/i);
});

it.each([
  [{ DOWNLOAD: 'yes' }, 'DOWNLOAD is "yes": 1 takes the official release files, 0 or nothing builds the servers'],
  [
    { DOWNLOAD_MIRROR: 'mirror' },
    'DOWNLOAD_MIRROR is "mirror": it has to be a URL, such as https://mirror.example/files',
  ],
  [
    { DOWNLOAD_MIRROR: 'me:SECRET@mirror' },
    'DOWNLOAD_MIRROR is "…@mirror": it has to be a URL, such as https://mirror.example/files',
  ],
  [
    { DOWNLOAD_MIRROR: 'https://me:SECRET@mirror' },
    'DOWNLOAD_MIRROR has a user or a password, which are not sent: it has to be a URL without, such as https://mirror.example/files',
  ],
  [{ DOWNLOAD_TIMEOUT: '1m' }, 'DOWNLOAD_TIMEOUT is "1m": it has to be a whole number of seconds from 1 to 3600'],
])('%j is answered with what would be right', async (environment, says) => {
  const asked = async () => {
    isDownloadWanted(environment);
    await put('etcd', environment);
  };
  await expect(asked()).rejects.toThrow(new ServerUnavailable(says));
});

describe('the files of releases', () => {
  it('have the versions that go.mod pins', () => {
    const linux = { os: 'linux', arch: 'arm64' };
    expect(pinnedServer('temporal').releaseVersion).not.toBe(pinnedServer('temporal').version);
    for (const name of ['temporal', 'etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const) {
      const server = pinnedServer(name);
      expect(releaseFile(server, linux)?.url).toContain(`/v${server.releaseVersion}/`);
      expect(releaseFile(server, linux)?.url).toContain('arm64');
    }
  });

  it('of Kubernetes are there for Linux only, and for no processor that nobody publishes', () => {
    expect(releaseFile(SCHEDULER, { os: 'darwin', arch: 'arm64' })).toBeUndefined();
    expect(releaseFile(ETCD, { os: 'darwin', arch: 'arm64' })?.url).toMatch(/darwin-arm64\.zip$/);
    expect(releaseFile(ETCD, { os: 'linux', arch: 'riscv64' })).toBeUndefined();
  });
});

describe('the pinned checksums', () => {
  const current = SERVER_NAMES.flatMap((name) =>
    PLATFORMS.flatMap((platform) => releaseFile(pinnedServer(name), platform) ?? []),
  );

  it('are those of the pinned versions, where this repository has any', async () => {
    const urls = current.map(({ url }) => url);
    expect(Object.keys(await pinnedChecksums()).filter((url) => !urls.includes(url))).toEqual([]);
  });

  /** Publishes the checksums of all of them. */
  function publishAll(): void {
    for (const { url, checksumUrl } of current) {
      const others = current.filter((other) => other.checksumUrl === checksumUrl);
      const lines = others.map((other) => `${sha256(other.url)}  ${other.url.split('/').at(-1)}\n`);
      host.put(checksumUrl, others.length === 1 ? `${sha256(url)}\n` : lines.join(''));
    }
  }

  /** A list with these checksums. */
  function listOf(pinned: Checksums): string {
    const file = join(machine.home, 'pinned.json');
    writeFileSync(file, JSON.stringify(pinned));
    return file;
  }

  async function pin(file: string): Promise<number> {
    return await pinChecksums({}, file, () => new ReleaseHosts({ DOWNLOAD_MIRROR: host.url }));
  }

  it('are filled with what every release publishes, for every platform', async () => {
    publishAll();
    const file = listOf({});
    expect(await pin(file)).toBe(current.length);
    expect(await pin(file)).toBe(current.length);
    expect(await pinnedChecksums(file)).toEqual(Object.fromEntries(current.map(({ url }) => [url, sha256(url)])));
  });

  it('stay as they are where one cannot be had', async () => {
    const file = listOf({});
    await expect(pin(file)).rejects.toThrow(
      /pinned\.json is as it was, because a checksum could not be had: .* is answered with 404 Not Found/,
    );
    expect(readFileSync(file, 'utf8')).toBe('{}');
  });

  it('stay as they are where another one is published for the same file', async () => {
    publishAll();
    const url = current[0]?.url ?? '';
    const file = listOf({ [url]: sha256('what was released once') });
    await expect(pin(file)).rejects.toThrow(
      new ServerUnavailable(
        `${url} is pinned with ${sha256('what was released once')}, and ${sha256(url)} is published now: if this is right, remove its line from ${file}`,
      ),
    );
    expect(await pinnedChecksums(file)).toEqual({ [url]: sha256('what was released once') });
  });

  it('are written by a command that says in a sentence what it could not have', async () => {
    await host.stop();
    // Every real host is behind a proxy that is not there.
    const { code, stderr } = await machine.resolve(['--pin'], { HTTPS_PROXY: host.url }).answer;
    expect(code).toBe(69);
    expect(stderr).toMatch(/^\S+\/tools\/release-checksums\.json is as it was, because .* ECONNREFUSED .*\n$/);
  });

  it('are not those of a mirror', async () => {
    publishAll();
    const answer = await machine.resolve(['--pin'], { DOWNLOAD_MIRROR: host.url }).answer;
    const stderr = '--pin asks the hosts of the releases themselves: unset DOWNLOAD_MIRROR\n';
    expect(answer).toEqual({ code: 69, stdout: '', stderr });
    expect(host.asked).toEqual([]);
  });

  it('that cannot be read are named with the command that writes them', async () => {
    const file = listOf({ 'https://dl.k8s.io/x': 'abc' });
    await expect(pinnedChecksums(file)).rejects.toThrow(
      /pinned\.json cannot be used, put \{\} into it and `npm run servers -- --pin` fills it: .*is no SHA-256 in hexadecimal/s,
    );
  });
});

it.each([
  [500_000, undefined, 500_000, '0.5 MB'],
  [500_000, 60_000_000, 500_000, '0.5 of 60 MB'],
  [20_000_000, 60_000_000, 10_000_000, '20 of 60 MB, about 40 s left'],
  [2_000_000, 60_000_000, 2_000_000, '2.0 of 60 MB, about 5 min left'],
  [60_000_000, 60_000_000, 60_000_000, '60 of 60 MB'],
])('a download of %d of %s bytes, of which %d came in ten seconds, says how far it is', (have, total, came, says) => {
  expect(howMuch(have, total, came, 10_000)).toBe(says);
});

/** A proxy for which every name is this machine's. */
async function startProxy() {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { port, pathname } = new URL(incoming.url ?? '');
    const forwarded = request({ port, path: pathname, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.end();
  });
  server.on('connect', (incoming, socket) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const target = connect(Number(incoming.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
