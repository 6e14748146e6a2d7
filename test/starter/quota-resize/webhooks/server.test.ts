import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReceiver } from '../../../../starter/quota-resize/webhooks/receive.ts';
import { serveWebhooks } from '../../../../starter/quota-resize/webhooks/server.ts';
import type { ListeningServer } from '../../../../platform/health/health.ts';
import { createLog } from '../../../../platform/log/log.ts';
import { payloads, SECRET, signed } from './payloads.ts';

let server: ListeningServer;
let requests: string[];
let lines: string[];
let metrics: Registry;

beforeEach(async () => {
  requests = [];
  lines = [];
  metrics = new Registry();
  const receive = createReceiver({
    cluster: 'prod',
    secrets: () => [SECRET],
    find: () => [{ target: { cluster: 'prod', namespace: 'team-a', quota: 'compute' }, isFileChanged: false }],
    request: ({ cause }) => requests.push(cause),
  });
  server = await serveWebhooks({
    address: { host: '127.0.0.1', port: 0 },
    receive,
    deliveries: new Counter({
      name: 'deliveries_total',
      help: 'x',
      labelNames: ['event', 'outcome'],
      registers: [metrics],
    }),
    log: createLog({ name: 'starter', level: 'trace', destination: { write: (line) => void lines.push(line) } }),
  });
});

afterEach(async () => {
  await server.close();
});

/** Sends a request as GitHub would, with some of it changed. */
async function send(
  event: string,
  payload: unknown,
  changes: { headers?: Record<string, string>; body?: string } = {},
) {
  const { id, signature, body } = await signed(event, payload);
  return await fetch(`${server.url}/webhooks/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': signature,
      ...changes.headers,
    },
    body: changes.body ?? Buffer.concat(body),
  });
}

const now = () => payloads.pull_request(7, new Date().toISOString());

describe('the port for webhooks', () => {
  it('takes what GitHub signed, byte for byte', async () => {
    const answer = await send('pull_request', { ...now(), title: 'Größe ≥ 4 · “quoted”' });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ outcome: 'requested' });
    expect(requests).toEqual(['GitHub: pull_request']);
  });

  it('refuses what is too large, of another type, without a signature, or somewhere else', async () => {
    const large = await send('push', { padding: 'x'.repeat(5 * 1024 * 1024) });
    expect(large.status).toBe(413);
    const form = await send('pull_request', now(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form.status).toBe(415);
    expect(await form.json()).toMatchObject({ message: 'expected the content type application/json' });
    expect((await send('pull_request', now(), { headers: { 'x-hub-signature-256': '' } })).status).toBe(401);
    expect((await send('pull_request', now(), { body: '{}' })).status).toBe(401);
    expect((await fetch(`${server.url}/webhooks/github`)).status).toBe(404);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(404);
    expect(requests).toEqual([]);
  });

  it('counts what came by event and outcome, and a made-up event makes no series of its own', async () => {
    await send('pull_request', now());
    await send('pull_request', now(), { body: '{}' });
    await send('ping', { zen: 'x' });
    await send('made-up', {});
    const { values } = await metrics.getSingleMetric('deliveries_total')!.get();
    expect(values.map(({ labels, value }) => `${labels['event']} ${labels['outcome']} ${value}`).toSorted()).toEqual([
      'other ignored 1',
      'ping ignored 1',
      'pull_request requested 1',
      'pull_request unsigned 1',
    ]);
  });

  it('logs neither the secret nor a signature nor a payload', async () => {
    const { signature } = await signed('pull_request', now());
    await send('pull_request', { ...now(), body: 'private-text' });
    await send('pull_request', now(), { headers: { 'x-hub-signature-256': signature.replace(/.$/, 'z') } });
    expect(lines.length).toBeGreaterThan(1);
    for (const secret of [SECRET, 'sha256=', 'private-text']) expect(lines.join()).not.toContain(secret);
  });

  it('answers who has no signature, no length or too much before a byte of the body is read', async () => {
    const started = async (headers: Record<string, string>) => await headersOnly({ ...valid, ...headers });
    expect(await started({ 'x-hub-signature-256': 'sha256=1' })).toBe(401);
    expect(await started({ 'content-length': String(6 * 1024 * 1024) })).toBe(413);
    expect(await started({ 'content-length': '', 'transfer-encoding': 'chunked' })).toBe(411);
  });

  it('has so many connections, and closes further ones before they are read', async () => {
    const { hostname, port } = new URL(server.url);
    const connected = async (): Promise<Socket> => {
      // Whether it is closed with an error or without one is the same here.
      const socket = connect(Number(port), hostname).on('error', () => {});
      await once(socket, 'connect');
      return socket;
    };
    const idle: Socket[] = [];
    for (let count = 0; count < 32; count += 1) idle.push(await connected());
    const further = connect(Number(port), hostname).on('error', () => {});
    await new Promise<void>((resolve) => further.once('close', () => resolve()).resume());
    expect(idle.filter((socket) => socket.closed)).toEqual([]);
    for (const socket of idle) socket.destroy();
    await vi.waitFor(async () => {
      expect((await send('pull_request', now())).status).toBe(202);
    });
  });

  it('takes deliveries while others announce bodies of megabytes that do not come', async () => {
    const idle = [await open({ ...valid }), await open({ ...valid }), await open({ ...valid })];
    expect((await send('pull_request', now())).status).toBe(202);
    for (const socket of idle) socket.destroy();
  });

  it('takes deliveries while others send all that is held at once, and do not end', async () => {
    const senders = [await open({ ...valid }), await open({ ...valid }), await open({ ...valid })];
    for (const socket of senders) {
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write(Buffer.alloc(4 * 1024 * 1024 - 1, 'x'), resolve));
    }
    expect((await send('pull_request', now())).status).toBe(202);
    for (const socket of senders) socket.destroy();
  });

  it('ends a body that does not go on', async () => {
    const slow = await open({ ...valid });
    slow.write('{');
    const [data] = (await once(slow, 'data')) as [Buffer];
    expect(data.toString()).toMatch(/^HTTP\/1\.1 408 /);
    await once(slow.resume(), 'close');
    const { values } = await metrics.getSingleMetric('deliveries_total')!.get();
    expect(values.map(({ labels }) => labels)).toEqual([{ event: 'push', outcome: 'slow' }]);
  });
});

/** Headers of a delivery whose body has 4 MB. */
const valid: Record<string, string> = {
  'content-type': 'application/json',
  'content-length': String(4 * 1024 * 1024),
  'x-github-event': 'push',
  'x-hub-signature-256': `sha256=${'0'.repeat(64)}`,
};

/** A connection that has sent these headers and waits with the body. */
async function open(headers: Record<string, string>): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`]));
  socket.write(`POST /webhooks/github HTTP/1.1\r\nhost: x\r\n${lines.join('\r\n')}\r\n\r\n`);
  // Its headers are read once a later request on another connection is answered.
  await once(socket, 'connect');
  await fetch(server.url);
  return socket;
}

/** The status that the port answers headers with, before any body. */
async function headersOnly(headers: Record<string, string>): Promise<number> {
  const socket = await open(headers);
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(data.toString().split(' ')[1]);
}
