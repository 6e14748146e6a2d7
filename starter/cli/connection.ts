import { Client, Connection } from '@temporalio/client';
import type { Config } from '../config.ts';
import { clientConnectionOptions } from '../../platform/temporal/temporal.ts';

/** How long a command waits for Temporal: a person is waiting too. */
const CONNECT_MS = 5_000;

/** Temporal cannot be reached; the message says where it was looked for. */
export class TemporalUnreachable extends Error {
  override readonly name = 'TemporalUnreachable';
}

/**
 * Runs one command with a client, and closes the connection afterwards.
 *
 * @throws {TemporalUnreachable} at once, without the retries of long-running processes.
 */
export async function withClient<T>({ temporal }: Config, run: (client: Client) => Promise<T>): Promise<T> {
  let connection: Connection;
  try {
    connection = await Connection.connect(clientConnectionOptions(temporal.connection.reveal(), CONNECT_MS));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new TemporalUnreachable(
      `Temporal cannot be reached at ${temporal.place}: ${reason}. Set TEMPORAL_ADDRESS, or start Temporal.`,
    );
  }
  try {
    return await run(new Client({ connection, namespace: temporal.namespace, identity: 'headroom-cli' }));
  } finally {
    await connection.close();
  }
}
