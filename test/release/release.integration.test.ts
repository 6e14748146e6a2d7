/** A release as `make release` writes it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderChart, runHelm, SYSTEM_NAMESPACE } from '../../tools/manifests/render-chart.ts';
import { writeRelease } from '../../tools/release/write-release.ts';
import { readLayout } from '../image/layout.ts';

const run = promisify(execFile);
/** Milliseconds. */
const RELEASE_MS = 600_000;
const CREATED = new Date('2026-11-28T00:00:00Z');

let folder: string;
let release: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-release-'));
  release = join(folder, 'release');
  // What was there goes.
  await mkdir(release);
  await writeFile(join(release, 'headroom-0.1.0.cdx.json'), '');
  const facts = { version: '0.2.0', revision: 'abc', created: CREATED, source: undefined };
  await writeRelease(release, facts, '- What is new.\n');
}, RELEASE_MS);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it('has all that is needed to install it, and a checksum of each', async () => {
  const files = [
    'headroom-0.2.0-definitions.yaml',
    'headroom-0.2.0-image-linux-amd64.tar',
    'headroom-0.2.0-image-linux-arm64.tar',
    'headroom-0.2.0-install.yaml',
    'headroom-0.2.0-linux-amd64.tar.gz',
    'headroom-0.2.0-linux-arm64.tar.gz',
    'headroom-0.2.0.cdx.json',
    'headroom-0.2.0.tgz',
    'headroom-crds-0.2.0.tgz',
    'notes.md',
  ];
  expect((await readdir(release)).toSorted()).toEqual(['SHA256SUMS', ...files].toSorted());
  const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
  expect(stdout.trim().split('\n')).toEqual(files.toSorted().map((file) => `${file}: OK`));
  expect(await readFile(join(release, 'notes.md'), 'utf8')).toBe('- What is new.\n');
});

it('is described file by file', async () => {
  const page = await readFile(new URL('../../docs/image.md', import.meta.url), 'utf8');
  const table = page.slice(page.indexOf('## A release'));
  const described = [...table.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name);
  const written = (await readdir(release)).map((file) =>
    file.replace('0.2.0', 'VERSION').replace(/linux-(?:amd64|arm64)/, 'OS-ARCH'),
  );
  expect(described.toSorted()).toEqual([...new Set(written)].toSorted());
});

it.each(['amd64', 'arm64'])('the image of %s is a layout of that platform', { timeout: RELEASE_MS }, async (name) => {
  const layout = join(folder, name);
  await mkdir(layout);
  await run('tar', [
    '--extract',
    '--file',
    join(release, `headroom-0.2.0-image-linux-${name}.tar`),
    '--directory',
    layout,
  ]);
  const read = await readLayout(layout);
  expect(read.images.map(({ architecture }) => architecture)).toEqual([name]);
});

it('the programs of this platform start where they are unpacked', async () => {
  const name = process.arch === 'x64' ? 'amd64' : 'arm64';
  await run('tar', [
    '--extract',
    '--gzip',
    '--file',
    join(release, `headroom-0.2.0-linux-${name}.tar.gz`),
    '--directory',
    folder,
  ]);
  const { stdout } = await run(process.execPath, [join(folder, 'headroom-0.2.0/worker.js'), '--help']);
  expect(stdout).toContain('Usage: worker');
});

it('the charts are rendered as those of deploy are', async () => {
  const archive = (name: string) => [
    'template',
    'headroom',
    join(release, `${name}-0.2.0.tgz`),
    '--kube-version',
    '1.30.0',
  ];
  const settings = ['--namespace', SYSTEM_NAMESPACE];
  expect(await runHelm([...archive('headroom'), ...settings])).toBe(await renderChart());
  expect(await runHelm([...archive('headroom-crds'), ...settings])).toBe(
    await renderChart({}, { chart: 'chart-crds' }),
  );
  const install = await readFile(join(release, 'headroom-0.2.0-install.yaml'), 'utf8');
  expect(install).toBe(await readFile(new URL('../../deploy/install.yaml', import.meta.url), 'utf8'));
});

it('the definitions are those of deploy, each once', async () => {
  const documents = parseAllDocuments(await readFile(join(release, 'headroom-0.2.0-definitions.yaml'), 'utf8'));
  const names = documents.map((document) => (document.toJS() as { metadata: { name: string } }).metadata.name);
  expect(names.toSorted()).toEqual([
    'lightsoutschedules.lightsout.techsupport.mk',
    'memcacheds.memcached.c5c3.io',
    'nodegroups.autoscaler.vpsie.com',
    'vpsienodes.autoscaler.vpsie.com',
  ]);
});
