import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import type { Registry } from 'prom-client';
import type { ListenAddress } from '../../domain/kernel/settings/forms.ts';

/** Milliseconds that metrics of the same process may take to be told. */
const BESIDE_MS = 2_000;

/** Whether something that the process needs is available, and if not, why; `warning`: it runs, and a person has to look. */
export type ConditionStatus =
  | { readonly ready: true; readonly warning?: string }
  | { readonly ready: false; readonly reason: string };

/**
 * The conditions for the readiness of a process, by name. The process is ready when there is at least one condition and
 * all are ready.
 */
export class Readiness {
  readonly #conditions = new Map<string, () => ConditionStatus>();

  /** Sets a condition, replacing an earlier status. */
  set(name: string, status: ConditionStatus): void {
    this.#conditions.set(name, () => status);
  }

  /** A condition that is evaluated at each request. */
  watch(name: string, check: () => ConditionStatus): void {
    this.#conditions.set(name, check);
  }

  /** The body of `/readyz`. */
  report(): { readonly ready: boolean; readonly conditions: Readonly<Record<string, ConditionStatus>> } {
    const conditions = Object.fromEntries([...this.#conditions].map(([name, check]) => [name, check()]));
    const statuses = Object.values(conditions);
    return { ready: statuses.length > 0 && statuses.every((status) => status.ready), conditions };
  }
}

/** A server that listens. */
export interface ListeningServer {
  /** `http://host:port`, with the port that was taken. */
  readonly url: string;
  /** Stops it at once, open connections included. */
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (200 while the process can answer at all), `/readyz` (200 or 503, with every condition and its reason
 * as JSON) and, with a registry, `/metrics`.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function serveHealth(
  address: ListenAddress,
  readiness: Readiness,
  metrics?: Registry,
): Promise<ListeningServer> {
  return await serve(address, {
    '/healthz': (response) => sendJson(response, 200, { alive: true }),
    '/readyz': (response) => {
      const report = readiness.report();
      sendJson(response, report.ready ? 200 : 503, report);
    },
    ...(metrics === undefined ? {} : { '/metrics': async (response) => await sendMetrics(response, metrics) }),
  });
}

/**
 * Serves `/metrics` alone.
 *
 * @param beside the address of further metrics of this process, which follow its own.
 */
export async function serveMetrics(
  address: ListenAddress,
  metrics: Registry,
  beside?: string,
): Promise<ListeningServer> {
  return await serve(address, { '/metrics': async (response) => await sendMetrics(response, metrics, beside) });
}

type Routes = Readonly<Record<string, (response: ServerResponse) => void | Promise<void>>>;

async function serve(address: ListenAddress, routes: Routes): Promise<ListeningServer> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) sendJson(response, 404, { error: `expected one of ${Object.keys(routes).join(', ')}` });
    else if (request.method !== 'GET' && request.method !== 'HEAD') sendJson(response, 405, { error: 'expected GET' });
    else await route(response);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return {
    url: urlOf('http', address, server),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}

async function sendMetrics(response: ServerResponse, metrics: Registry, beside?: string): Promise<void> {
  const own = await metrics.metrics();
  const text = beside === undefined ? own : `${own}${await textOf(beside)}`;
  response.writeHead(200, { 'content-type': metrics.contentType });
  response.end(text);
}

/** What is served there; nothing where it does not answer, which is no reason to keep the rest back. */
async function textOf(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(BESIDE_MS) }).catch(() => null);
  return response?.ok === true ? await response.text().catch(() => '') : '';
}

/**
 * The address as `host:port` with a real port, for a server that does not report its port, such as that of Temporal's
 * SDK. Another process may take the port in between; that server then fails to start.
 */
export async function concreteAddress({ host, port }: ListenAddress): Promise<string> {
  if (port !== 0) return `${formatHost(host)}:${port}`;
  const probe = createTcpServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen(0, host, resolve);
  });
  const free = (probe.address() as AddressInfo).port;
  await new Promise<void>((resolve) => {
    probe.close(() => resolve());
  });
  return `${formatHost(host)}:${free}`;
}

/** The URL of a server that listens at an address, with the port that was taken. */
export function urlOf(scheme: 'http' | 'https', { host }: ListenAddress, server: Server): string {
  return `${scheme}://${formatHost(host)}:${(server.address() as AddressInfo).port}`;
}

function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
