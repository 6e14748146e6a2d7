/** A proxy as companies have it: it opens tunnels to hosts that are named, for who knows its password, and refuses the rest. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

const PROXY_USER = 'headroom@acme';
export const PROXY_PASSWORD = 'let:me/through-42';

export interface ConnectProxy {
  /** With the credentials. */
  readonly url: string;
  /** What it was asked for, `CONNECT host:port 200` or with the status that it refused it with. */
  readonly asked: readonly string[];
  /** A target that may be reached from now on, and the port of 127.0.0.1 that it is: no name needs to exist. */
  readonly allow: (target: string, port: number) => void;
  readonly stop: () => Promise<void>;
}

/** Listens on 127.0.0.1. */
export async function startConnectProxy(): Promise<ConnectProxy> {
  const asked: string[] = [];
  const targets = new Map<string, number>();
  const sockets = new Set<Socket>();
  const expected = `Basic ${Buffer.from(`${PROXY_USER}:${PROXY_PASSWORD}`).toString('base64')}`;
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} 405`);
    response.writeHead(405).end();
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('connect', (request, socket: Socket) => {
    const port = targets.get(request.url ?? '');
    const isKnown = request.headers['proxy-authorization'] === expected;
    const status = isKnown ? (port === undefined ? 403 : 200) : 407;
    asked.push(`CONNECT ${request.url} ${status}`);
    socket.on('error', () => socket.destroy());
    if (!isKnown || port === undefined) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    tunnel(socket, port, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const credentials = `${encodeURIComponent(PROXY_USER)}:${encodeURIComponent(PROXY_PASSWORD)}`;
  return {
    url: `http://${credentials}@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    allow: (target, port) => void targets.set(target, port),
    stop: async () => {
      server.close();
      // A tunnel is no connection of the server's any more.
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

export interface TlsFront {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** A listener on 127.0.0.1 that takes TLS, and passes on what is in it to a port of 127.0.0.1. */
export async function startTlsFront(
  pair: { readonly certificate: string; readonly key: string },
  port: number,
  protocol: 'h2' | 'http/1.1',
): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: pair.certificate, key: pair.key, ALPNProtocols: [protocol] }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    tunnel(socket, port, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

function tunnel(socket: Socket, port: number, onOpen: () => void): void {
  const target = connect(port, '127.0.0.1', () => {
    onOpen();
    target.pipe(socket).pipe(target);
  });
  target.on('error', () => socket.destroy());
  target.once('close', () => socket.destroy());
  socket.once('close', () => target.destroy());
}
