/** The image as `make image` builds it: what is in it, that it is the same wherever it is built, and that it runs. */
import { execFile } from 'node:child_process';
import { chown, cp, mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { buildImage } from '../../tools/image/build-image.ts';
import { readNativeFile } from '../../tools/image/elf.ts';
import { NODE_VERSION } from '../../tools/image/pins.ts';
import { CONTAINER, type Facts, labelsOf } from '../../tools/image/settings.ts';
import { entriesBelow, type Member } from '../../tools/image/tar.ts';
import { packagesOf } from '../../tools/programs/licenses.ts';
import { compilingContainerOf } from '../deploy/pods.ts';
import { rendered } from '../deploy/rendered.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import { startProcess, type SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { logFolder } from '../kernel/stack/log-folder.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota } from '../kernel/stack/watched-quota.ts';
import { configOf, labelsOf as labelsOfDockerfile, readDockerfile } from './dockerfile.ts';
import { type PlatformImage, type ReadLayout, readLayout } from './layout.ts';
import { inRoot, unpackRoot, whyNoRoot } from './root.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
/** Milliseconds. An image is built in twenty seconds on a quiet machine, and all tests here build three times. */
const BUILD_MS = 600_000;

const FACTS: Facts = {
  version: packageJson.version,
  revision: '1f0c3f5f3c0e4d1b9a7e6d5c4b3a29180706f5e4',
  created: new Date('2026-11-28T00:00:00Z'),
  source: 'https://git.example.com/platform/headroom',
};

/** Where the chart has Node keep what it has compiled. */
const COMPILED = '/var/cache/headroom';

/** As the machine's number in ELF. */
const MACHINES = { amd64: 62, arm64: 183 } as const;

let folder: string;
let layout: ReadLayout;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-image-'));
  await buildImage(join(folder, 'image'), FACTS);
  layout = await readLayout(join(folder, 'image'));
}, BUILD_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function imageOf(architecture: string): PlatformImage {
  const image = layout.images.find((one) => one.architecture === architecture);
  if (image === undefined) throw new Error(`there is no image for ${architecture}`);
  return image;
}

function textOf({ members }: PlatformImage, path: string): string {
  return members.get(path)?.content.toString() ?? '';
}

it('is an OCI layout of one image for two platforms, with labels, and no blob in it is for nothing', async () => {
  expect(layout.images.map(({ architecture }) => architecture)).toEqual(['amd64', 'arm64']);
  expect(layout.refName).toBe(packageJson.version);
  const blobs = await readdir(join(folder, 'image/blobs/sha256'));
  expect(new Set(blobs.map((name) => `sha256:${name}`))).toEqual(layout.digests);
  for (const { config } of layout.images) {
    expect(config).toEqual({ ...CONTAINER, Labels: labelsOf(FACTS) });
    expect(config.Labels['org.opencontainers.image.created']).toBe('2026-11-28T00:00:00Z');
  }
});

