/** The programs as `npm run build` writes them, which is what an image has. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ensurePrograms } from '../../tools/programs/ensure-programs.ts';
import { packagesOf } from '../../tools/programs/licenses.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

interface InlineMap {
  readonly file?: string;
  readonly sources?: readonly string[];
}

// The first to ask for the programs builds them.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** The programs in a folder that has no packages beside or above it. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-alone-'));
  await cp(await ensurePrograms(), folder, { recursive: true });
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it.each(['worker', 'starter', 'headroom'])('the %s needs nothing but its folder', async (name) => {
  const { PATH } = process.env;
  const { stdout, stderr } = await run(process.execPath, [join(folder, `${name}.js`), '--help'], {
    cwd: tmpdir(),
    env: { PATH },
  });
  expect(stdout).toContain(`Usage: ${name}`);
  expect(stderr).toBe('');
});

describe('the command line as one file, kubectl-headroom,', () => {
  /** What runs there, with nothing on the path but Node and the file. */
  async function inFolder(
    files: Readonly<Record<string, string>>,
    args: readonly string[],
    program = 'kubectl-headroom',
  ) {
    const alone = await mkdtemp(join(tmpdir(), 'headroom-one-file-'));
    try {
      for (const file of ['kubectl-headroom', 'kubectl_complete-headroom'])
        await cp(join(folder, file), join(alone, file));
      for (const [file, content] of Object.entries(files)) {
        await mkdir(dirname(join(alone, file)), { recursive: true });
        await writeFile(join(alone, file), content);
      }
      const env = { PATH: `${alone}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: alone, CLUSTER_NAME: 'test' };
      return await run(join(alone, program), args, { cwd: ROOT, env }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
      );
    } finally {
      await rm(alone, { recursive: true });
    }
  }

  it.each([
    ['a folder of programs', {}],
    ['one of modules', { 'package.json': '{ "type": "module" }' }],
  ])('runs in %s, and reads repositories there, which takes a thread', async (_, files) => {
    expect(await inFolder(files, ['--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: kubectl headroom [options] [command]'),
      stderr: '',
    });
    const { code, stdout } = await inFolder(files, ['sources', '--repo', 'test/layouts/plain']);
    expect(code).toBe(0);
    expect(stdout).toContain('namespaces/prod/team-b/quotas.yaml:10');
  });

  it('answers kubectl, which asks another program for completions', async () => {
    const { code, stdout } = await inFolder({}, ['list', '--output', 'j'], 'kubectl_complete-headroom');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'json\thow to print; table is the same as text\n:4\n' });
  });

  it('means the cluster that kubectl means, where no kubeconfig is named', async () => {
    const without = await inFolder({}, ['pauses']);
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no cluster to talk to') });
    const broken = await inFolder({ '.kube/config': 'clusters: []' }, ['pauses']);
    expect(broken.stderr).toContain('/.kube/config has no current context');
  });

  it('has the doctor in it, who says that there is no cluster', async () => {
    const { code, stdout } = await inFolder({}, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('\ncluster\n  WRONG    There is no cluster to talk to');
  });

  it('says that it has no worker in it, nor the native library that one needs', async () => {
    const { code, stderr } = await inFolder({}, ['all-in-one']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('This file does not contain all-in-one'),
    });
    expect(await readFile(join(folder, 'kubectl-headroom'), 'utf8')).not.toContain('temporal-core-bridge');
  });

  it('has the licenses of everything in it', async () => {
    expect(await readFile(join(folder, 'kubectl-headroom'), 'utf8')).toContain(
      'Permission is hereby granted, free of charge',
    );
  });
});

it.each(['worker', 'starter'])('a line of the %s is traced to the source that it is from', async (name) => {
  const lines = (await readFile(join(folder, `${name}.js`), 'utf8')).split('\n');
  const payload = JSON.parse(await readFile(join(folder, `${name}.js.map`), 'utf8')) as SourceMapPayload;
  // The programs ship without line breaks between statements.
  const call = new RegExp(`runProcess\\(["'\`]${name}["'\`]`);
  const line = lines.findIndex((text) => call.test(text));
  const entry = new SourceMap(payload).findEntry(line, lines[line]?.search(call) ?? 0);
  const source = await readFile(join(ROOT, name, 'main.ts'), 'utf8');
  const written = source.split('\n').findIndex((text) => /^\s*runProcess\b/.test(text));
  expect(written).toBeGreaterThan(0);
  expect(entry).toMatchObject({ originalSource: `${name}/main.ts`, originalLine: written });
});

it('no file says where it was built, so that a build elsewhere is the same byte for byte', async () => {
  const files = (await readdir(folder)).filter((file) => /\.(?:js|map|txt|json)$/.test(file));
  expect(files).toContain('workflow-bundle.js');
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8');
    const [, inlined = ''] = /^\/\/# sourceMappingURL=data:[^,]+,(\S+)$/m.exec(text) ?? [];
    const { file: name, sources = [] } = JSON.parse(Buffer.from(inlined, 'base64').toString() || '{}') as InlineMap;
    expect(name ?? file).toBe(file);
    expect([text, ...sources].filter((place) => place.includes(ROOT))).toEqual([]);
  }
});

it('the workflows bring no package along but those of Temporal: each execution would run it anew and keep it', async () => {
  const bundle = await readFile(join(folder, 'workflow-bundle.js'), 'utf8');
  const modules = [...bundle.matchAll(/^\/\*{3}\/ "([^"]+)"/gm)].map(([, path]) => path ?? '');
  const packages = modules.flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  const temporal = ['@temporalio/common', '@temporalio/workflow'];
  // What those two need.
  expect([...new Set(packages)].toSorted()).toEqual([...temporal, 'long', 'ms', 'nexus-rpc']);
  expect(modules.filter((path) => path.endsWith('.ts'))).toEqual(['./workflows/index.ts']);
});

describe('what traces', () => {
  it('is in files of its own, and the programs and their workflows have nothing of it', async () => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.js'));
    const having = async (text: string) => {
      const found = await Promise.all(
        files.map(async (file) => ((await readFile(join(folder, file), 'utf8')).includes(text) ? [file] : [])),
      );
      return found.flat();
    };
    expect(await having('BatchSpanProcessor')).toEqual(['tracing.js']);
    expect((await having('_tracer-data')).toSorted()).toEqual(['traced-workflow-bundle.js', 'tracing.js']);
  });

  it('brings no package into the workflows either', async () => {
    const packagesIn = async (file: string): Promise<readonly string[]> => {
      const bundle = await readFile(join(folder, file), 'utf8');
      const paths = [...bundle.matchAll(/^\/\*{3}\/ "[^"]*\/node_modules\/((?:@[^/]+\/)?[^/"]+)\//gm)].map(
        ([, name]) => name ?? '',
      );
      return [...new Set(paths)].toSorted();
    };
    expect(await packagesIn('traced-workflow-bundle.js')).toEqual(await packagesIn('workflow-bundle.js'));
  });

  it.each(['worker', 'starter'])('is loaded by the %s only with an endpoint', async (name) => {
    const without = await mkdtemp(join(tmpdir(), 'headroom-untraced-'));
    try {
      await cp(folder, without, { recursive: true, filter: (path) => !/\/(?:tracing|traced-)[^/]*$/.test(path) });
      // Without a cluster it ends by itself, after it has begun to trace.
      const env = { PATH: process.env['PATH'], CLUSTER_NAME: 'test', KUBECONFIG: join(without, 'no-kubeconfig') };
      const outputOf = async (more: object) =>
        await run(process.execPath, [join(without, `${name}.js`)], { env: { ...env, ...more }, timeout: 60_000 }).then(
          ({ stdout }) => stdout,
          ({ stdout }: { stdout: string }) => stdout,
        );
      expect(await outputOf({})).toContain('no-kubeconfig');
      const traced = await outputOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
      expect(traced).toMatch(/Cannot find module .*tracing\.js/);
    } finally {
      await rm(without, { recursive: true });
    }
  });
});

it('what few starters load is in files of its own, and in no program: a text takes its memory as long as the program runs', async () => {
  const having = async (text: string) => {
    const files = (await readdir(folder)).filter((file) => file.endsWith('.js'));
    const texts = await Promise.all(files.map(async (file) => await readFile(join(folder, file), 'utf8')));
    return files.filter((_, index) => texts[index]?.includes(text));
  };
  expect(await having('FST_ERR_CTP_INVALID_MEDIA_TYPE')).toEqual(['web-framework.js']);
  expect(await having('id_ce_authorityKeyIdentifier')).toEqual(['certificates.js']);
  expect(await readFile(join(folder, 'starter.js'), 'utf8')).toMatch(/import\(["'`]\.\/web-framework\.js["'`]\)/);
});

it('the licenses of what is bundled go with it', async () => {
  const licenses = await readFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const names = packagesOf(licenses).map(({ name }) => name);
  // The last three: the native part, what is in the workflows alone, and a package of which a table is copied.
  const some = ['@kubernetes/client-node', 'fastify', 'zod', '@temporalio/core-bridge', 'nexus-rpc', 'source-map'];
  expect(names).toEqual(expect.arrayContaining(some));
  expect(licenses).toContain('Permission is hereby granted, free of charge');
});

it('the command that builds them says in one sentence which argument it wants', async () => {
  const build = run(process.execPath, ['tools/programs/build-main.ts', 'dist', 'bin'], { cwd: ROOT });
  await expect(build).rejects.toMatchObject({
    code: 2,
    stderr: 'expected at most one argument, the folder to write the programs to: npm run build -- dist\n',
  });
});
