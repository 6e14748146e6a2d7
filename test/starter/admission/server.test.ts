import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Counter, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { type AdmissionServer, serveAdmission } from '../../../starter/admission/server.ts';
import { scheduleWebhooks } from '../../../starter/lights-out/admission.ts';
import { createLog } from '../../../platform/log/log.ts';
import { send, shownSerial } from './tls.ts';

const authority = await issueAuthority(Date.now());

let server: AdmissionServer;
let metrics: Registry;
let lines: string[];
let others: () => readonly never[];

beforeEach(async () => {
  lines = [];
  metrics = new Registry();
  others = () => [];
  server = await serveAdmission({
    webhooks: {
      ...scheduleWebhooks(() => ({ others: others(), protectedNamespaces: [], now: Date.now() })),
      address: { host: '127.0.0.1', port: 0 },
    },
    requests: new Counter({
      name: 'requests_total',
      help: 'x',
      labelNames: ['webhooks', 'operation', 'allowed'],
      registers: [metrics],
    }),
    log: createLog({ name: 'starter', level: 'trace', destination: { write: (line) => void lines.push(line) } }),
  });
});

afterEach(async () => {
  await server.close();
});

const useCertificate = async (): Promise<void> =>
  server.useCertificate(await issueServer('127.0.0.1', authority, Date.now()));

/** The certificate is for the address. */
const checkServerIdentity = (): undefined => undefined;

/** Sends a review of a schedule with this time zone. */
async function review(path: string, timezone: string | undefined, change: object = {}) {
  const spec = { upscale: '0 6 * * *', downscale: '0 20 * * *', namespaces: ['team-a'], timezone };
  return await send(`${server.url}${path}`, {
    ca: authority.certificate,
    body: {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { uid: 'a-uid', operation: 'CREATE', name: 'nights', object: { metadata: { name: 'nights' }, spec } },
      ...change,
    },
  });
}

describe('the port for admission', () => {
  it('answers reviews, counts them and says which object it denied', async () => {
    await useCertificate();
    const envelope = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
    expect(await review('/mutate?timeout=5s', undefined)).toMatchObject({
      status: 200,
      body: { ...envelope, response: { uid: 'a-uid', allowed: true, patchType: 'JSONPatch' } },
    });
    expect(await review('/validate?timeout=5s', 'Europe/Berlin')).toMatchObject({
      status: 200,
      body: { ...envelope, response: { uid: 'a-uid', allowed: true } },
    });
    expect(lines.some((line) => line.includes('"level":"info"'))).toBe(false);
    const refused = await review('/validate', 'Mars/Olympus');
    expect(refused).toMatchObject({ status: 200, body: { response: { allowed: false, status: { code: 422 } } } });
    expect(lines.find((line) => line.includes('"level":"info"'))).toContain(
      'the LightsOutSchedule nights was denied: spec',
    );
    const counted = await metrics.metrics();
    expect(counted).toContain('requests_total{webhooks="headroom-lights-out",operation="CREATE",allowed="true"} 2');
    expect(counted).toContain('requests_total{webhooks="headroom-lights-out",operation="CREATE",allowed="false"} 1');
  });

  it('says what it expected of everything else', async () => {
    await useCertificate();
    const post = async (path: string, request: Partial<Parameters<typeof send>[1]>) =>
      await send(`${server.url}${path}`, { ca: authority.certificate, ...request });
    expect(await review('/validate', 'UTC', { kind: 'Review' })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^expected an AdmissionReview of admission\.k8s\.io\/v1 at kind: /) },
    });
    expect(await post('/validate', { body: '{' })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^expected an AdmissionReview in JSON: /) },
    });
    expect(await post('/validate', { body: '' })).toMatchObject({ status: 400 });
    expect(await post('/validate', { body: '{"__proto__":{"allowed":true}}' })).toMatchObject({ status: 400 });
    expect(await post('/validate', { body: 'a=b', headers: { 'content-type': 'text/plain' } })).toMatchObject({
      status: 415,
      body: { message: 'expected the content type application/json' },
    });
    expect(await post('/validate', { body: { padding: 'x'.repeat(3 * 1024 * 1024) } })).toMatchObject({ status: 413 });
    expect(await post('/', { body: {} })).toMatchObject({
      status: 404,
      body: { message: 'expected POST /mutate or POST /validate' },
    });
    expect(await post('/validate', { method: 'GET' })).toMatchObject({ status: 404 });
    expect(await review('/validate', 'UTC')).toMatchObject({ status: 200 });
    expect(await metrics.metrics()).toContain(
      'requests_total{webhooks="headroom-lights-out",operation="none",allowed="false"} 8',
    );
  });

  it('reviews while others announce bodies that do not come, ends those, and reads none whose length nobody says', async () => {
    await useCertificate();
    const { hostname, port } = new URL(server.url);
    const announced = async (...headers: readonly string[]) => {
      const socket = connectTls({ host: hostname, port: Number(port), ca: authority.certificate, checkServerIdentity });
      await once(socket, 'secureConnect');
      socket.write(
        ['POST /validate HTTP/1.1', 'host: x', 'content-type: application/json', ...headers, '', ''].join('\r\n'),
      );
      return socket;
    };
    const statusOf = async (socket: Awaited<ReturnType<typeof announced>>): Promise<number> => {
      const [data] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return Number(data.toString().split(' ')[1]);
    };
    const large = `content-length: ${3 * 1024 * 1024}`;
    const idle = [await announced(large), await announced(large), await announced(large)];
    expect(await review('/validate', 'UTC')).toMatchObject({ status: 200 });
    expect(await statusOf(await announced('transfer-encoding: chunked'))).toBe(411);
    expect(await Promise.all(idle.map(statusOf))).toEqual([408, 408, 408]);
  });

  it('answers 500 and goes on where a review itself fails', async () => {
    await useCertificate();
    others = () => {
      throw new Error('the cache is gone');
    };
    expect(await review('/validate', 'UTC')).toMatchObject({
      status: 500,
      body: { message: 'the LightsOutSchedule could not be reviewed' },
    });
    expect(lines.some((line) => line.includes('the cache is gone'))).toBe(true);
    others = () => [];
    expect(await review('/validate', 'UTC')).toMatchObject({ status: 200 });
  });

  it('comes to no connection before it has a certificate, and shows each new one from then on', async () => {
    await expect(shownSerial(server.url, authority.certificate)).rejects.toThrow(/handshake failure/);
    await useCertificate();
    const first = await shownSerial(server.url, authority.certificate);
    expect(await shownSerial(server.url, authority.certificate)).toBe(first);
    await useCertificate();
    expect(await shownSerial(server.url, authority.certificate)).not.toBe(first);
  });

  it('refuses plain HTTP', async () => {
    await useCertificate();
    await expect(fetch(server.url.replace('https:', 'http:'))).rejects.toThrow('fetch failed');
  });

  it('ends open connections when it closes, also those that have not agreed on TLS', async () => {
    await useCertificate();
    const port = Number(new URL(server.url).port);
    const silent = connectPlain({ host: '127.0.0.1', port });
    const idle = connectTls({ host: '127.0.0.1', port, ca: authority.certificate });
    await Promise.all([once(silent, 'connect'), once(idle, 'secureConnect')]);
    const ended = Promise.all([once(silent.resume(), 'close'), once(idle.resume(), 'close')]);
    await server.close();
    await ended;
    await expect(shownSerial(server.url, authority.certificate)).rejects.toThrow(/ECONNREFUSED/);
  });
});
