import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  isGrpcServiceError,
} from '@temporalio/client';
import { untilAvailable, type WaitOptions, watchAvailability } from '../process/availability.ts';
import type { TemporalTarget } from './temporal-profile.ts';

/** gRPC status codes that this file tells apart. */
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

// The channel tries again by itself within an attempt and says why only at its end, so attempts are short.
const CONNECT_MS = 3_000;
const REQUEST_MS = 10_000;
/** A server that was there answers at once, or readiness should say so. */
const CHECK_MS = 3_000;

/** What a client's connection to the target needs, with a limit on the first connect in milliseconds. */
export function clientConnectionOptions(target: TemporalTarget, connectTimeoutMs: number): ConnectionOptions {
  const { address, tls, apiKey, metadata } = target.connection.reveal();
  return {
    ...(address === undefined ? {} : { address }),
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
    connectTimeout: connectTimeoutMs,
  };
}

/**
 * A client of the target's namespace, once Temporal answers and the namespace exists; until then it says what it waits
 * for and tries again. Close it with `client.connection.close()`.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function connectClient(
  target: TemporalTarget,
  options: WaitOptions & { identity: string },
): Promise<Client> {
  return await untilAvailable(
    `Temporal at ${target.address}`,
    async () => {
      const connection = Connection.lazy(clientConnectionOptions(target, CONNECT_MS));
      try {
        await connection.ensureConnected();
        await requireNamespace(connection, target.namespace);
      } catch (error) {
        await connection.close();
        throw error;
      }
      return new Client({ connection, namespace: target.namespace, identity: options.identity });
    },
    (error) => temporalReason(error, target.namespace),
    options,
  );
}

/** Goes on looking whether Temporal answers, for the readiness of the process. */
export async function watchTemporal(target: TemporalTarget, client: Client, options: WaitOptions): Promise<void> {
  await watchAvailability(
    `Temporal at ${target.address}`,
    async () => await requireNamespace(client.connection, target.namespace, CHECK_MS),
    (error) => temporalReason(error, target.namespace),
    options,
  );
}

/** @throws what Temporal answers where the namespace is not there or cannot be asked about. */
export async function requireNamespace(
  connection: ConnectionLike,
  namespace: string,
  withinMs = REQUEST_MS,
): Promise<void> {
  try {
    await connection.withDeadline(Date.now() + withinMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } catch (error) {
    // A key that may run workflows need not be one that may describe the namespace.
    if (grpcCode(error) === PERMISSION_DENIED) return;
    throw error;
  }
}

/** The gRPC status code of an answer that is an error. */
function grpcCode(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}

/** One line from an error of Temporal's client or of its core. */
export function temporalReason(error: unknown, namespace: string): string {
  const code = grpcCode(error);
  if (code === NOT_FOUND) return `the namespace "${namespace}" does not exist: create it, or set TEMPORAL_NAMESPACE`;
  // Until its deadline the client tries again by itself; the message then is about the last of its filters.
  if (code === DEADLINE_EXCEEDED) return 'it did not answer in time';
  if (code === UNAUTHENTICATED) return 'it does not accept the API key or the certificate';
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith('Failed to connect before the deadline')) return `no connection within ${CONNECT_MS / 1000} s`;
  // The core prints its nested errors; the innermost one, in quotes, is what happened.
  if (/^tonic::|: Status \{/.test(message))
    return (
      message
        .match(/"[^"]+"/g)
        ?.at(-1)
        ?.slice(1, -1) ?? message
    );
  return message.split('\n', 1)[0] ?? '';
}
