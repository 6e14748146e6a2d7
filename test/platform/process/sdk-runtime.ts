/** The runtime of the SDK's core, which is one for the whole process: an earlier file may have left one, and a later one may want it. */
import { Runtime } from '@temporalio/worker';
import type { Log } from '../../../platform/log/log.ts';
import { runtimeOptions } from '../../../platform/temporal/worker-connection.ts';
import { freePort } from '../../kernel/servers/free-port.ts';

/**
 * Puts a runtime as the worker's in place of what is there. It ends with the last connection and with each that cannot be made,
 * and the next one makes it anew on the same port.
 *
 * @returns `host:port` of its metrics.
 */
export async function installRuntime(log: Log, buckets?: Record<string, number[]>): Promise<string> {
  // Of those that no connection of the machine is given meanwhile.
  const address = `127.0.0.1:${await freePort()}`;
  await Runtime.instance().shutdown();
  Runtime.install(runtimeOptions(log, { address, ...(buckets === undefined ? {} : { buckets }) }));
  return address;
}

/** Ends the runtime; the next one is as the SDK makes it by itself, and takes no port. */
export async function forgetRuntime(): Promise<void> {
  await Runtime.instance().shutdown();
  Runtime.install({});
  await Runtime.instance().shutdown();
}
