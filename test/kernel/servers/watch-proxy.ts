import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import type { ControlPlane } from './control-plane.ts';
import { kubeconfigThrough } from './cuttable-line.ts';

/**
 * What becomes of a watch: its events come so many milliseconds later; not at all, with a connection that stays open; or the
 * connection breaks, and new ones too. What was held back comes, in order, when the watch is mended.
 */
export type Disturbance = { readonly lateMs: number } | 'silent' | 'cut';

/** A way to the API server on which single watches are disturbed while everything else passes as it is. */
export interface WatchProxy {
  /** The path of a copy of a user's kubeconfig that leads this way. */
  readonly kubeconfigFor: (user: string) => Promise<string>;
  /** @param path of the collection, such as `/api/v1/pods`. */
  readonly disturb: (path: string, how: Disturbance) => void;
  readonly mend: (path: string) => void;
  readonly stop: () => Promise<void>;
}

/** The watches of one path. */
class Watches {
  #how: Disturbance = { lateMs: 0 };
  readonly #open = new Set<ServerResponse>();
  /** What has come and is not passed on yet, in order. */
  readonly #waiting: { readonly cameAt: number; readonly pass: () => void }[] = [];
  #timer: NodeJS.Timeout | null = null;

  set(how: Disturbance): void {
    this.#how = how;
    if (how === 'cut') for (const response of this.#open) response.destroy();
    this.#passOn();
  }

  /** False while the connection is to break. */
  add(response: ServerResponse): boolean {
    if (this.#how === 'cut') return false;
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
    return true;
  }

  later(pass: () => void): void {
    this.#waiting.push({ cameAt: performance.now(), pass });
    this.#passOn();
  }

  #passOn(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const how = this.#how;
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (how === 'silent') return;
      const leftMs = how === 'cut' ? 0 : first.cameAt + how.lateMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.#passOn(), leftMs);
        return;
      }
      this.#waiting.shift();
      first.pass();
    }
  }
}

/** Opens a way with the API server's own certificate, so that its clients see no difference. */
export async function openWatchProxy(plane: ControlPlane): Promise<WatchProxy> {
  const [cert, key] = await Promise.all(
    ['apiserver.crt', 'apiserver.key'].map((file) => readFile(join(plane.dir, 'certificates', file))),
  );
  const agent = new Agent({ keepAlive: false, ca: cert });
  const paths = new Map<string, Watches>();
  const watchesOf = (path: string): Watches => {
    const watches = paths.get(path) ?? new Watches();
    paths.set(path, watches);
    return watches;
  };
  const server = createServer({ cert, key }, (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '/', headers } = request;
    const { pathname, searchParams } = new URL(url, plane.url);
    const watches = searchParams.has('watch') ? watchesOf(pathname) : null;
    if (watches?.add(response) === false) return void response.destroy();
    const pass = (step: () => void): void => (watches === null ? step() : watches.later(step));
    const { host: _own, ...passed } = headers;
    const outgoing = httpsRequest(new URL(url, plane.url), { method, headers: passed, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.on('data', (chunk) => pass(() => void (response.destroyed || response.write(chunk))));
      answer.on('end', () => pass(() => response.end()));
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
    disturb: (path, how) => watchesOf(path).set(how),
    mend: (path) => watchesOf(path).set({ lateMs: 0 }),
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      agent.destroy();
    },
  };
}