describe.each(['amd64', 'arm64'] as const)('for %s', (architecture) => {
  const isFile = ({ header }: Member): boolean => header.type === 'file';

  it('everything is of root, nobody else may write, and nothing gives more rights', () => {
    for (const [path, { header }] of imageOf(architecture).members) {
      expect([path, header.uid, header.gid, header.uname, header.gname]).toEqual([path, 0, 0, '', '']);
      expect([path, header.mtime]).toEqual([path, FACTS.created]);
      if (header.type !== 'symlink') expect([path, header.mode & 0o7022]).toEqual([path, 0]);
    }
  });

  it('there is Node, the command line and nothing else to start: no shell, no package manager', () => {
    const executables = [...imageOf(architecture).members].filter(
      ([path, member]) => isFile(member) && (member.header.mode & 0o111) !== 0 && !/\.so\.\d+$/.test(path),
    );
    const paths = executables.map(([path]) => path);
    expect(paths.toSorted()).toEqual(['app/headroom.js', 'usr/local/bin/headroom', 'usr/local/bin/node']);
    const folders = [...imageOf(architecture).members.keys()].filter((path) => /(?:^|\/)s?bin(?:\/|$)/.test(path));
    expect(folders.toSorted()).toEqual(['usr/local/bin', 'usr/local/bin/headroom', 'usr/local/bin/node']);
  });

  it('every library that a native file needs is there, and every one that is there is needed', () => {
    const { members } = imageOf(architecture);
    const natives = [...members].flatMap(([path, member]) => {
      const native = isFile(member) ? readNativeFile(member.content) : null;
      return native === null ? [] : [{ path, ...native }];
    });
    expect(natives.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['usr/local/bin/node', 'app/temporal-core-bridge.node']),
    );
    for (const { path, machine } of natives) expect([path, machine]).toEqual([path, MACHINES[architecture]]);
    const needed = new Set(natives.flatMap((native) => native.needed));
    for (const { interpreter } of natives) if (interpreter !== null) needed.add(basename(interpreter));
    const libraries = [...members.keys()].filter((path) => /(?:^|\/)lib[^/]*\/.*\.so\.\d+$/.test(path));
    expect(new Set(libraries.map((path) => basename(path)))).toEqual(needed);
    const isTarget = (path: string): boolean =>
      [...members].some(([from, { header }]) => join(dirname(from), header.linkname ?? '/') === path);
    const others = natives.filter(({ path }) => path.includes('.so') && !libraries.includes(path));
    for (const { path } of others) expect([path, isTarget(path)]).toEqual([path, true]);
  });

  it('every link leads to something', () => {
    const { members } = imageOf(architecture);
    for (const [path, { header }] of members) {
      const target = header.linkname;
      if (header.type !== 'symlink' || target === null) continue;
      const leads = target.startsWith('/') ? target.slice(1) : join(dirname(path), target);
      expect([path, members.has(leads)]).toEqual([path, true]);
    }
  });

  it('has the certificates, the zones, the user and the licenses', () => {
    const image = imageOf(architecture);
    expect(textOf(image, 'etc/ssl/certs/ca-certificates.crt').match(/BEGIN CERTIFICATE/g)?.length).toBeGreaterThan(100);
    expect(image.members.get('usr/share/zoneinfo/Europe/Berlin')?.content.toString('latin1', 0, 4)).toBe('TZif');
    expect(textOf(image, 'etc/passwd')).toContain('headroom:x:1000:1000:');
    for (const path of ['app/LICENSE', 'app/THIRD-PARTY-LICENSES.txt', 'usr/share/doc/node/LICENSE']) {
      expect(textOf(image, path).length).toBeGreaterThan(1000);
    }
  });

  it('the bill of materials names the packages that are in it, and no others', async () => {
    const image = imageOf(architecture);
    const bill = JSON.parse(await readFile(join(folder, 'image.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly purl: string; readonly name: string; readonly version: string }[];
    };
    const named = (kind: RegExp): readonly string[] =>
      bill.components
        .filter(({ purl }) => kind.test(purl))
        .map(({ name, version }) => `${name} ${version}`)
        .toSorted();
    const descriptions = [...image.members].filter(([path]) => /^var\/lib\/dpkg\/status\.d\/./.test(path));
    const debian = descriptions.map(
      ([path, { content }]) => `${basename(path)} ${/^Version: (.*)$/m.exec(content.toString())?.[1]}`,
    );
    expect(named(new RegExp(`^pkg:deb/.*arch=${architecture}`))).toEqual(debian.toSorted());
    // A package that has a license in the image has code there, and the other way round.
    const licensed = packagesOf(textOf(image, 'app/THIRD-PARTY-LICENSES.txt'));
    expect(named(/^pkg:npm\//)).toEqual(licensed.map(({ name, version }) => `${name} ${version}`).toSorted());
    expect(named(/^pkg:generic\//)).toEqual([`node ${NODE_VERSION}`]);
    expect(bill.components.every(({ purl }) => /^pkg:(?:deb|npm|generic)\//.test(purl))).toBe(true);
  });
});

describe('what the Dockerfile makes', () => {
  /** A checkout of what it copies, and nothing else, in another folder. */
  let copy: string;

  beforeAll(async () => {
    await mkdir(join(ROOT, '.headroom'), { recursive: true });
    copy = await mkdtemp(join(ROOT, '.headroom/copy-'));
    for (const path of (await readDockerfile()).copied) {
      await cp(join(ROOT, path), join(copy, path), { recursive: true });
    }
    // In place of `npm install`, which takes a minute.
    await run('cp', ['--archive', '--link', join(ROOT, 'node_modules'), join(copy, 'node_modules')]);
  }, BUILD_MS);
  afterAll(async () => {
    await rm(copy, { recursive: true, force: true });
  });

  it('is built again from that, byte for byte, in another place, time zone and umask', {
    timeout: BUILD_MS,
  }, async () => {
    const env = {
      ...process.env,
      TZ: 'Pacific/Chatham',
      LC_ALL: 'C',
      SOURCE_DATE_EPOCH: String(FACTS.created.getTime() / 1000),
      REVISION: FACTS.revision,
      SOURCE_URL: FACTS.source,
    };
    await run('sh', ['-c', 'umask 077 && npm run --silent image'], { cwd: copy, env });
    const again = join(copy, '.headroom/image');
    expect(await readFile(join(again, 'index.json'), 'utf8')).toBe(
      await readFile(join(folder, 'image/index.json'), 'utf8'),
    );
    expect((await readLayout(again)).digests).toEqual(layout.digests);
    expect(await readFile(`${again}.cdx.json`, 'utf8')).toBe(await readFile(join(folder, 'image.cdx.json'), 'utf8'));
  });

  it('has the same files, and starts in the same way', { timeout: BUILD_MS }, async () => {
    const { copied, sent, runs, final, base } = await readDockerfile();
    expect(sent.toSorted()).toEqual(copied.toSorted());
    const [install, write, ...more] = runs;
    expect([install, more]).toEqual(['npm install --no-save --no-audit --no-fund', []]);
    expect(base).toMatch(/^BASE_DIGEST=sha256:[0-9a-f]{64}$/);
    expect(final.slice(0, 2).map(({ text }) => text)).toEqual(['scratch', '--from=build /image/ /']);
    const command = (write ?? '').replace('/image ', `${copy}/root `).replace('$TARGETARCH', 'arm64');
    await run('sh', ['-c', command], { cwd: copy });
    const written = await entriesBelow(join(copy, 'root'));
    const members = [...imageOf('arm64').members].filter(([, { header }]) => header.type === 'file');
    expect(written.map(({ path }) => path).toSorted()).toEqual(members.map(([path]) => path).toSorted());
    for (const entry of written) {
      if (entry.kind !== 'file') throw new Error(`${entry.path} is no file`);
      const member = imageOf('arm64').members.get(entry.path);
      expect([entry.path, entry.mode, member?.content.equals(entry.content)]).toEqual([
        entry.path,
        member?.header.mode,
        true,
      ]);
    }
    const found = await readdir(join(copy, 'root'), { recursive: true, withFileTypes: true });
    const links = found.filter((entry) => entry.isSymbolicLink()).map((entry) => join(entry.parentPath, entry.name));
    const leading = await Promise.all(
      links.map(async (path) => [relative(join(copy, 'root'), path), await readlink(path)]),
    );
    const symlinks = [...imageOf('arm64').members].filter(([, { header }]) => header.type === 'symlink');
    expect(Object.fromEntries(leading)).toEqual(
      Object.fromEntries(symlinks.map(([path, { header }]) => [path, header.linkname])),
    );
    expect(configOf(final)).toEqual(CONTAINER);
    const variables = { revision: '$REVISION', created: '$CREATED', source: '$SOURCE_URL' };
    const { Labels } = imageOf('arm64').config;
    const expected = Object.entries(Labels).map(([key, value]) => {
      const name = key.replace('org.opencontainers.image.', '');
      return [key, name in variables ? variables[name as keyof typeof variables] : value];
    });
    expect(labelsOfDockerfile(final)).toEqual(Object.fromEntries(expected));
  });
});

describe('run as user 1000 from the image, read-only', () => {
  const architecture = process.arch === 'x64' ? 'amd64' : 'arm64';
  const processes: SupervisedProcess[] = [];
  let stack: Stack | undefined;
  afterAll(async () => {
    await Promise.all(processes.map(async (started) => await started.stop()));
    await stack?.stop();
  });

  it('worker and starter become ready, and play an episode', { timeout: BUILD_MS }, async (context) => {
    const reason = await whyNoRoot();
    context.skip(reason !== undefined, reason);
    const image = imageOf(architecture);
    stack = await startStack({
      files: { 'README.md': '' },
      workers: 0,
      starters: 0,
      forge: { checks: 'pass' },
      env: quickAutoMerge,
    });
    const root = join(folder, 'root');
    const mounted: Record<string, string> = { 'etc/hosts': '127.0.0.1 localhost\n' };
    for (const name of ['worker', 'starter'] as const) {
      mounted[`etc/headroom/${name}.kubeconfig`] = await readFile(stack.env[name]['KUBECONFIG'] ?? '', 'utf8');
    }
    mounted[join(COMPILED, '.mounted')] = '';
    await unpackRoot(image, root, mounted);

    for (const name of ['worker', 'starter'] as const) {
      const health = `127.0.0.1:${await freePort()}`;
      const volume = { folder: await compiledAsInAPod(name, image, root), path: COMPILED, readOnly: true };
      const env = {
        ...stack.env[name],
        NODE_COMPILE_CACHE: COMPILED,
        NODE_DEBUG_NATIVE: 'COMPILE_CACHE',
        KUBECONFIG: `/etc/headroom/${name}.kubeconfig`,
        HEALTH_ADDRESS: health,
        METRICS_ADDRESS: `127.0.0.1:${await freePort()}`,
      };
      const start = inRoot(image, root, [...image.config.Entrypoint, `${name}.js`], env, volume);
      const logFile = join(logFolder(stack.dir), `image-${name}.log`);
      const started = await startProcess({ name, ...start, logFile });
      processes.push(started);
      await eventually(
        `the ${name} of the image is ready`,
        async () => {
          const exit = started.exit();
          if (exit !== undefined) throw new Error(`it ended: ${await readFile(logFile, 'utf8')}`);
          const answer = await fetch(`http://${health}/readyz`).catch(() => null);
          return answer?.ok === true;
        },
        120_000,
      );
      expect(await readFile(logFile, 'utf8')).toContain(`file:///app/${name}.js was accepted`);
      const status = await readFile(`/proc/${started.pid}/status`, 'utf8');
      expect(/^Uid:\t(.*)$/m.exec(status)?.[1]).toBe('1000\t1000\t1000\t1000');
      expect(/^Groups:\t(.*)$/m.exec(status)?.[1]?.trim()).toBe('');
    }

    const quota = await givenQuota(stack, { namespace: 'from-the-image', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });

    // As `kubectl exec` runs it.
    const help = inRoot(image, root, ['headroom', '--help']);
    expect((await run(help.command, [...help.args])).stdout).toContain('Usage: headroom');
    // Its own loader finds all that Node needs.
    const loader =
      readNativeFile(image.members.get('usr/local/bin/node')?.content ?? Buffer.alloc(0))?.interpreter ?? '';
    const list = inRoot(image, root, [loader, '--list', '/usr/local/bin/node']);
    expect((await run(list.command, [...list.args])).stdout).not.toContain('not found');
    const write = inRoot(image, root, ['node', '--eval', "require('node:fs').writeFileSync('/app/x', '')"]);
    await expect(run(write.command, [...write.args])).rejects.toThrow(/EROFS|EACCES/);
  });
});

/** A volume with what the container of the chart that runs first has left in it. */
async function compiledAsInAPod(name: 'worker' | 'starter', image: PlatformImage, root: string): Promise<string> {
  const { args = [], env = [], volumeMounts } = compilingContainerOf(name, await rendered());
  expect(volumeMounts).toEqual([{ name: 'headroom-compiled', mountPath: COMPILED }]);
  const volume = { folder: join(folder, `compiled-${name}`), path: COMPILED, readOnly: false };
  await mkdir(volume.folder);
  const [user = 0, group = 0] = image.config.User.split(':').map(Number);
  await chown(volume.folder, user, group);
  const variables = Object.fromEntries(env.map(({ name: variable, value = '' }) => [variable, value]));
  const start = inRoot(image, root, [...image.config.Entrypoint, ...args], variables, volume);
  expect((await run(start.command, [...start.args])).stdout).toContain(`Usage: ${name}`);
  return volume.folder;
}
