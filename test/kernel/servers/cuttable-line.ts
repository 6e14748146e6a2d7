import { readFile, writeFile } from 'node:fs/promises';
import { createServer, connect as connectTo, type Socket } from 'node:net';

/** A line to a server on 127.0.0.1 that can be cut: a network that fails between two healthy ends. */
export interface CuttableLine {
  readonly port: number;
  /** Breaks every connection and refuses new ones. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

/** Forwards a free port of 127.0.0.1 to another one, byte by byte. */
export async function startLine(toPort: number): Promise<CuttableLine> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = connectTo(toPort, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  const hangUp = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port,
    cut: () => {
      isCut = true;
      hangUp();
    },
    mend: () => {
      isCut = false;
    },
    stop: async () => {
      hangUp();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** A copy of a kubeconfig that goes through a line. */
export async function kubeconfigThrough(line: Pick<CuttableLine, 'port'>, kubeconfig: string): Promise<string> {
  const through = `${kubeconfig}.${line.port}`;
  const text = await readFile(kubeconfig, 'utf8');
  await writeFile(through, text.replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, `https://127.0.0.1:${line.port}`), {
    mode: 0o600,
  });
  return through;
}
