import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  isGrpcServiceError,
} from '@temporalio/client';
import { untilAvailable, type WaitOptions, watchAvailability } from '../process/availability.ts';
import { repeatUntilClosed } from './closed-connection.ts';
import { RenewableConnection } from './renewable-connection.ts';
import { type Credentials, keepRenewed } from './renewal.ts';
import type { Tracing } from '../tracing/interface.ts';
import type { TemporalTarget } from './temporal-target.ts';

/** gRPC status codes that this file tells apart. */
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const PERMISSION_DENIED = 7;
const UNAUTHENTICATED = 16;

// Within an attempt the channel retries by itself and reports the reason only at the end, so attempts are short.
const CONNECT_MS = 3_000;
const REQUEST_MS = 10_000;
/** An available server responds within this time; otherwise the process is not ready. */
const CHECK_MS = 3_000;

/** The options for a client's connection, with a time limit for the first connect in milliseconds. */
export function clientConnectionOptions(
  { address = DEFAULT_ADDRESS, tls, apiKey, metadata, proxy }: Credentials,
  connectTimeoutMs: number,
): ConnectionOptions {
  return {
    ...routeTo(address, proxy),
    ...(tls === undefined ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata }),
    connectTimeout: connectTimeoutMs,
    interceptors: [...repeatUntilClosed()],
  };
}

const DEFAULT_ADDRESS = 'localhost:7233';
const DEFAULT_PORT = 7233;

/**
 * The client has no option for a proxy: its gRPC library reads variables of the environment itself, by rules of its own, and
 * passes what it found to its connections by these arguments. Here they say what was decided for all connections alike.
 */
function routeTo(address: string, proxy: Credentials['proxy']): Pick<ConnectionOptions, 'address' | 'channelArgs'> {
  const ownRules = { 'grpc.enable_http_proxy': 0 };
  if (proxy === undefined) return { address, channelArgs: ownRules };
  const target = /:\d+$/.test(address) ? address : `${address}:${DEFAULT_PORT}`;
  const { targetHost, basicAuth } = proxy;
  return {
    address: targetHost,
    channelArgs: {
      ...ownRules,
      'grpc.http_connect_target': `dns:${target}`,
      'grpc.default_authority': target,
      ...(basicAuth === undefined ? {} : { 'grpc.http_connect_creds': `${basicAuth.username}:${basicAuth.password}` }),
    },
  };
}

/**
 * A client of the namespace, once Temporal responds and the namespace exists; until then the reason is logged and the
 * attempt repeated. Until the process stops it goes on with certificates and an API key that were replaced. Close it with
 * `client.connection.close()`.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function connectClient(
  target: TemporalTarget,
  options: WaitOptions & { readonly identity: string; readonly tracing?: Pick<Tracing, 'ofClient'> | null },
): Promise<Client> {
  const { namespace } = target;
  const reasonOf = (error: unknown): string => temporalReason(error, namespace);
  const { used, opened } = await untilAvailable(
    `Temporal at ${target.place}`,
    async () => {
      const credentials = target.connection.reveal();
      return { used: credentials, opened: await openConnection(credentials, namespace) };
    },
    reasonOf,
    options,
  );
  const connection = new RenewableConnection(opened);
  const takeOver = async (credentials: Credentials): Promise<void> =>
    await connection.replace(await openConnection(credentials, namespace));
  void keepRenewed(target, takeOver, reasonOf, { ...options, used });
  const workflow = [...(options.tracing?.ofClient ?? [])];
  return new Client({ connection, namespace, identity: options.identity, interceptors: { workflow } });
}

async function openConnection(credentials: Credentials, namespace: string): Promise<Connection> {
  const connection = Connection.lazy(clientConnectionOptions(credentials, CONNECT_MS));
  try {
    await connection.ensureConnected();
    await requireNamespace(connection, namespace);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

/** Keeps checking that Temporal responds, for the readiness of the process. */
export async function watchTemporal(target: TemporalTarget, client: Client, options: WaitOptions): Promise<void> {
  await watchAvailability(
    `Temporal at ${target.place}`,
    async () => await requireNamespace(client.connection, target.namespace, CHECK_MS),
    (error) => temporalReason(error, target.namespace),
    options,
  );
}

/** @throws Temporal's error when the namespace does not exist or cannot be read. */
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
    // An API key that may run workflows may lack the permission to describe the namespace.
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
  // Until its deadline the client retries by itself, and its message is only about the last filter.
  if (code === DEADLINE_EXCEEDED) return 'it did not answer in time';
  if (code === UNAUTHENTICATED) return 'it does not accept the API key or the certificate';
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith('Failed to connect before the deadline')) return `no connection within ${CONNECT_MS / 1000} s`;
  const [line = ''] = message.split('\n', 1);
  // The core prints nested errors; the innermost one, in quotes or in the last parentheses, is the cause. A trace may follow it.
  if (!/^tonic::|: Status \{/.test(line)) return line;
  const quoted = line
    .match(/"[^"]+"/g)
    ?.at(-1)
    ?.slice(1, -1);
  return quoted ?? /\(([^()]+)\)*$/.exec(line)?.[1] ?? line;
}
