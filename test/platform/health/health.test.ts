import { Counter, Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import {
  concreteAddress,
  type ListeningServer,
  Readiness,
  serveHealth,
  serveMetrics,
} from '../../../platform/health/health.ts';

const anyPort = { host: '127.0.0.1', port: 0 };
const open: ListeningServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serving(server: Promise<ListeningServer>): Promise<string> {
  open.push(await server);
  return open.at(-1)?.url ?? '';
}

describe('the probes', () => {
  it('a process is ready when all it needs is there, and says what is missing and why', async () => {
    const readiness = new Readiness();
    const url = await serving(serveHealth(anyPort, readiness));
    expect((await fetch(`${url}/readyz`)).status).toBe(503);

    let worker = 'INITIALIZED';
    readiness.set('temporal', { ready: false, reason: 'waiting for Temporal at localhost:7233: connection refused' });
    readiness.watch('worker', () => (worker === 'RUNNING' ? { ready: true } : { ready: false, reason: worker }));
    const waiting = await fetch(`${url}/readyz`);
    expect(waiting.status).toBe(503);
    expect(await waiting.json()).toEqual({
      ready: false,
      conditions: {
        temporal: { ready: false, reason: 'waiting for Temporal at localhost:7233: connection refused' },
        worker: { ready: false, reason: 'INITIALIZED' },
      },
    });

    readiness.set('temporal', { ready: true });
    worker = 'RUNNING';
    const ready = await fetch(`${url}/readyz?verbose`);
    expect(ready.status).toBe(200);
    expect(await ready.json()).toMatchObject({ ready: true });
  });

  it('a process that waits is alive', async () => {
    const url = await serving(serveHealth(anyPort, new Readiness()));
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('another path or method is refused', async () => {
    const url = await serving(serveHealth(anyPort, new Readiness()));
    expect((await fetch(`${url}/constructor`)).status).toBe(404);
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
  });
});

describe('the metrics', () => {
  it('are served in the text format, alone or beside the probes', async () => {
    const registry = new Registry();
    new Counter({ name: 'headroom_hints_total', help: 'Hints.', registers: [registry] }).inc(3);
    for (const server of [serveMetrics(anyPort, registry), serveHealth(anyPort, new Readiness(), registry)]) {
      const response = await fetch(`${await serving(server)}/metrics`);
      expect(response.headers.get('content-type')).toContain('text/plain');
      expect(await response.text()).toContain('headroom_hints_total 3');
    }
  });

  it('a taken port is an error', async () => {
    const url = new URL(await serving(serveHealth(anyPort, new Readiness())));
    const address = { host: '127.0.0.1', port: Number(url.port) };
    await expect(serveMetrics(address, new Registry())).rejects.toThrow('EADDRINUSE');
  });

  it('a free port is chosen before it is handed to a server that cannot tell', async () => {
    const [host, port] = (await concreteAddress(anyPort)).split(':');
    expect(host).toBe('127.0.0.1');
    expect(Number(port)).toBeGreaterThan(0);
    expect(await concreteAddress({ host: '::', port: 9090 })).toBe('[::]:9090');
  });
});
