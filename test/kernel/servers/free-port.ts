import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { ServerEndedEarly } from './readiness.ts';

/**
 * Ports from this range are never handed to outgoing connections (Linux does so from 32768, macOS from 49152), so a server
 * that is away for a while finds its port free when it comes back.
 */
const LOWEST_PORT = 18_000;
const HIGHEST_PORT = 32_000;
/**
 * Each of the processes in which Vitest runs files has ports of its own: the port of a server that is killed and comes back
 * looks free in between, and is nobody else's to take.
 */
const SLICES = 8;
const SLICE = (HIGHEST_PORT - LOWEST_PORT) / SLICES;
const LOWEST_OF_OWN = LOWEST_PORT + (Number(process.env['VITEST_POOL_ID'] ?? 0) % SLICES) * SLICE;
/**
 * One after the other, and round: a port that is given away looks free for the seconds until its server listens, and to
 * draw it again meanwhile would happen to one start of servers in a few hundred. Programs that a process starts have its
 * slice too, so each begins anywhere in it.
 */
let offset = randomInt(SLICE);

/** Another process may take a port between this check and the server's own bind, but not five times in a row. */
const ATTEMPTS = 5;

/** A TCP port on 127.0.0.1 that nothing listens on at this moment, and that this program has not been given lately. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST_OF_OWN + offset;
    offset = (offset + 1) % SLICE;
    if (await canListen(port)) {
      return port;
    }
  }
}

/** Whether nobody listens there yet. */
export async function canListen(port: number, address = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, address);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/**
 * Starts a server on free ports, and on others if somebody took one of them first.
 * @param start starts the server; it rejects with ServerEndedEarly if the server ends before it is ready.
 */
export async function onFreePorts<Started>(start: () => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start();
    } catch (error) {
      if (attempt < ATTEMPTS && error instanceof ServerEndedEarly && error.portTaken) {
        continue;
      }
      throw error;
    }
  }
}
