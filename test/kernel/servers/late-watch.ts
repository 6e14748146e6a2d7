import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { kubeconfigThrough } from './cuttable-line.ts';

/** A way to the API server on which one resource's watch is late, as on a server or a network that is busy. */
export interface LateWatch {
  /** The path of a copy of a user's kubeconfig that leads this way. */
  readonly kubeconfigFor: (user: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/**
 * Passes everything on as it is, and the watches of a path some milliseconds later.
 *
 * @param path of the collection, such as `/api/v1/pods`.
 */
export async function openLateWatch(plane: ControlPlane, path: string, byMs: number): Promise<LateWatch> {
  const [cert, key] = await Promise.all(
    ['apiserver.crt', 'apiserver.key'].map((file) => readFile(join(plane.dir, 'certificates', file))),
  );
  const agent = new Agent({ keepAlive: false, ca: cert });
  const server = createServer({ cert, key }, (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const { pathname, searchParams } = new URL(url, plane.url);
    const lateMs = pathname === path && searchParams.has('watch') ? byMs : 0;
    // Timers of one length run in the order in which they were set.
    const later = (step: () => void): void => void setTimeout(step, lateMs);
    const { host: _own, ...passed } = headers;
    const outgoing = httpsRequest(new URL(url, plane.url), { method, headers: passed, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('data', (chunk) => later(() => response.write(chunk)));
      answer.on('end', () => later(() => response.end()));
      answer.on('error', () => response.destroy());
    });
    // A broken connection on either side is a broken connection on the other.
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    request.pipe(outgoing);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfigFor: async (user) => await kubeconfigThrough({ port }, plane.kubeconfigFor(user)),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      agent.destroy();
    },
  };
}
