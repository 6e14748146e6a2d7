/** The programs as `npm run build` writes them, which is what an image has. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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

it.each(['worker', 'starter'])('a line of the %s is traced to the source that it is from', async (name) => {
  const lines = (await readFile(join(folder, `${name}.js`), 'utf8')).split('\n');
  const payload = JSON.parse(await readFile(join(folder, `${name}.js.map`), 'utf8')) as SourceMapPayload;
  // The programs ship without line breaks between statements.
  const call = new RegExp(`runProcess\\(["'\`]${name}["'\`]`);
  const line = lines.findIndex((text) => call.test(text));
  const entry = new SourceMap(payload).findEntry(line, lines[line]?.search(call) ?? 0);
  const source = await readFile(join(ROOT, name, 'main.ts'), 'utf8');
  const written = source.split('\n').findIndex((text) => /^runProcess\b/.test(text));
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

it('the licenses of what is bundled go with it', async () => {
  const licenses = await readFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  const names = packagesOf(licenses).map(({ name }) => name);
  // The last three: the native part, what is in the workflows alone, and a package of which a table is copied.
  const some = ['@kubernetes/client-node', 'fastify', 'zod', '@temporalio/core-bridge', 'nexus-rpc', 'source-map'];
  expect(names).toEqual(expect.arrayContaining(some));
  expect(licenses).toContain('Permission is hereby granted, free of charge');
});

it('the command that builds them says in one sentence which argument it wants', async () => {
  const build = run(process.execPath, ['tools/programs/build-main.ts'], { cwd: ROOT });
  await expect(build).rejects.toMatchObject({
    code: 2,
    stderr: 'expected one argument, the folder to write the programs to: npm run build -- dist\n',
  });
});
