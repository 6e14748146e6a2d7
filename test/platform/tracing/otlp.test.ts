import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { Secret } from '../../../domain/kernel/settings/secret.ts';
import { createLog } from '../../../platform/log/log.ts';
import { OtlpExporter } from '../../../platform/tracing/otlp.ts';

it('the log names a receiver without its path, which may be how it knows its customer', async () => {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: string[] = [];
  const log = createLog({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const target = {
    url: `${origin}/receiver/a-customers-token/v1/traces?key=another`,
    headers: new Secret(() => ({})),
    secret: new Secret(() => []),
    timeoutMs: 5_000,
  };
  const exporter = new OtlpExporter(target, { log, redact: (text) => text });
  await new Promise<void>((resolve) => exporter.export([], () => resolve()));
  server.close();
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    `traces cannot be sent to ${origin}, and are lost meanwhile: it answers with 404`,
  ]);
});
