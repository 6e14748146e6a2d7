import { readFile } from 'node:fs/promises';
import type { SupervisedProcess } from '../servers/supervised-process.ts';

/** Milliseconds: a process that does not tell its metrics for so long does not run any more. */
const METRICS_WITHIN_MS = 30_000;

/** What a process tells Prometheus now. */
export async function metricsOf({ logFile }: SupervisedProcess): Promise<string> {
  const [, url] = /"metrics":"([^"]+)"/.exec(await readFile(logFile, 'utf8')) ?? [];
  // The worker says it with the path, the starter without.
  const metrics = new URL('/metrics', url);
  // A kept connection is closed by the process after five seconds, perhaps in the moment in which it is used again.
  const headers = { connection: 'close' };
  return await (await fetch(metrics, { headers, signal: AbortSignal.timeout(METRICS_WITHIN_MS) })).text();
}
