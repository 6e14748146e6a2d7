/** What the client's gRPC says of itself, such as why a proxy refused a connection, in the log of the process. */
import { setLogger } from '@grpc/grpc-js';
import type { Log } from '../log/log.ts';

/** The same is said again with every attempt to connect, which may be every second. */
const SAID_AGAIN_MS = 60_000;

/** @param log absent: nothing is said, where whoever asked is told by what failed. */
export function useGrpcLog(log?: Pick<Log, 'warn'>): void {
  const said = new Map<string, number>();
  const say = (...words: readonly unknown[]): void => {
    const text = words.map(String).join(' ');
    const now = performance.now();
    if (log === undefined || now - (said.get(text) ?? Number.NEGATIVE_INFINITY) < SAID_AGAIN_MS) return;
    if (said.size > 100) said.clear();
    said.set(text, now);
    log.warn({ component: 'grpc' }, `the connection to Temporal: ${text}`);
  };
  setLogger({ error: say, info: say, debug: say });
}
