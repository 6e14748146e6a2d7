import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config.ts';
import { clientConnectionOptions } from '../../platform/temporal/temporal.ts';
import { asRoot } from '../../platform/tracing/tracing.ts';

/** How long a command waits for Temporal: a person is waiting too. */
const CONNECT_MS = 5_000;

/** Temporal cannot be reached; the message says where it was looked for. */
export class TemporalUnreachable extends Error {
  override readonly name = 'TemporalUnreachable';
}

/**
 * Runs one command with a client, and closes the connection afterwards.
 *
 * @param change the name of what the command has a workflow do: it begins a trace. Absent for a command that only reads.
 * @throws {TemporalUnreachable} at once, without the retries of long-running processes.
 */
export async function withClient<T>(
  config: Config,
  run: (client: Client) => Promise<T>,
  change: string | null = null,
): Promise<T> {
  const { temporal } = config;
  const isTraced = change !== null && config.tracing !== null;
  // What it loads takes its time, which most commands need not wait for.
  const tracing = isTraced ? await (await import('./command-tracing.ts')).startCommandTracing(config) : null;
  let connection: Connection;
  try {
    connection = await Connection.connect(clientConnectionOptions(temporal.connection.reveal(), CONNECT_MS));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new TemporalUnreachable(
      `Temporal cannot be reached at ${temporal.place}: ${reason}. Set TEMPORAL_ADDRESS, or start Temporal.`,
    );
  }
  const interceptors = { workflow: [...(tracing?.ofClient ?? [])] };
  const client = new Client({ connection, namespace: temporal.namespace, identity: 'headroom-cli', interceptors });
  const attributes = { 'headroom.cluster': config.kubernetes.clusterName };
  try {
    return await asRoot(tracing, { name: `Command:${change}`, attributes }, async () => await run(client));
  } finally {
    await Promise.all([tracing?.stop(), connection.close()]);
  }
}
