import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Client, credentials } from '@grpc/grpc-js';
import type Handlebars from 'handlebars';
import { rolldown } from 'rolldown';
import type { Agent, fetch, ProxyAgent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unusedPartsLeftOut } from '../../tools/programs/left-out.ts';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The packages that are not whole, as the programs use them. */
const SOURCE = `
export { Agent, fetch, ProxyAgent, request } from 'undici';
export { Client, credentials } from '@grpc/grpc-js';
export { default as Handlebars } from 'handlebars';
import { EMPTY, from, lastValueFrom, merge } from 'rxjs';
import { mergeMap, tap } from 'rxjs/operators';
export async function sumOf(values) {
  let sum = 0;
  const added = merge(from(values), EMPTY).pipe(mergeMap(async (value) => value), tap((value) => (sum += value)));
  await lastValueFrom(added);
  return sum;
}
`;

interface Used {
  readonly Agent: typeof Agent;
  readonly fetch: typeof fetch;
  readonly ProxyAgent: typeof ProxyAgent;
  readonly request: typeof request;
  readonly Client: typeof Client;
  readonly credentials: typeof credentials;
  readonly Handlebars: typeof Handlebars;
  readonly sumOf: (values: readonly number[]) => Promise<number>;
}

let folder: string;
let server: Server;
let url: string;
let modules: readonly string[];
let used: Used;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-left-out-'));
  await symlink(PACKAGES, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  await writeFile(join(folder, 'used.ts'), SOURCE);
  const build = await rolldown({ input: join(folder, 'used.ts'), platform: 'node', plugins: [unusedPartsLeftOut()] });
  const { output } = await build.write({ dir: join(folder, 'dist'), format: 'esm', codeSplitting: false });
  await build.close();
  modules = output[0].moduleIds.map((id) => id.slice(id.lastIndexOf('/node_modules/') + '/node_modules/'.length));
  used = (await import(pathToFileURL(join(folder, 'dist/used.js')).href)) as Used;
  server = createServer(({ method, url: path }, response) => response.end(`${method} ${path}`));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/version`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

it.each([
  ['undici', /^undici\/lib\/(?:mock|cache|interceptor|web\/websocket|dispatcher\/(?:env-http-proxy|retry)-agent)\b/],
  ['@grpc/grpc-js', /^@grpc\/(?:proto-loader\/|grpc-js\/build\/src\/server\.js$)/],
  ['rxjs', /^rxjs\/.*\/(?:windowToggle|animationFrames)\.js$/],
  ['handlebars', /^source-map\//],
] as const)('a program has no parts of %s that it does not use', (name, parts) => {
  expect(modules.some((module) => module.startsWith(`${name}/`))).toBe(true);
  expect(modules.filter((module) => parts.test(module))).toEqual([]);
});

it('sends requests, also by a pool of connections and through a proxy', async () => {
  const dispatcher = new used.Agent();
  const proxy = new used.ProxyAgent({ uri: new URL(url).origin, proxyTunnel: false });
  try {
    expect(await (await used.request(url, { dispatcher })).body.text()).toBe('GET /version');
    expect(await (await used.fetch(url, { dispatcher })).text()).toBe('GET /version');
    expect(await (await used.fetch('http://forge.example/api', { dispatcher: proxy })).text()).toBe(
      'GET http://forge.example/api',
    );
  } finally {
    await dispatcher.destroy();
    await proxy.destroy();
  }
});

it('calls by gRPC, and says that nobody is there', async () => {
  const client = new used.Client('127.0.0.1:9', used.credentials.createInsecure());
  const ready = new Promise<Error | undefined>((resolve) => client.waitForReady(Date.now() + 200, resolve));
  expect((await ready)?.message).toBe('Failed to connect before the deadline');
  client.close();
});

it('has everything of rxjs that the SDK names', async () => {
  expect(await used.sumOf([1, 2, 3])).toBe(6);
});

it('writes texts by templates', () => {
  const template = used.Handlebars.compile(
    '{{#each quotas}}{{name}}: {{{text}}}{{#unless @last}}, {{/unless}}{{/each}}',
  );
  expect(
    template({
      quotas: [
        { name: 'a', text: '"1"' },
        { name: '<b>', text: '2' },
      ],
    }),
  ).toBe('a: "1", &lt;b&gt;: 2');
});
