import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
    body: changes.body ?? body,
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
});
