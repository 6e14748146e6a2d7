/** Traces that begin with a command of a person. */
import { redactor } from '../../platform/log/log.ts';
import { release } from '../../platform/process/release.ts';
import type { Tracing } from '../../platform/tracing/interface.ts';
import { startTracing } from '../../platform/tracing/tracing.ts';
import type { Config } from '../config.ts';
import { warningsLog } from './warnings-log.ts';

/** How long a command that has its answer waits for a collector that is away, in milliseconds. */
const COLLECTOR_MS = 2_000;

/** Null where nothing is traced, as in the plugin of kubectl: it is one file, and OpenTelemetry is another one. */
export async function startCommandTracing({ tracing, kubernetes, secrets }: Config): Promise<Tracing | null> {
  const target = tracing && { ...tracing, timeoutMs: Math.min(tracing.timeoutMs, COLLECTOR_MS) };
  const given = { service: 'headroom-cli', release, cluster: kubernetes.clusterName, redact: redactor(secrets) };
  // Its log is dropped: whoever gave the command wants to know what it did, and not whether its trace arrived.
  return await startTracing(target, { ...given, log: warningsLog([]) }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  });
}
