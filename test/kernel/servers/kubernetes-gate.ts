import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { Faults, type Hold, type HoldRule, waitAt } from '../forge/http/faults.ts';
import type { ControlPlane } from './control-plane.ts';

/** A request that was meant to change something, and its answer. */
interface GateWrite {
  /** ISO 8601 with milliseconds: when the API server had answered. */
  readonly at: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: string;
  readonly status: number;
}

/** A way to the API server on which a test can stop requests, and which lets everything else pass as it is. Not for watches. */
export interface KubernetesGate {
  /** Every write that came through and was answered, in the order of the answers. */
  readonly writes: readonly GateWrite[];
  /** The path of a copy of a user's kubeconfig that leads through the gate. */
  readonly kubeconfigFor: (user: string) => Promise<string>;
  /** Stops a matching request before or after the API server has it. */
  readonly hold: (rule: HoldRule) => Hold;
  readonly stop: () => Promise<void>;
}

/** Opens a gate with the API server's own certificate, so that its clients see no difference. */
export async function openKubernetesGate(plane: ControlPlane): Promise<KubernetesGate> {
  const [cert, key] = await Promise.all(
    ['apiserver.crt', 'apiserver.key'].map((file) => readFile(join(plane.dir, 'certificates', file))),
  );
  const faults = new Faults();
  const writes: GateWrite[] = [];
  const agent = new Agent({ keepAlive: true, ca: cert });

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/' } = request;
    const path = url.split('?', 1)[0] ?? '/';
    const body = await buffer(request);
    const incoming = { method, path, body: body.toString() };
    let gone = false;
    response.on('close', () => {
      gone = true;
    });
    const holds = faults.stopping(incoming);
    if ((await waitAt(holds, 'before', incoming)) === 'break') return void request.socket.destroy();
    if (gone) return;
    const answer = await forward(method, url, request.headers, body);
    if (method !== 'GET') {
      writes.push({ at: new Date().toISOString(), ...incoming, status: answer.status });
    }
    if ((await waitAt(holds, 'after', incoming)) === 'break') return void request.socket.destroy();
    response.writeHead(answer.status, answer.headers).end(answer.body);
  };
  const forward = async (
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    body: Buffer,
  ): Promise<{ status: number; headers: OutgoingHttpHeaders; body: Buffer }> => {
    const { host: _gate, ...rest } = headers;
    const outgoing = httpsRequest(new URL(path, plane.url), { method, headers: rest, agent });
    outgoing.end(body);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    const { 'transfer-encoding': _chunked, ...answered } = answer.headers;
    return { status: answer.statusCode ?? 500, headers: answered, body: await buffer(answer) };
  };

  // A client that is held up for seconds may send its next request while an idle connection is being closed.
  const server = createServer({ cert, key, keepAliveTimeout: 0 }, (request, response) => {
    // A broken connection on either side is a broken connection on the other.
    pass(request, response).catch(() => request.socket.destroy());
  });
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    writes,
    kubeconfigFor: async (user) => {
      const file = plane.kubeconfigFor(user);
      const content = parse(await readFile(file, 'utf8')) as { clusters: { cluster: { server: string } }[] };
      for (const { cluster } of content.clusters) cluster.server = `https://127.0.0.1:${port}`;
      const copy = file.replace(/\.kubeconfig$/, '.gate.kubeconfig');
      await writeFile(copy, stringify(content), { mode: 0o600 });
      return copy;
    },
    hold: (rule) => faults.hold(rule),
    stop: async () => {
      faults.clear();
      const closed = once(server, 'close');
      server.close();
      // Those too that are still in their handshake, of which the server of HTTP does not know yet.
      for (const socket of sockets) socket.destroy();
      await closed;
      agent.destroy();
    },
  };
}
