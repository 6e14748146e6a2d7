import { mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { Connection } from '@temporalio/client';
import { resolveServer } from '../../../tools/resolver/resolve-server.ts';
import { freePort, onFreePorts } from './free-port.ts';
import { untilReady } from './readiness.ts';
import { type SupervisedProcess, startProcess, temporaryDirectory } from './supervised-process.ts';
import { goMemory } from './go-memory.ts';

/** The search attributes by which operators find Headroom's workflows. */
const SEARCH_ATTRIBUTES: Readonly<Record<string, SearchAttributeType>> = {
  HeadroomController: 'Keyword',
  HeadroomTarget: 'Keyword',
  HeadroomPhase: 'Keyword',
  HeadroomCluster: 'Keyword',
};

type SearchAttributeType = 'Text' | 'Keyword' | 'Int' | 'Double' | 'Bool' | 'Datetime' | 'KeywordList';

export interface TemporalOptions {
  /** A free port unless given. */
  readonly uiPort?: number;
  /** Where workflows are kept through `restart()`; in memory unless given. The file is the caller's to remove. */
  readonly dbFile?: string;
  /** `default` unless given. */
  readonly namespace?: string;
  /** Registered beside that one. */
  readonly moreNamespaces?: readonly string[];
  /** Registered beside Headroom's own four. */
  readonly searchAttributes?: Readonly<Record<string, SearchAttributeType>>;
  /** Search attributes that are registered while it runs can be used at once, and not only after a minute. Default: false. */
  readonly addsSearchAttributes?: boolean;
}

/** A running Temporal dev server, with its web UI. */
export interface TemporalServer {
  /** `127.0.0.1:PORT`, the same through every restart. */
  readonly address: string;
  /** `http://127.0.0.1:PORT`, the same through every restart. */
  readonly uiUrl: string;
  readonly namespace: string;
  readonly logFile: string;
  readonly pid: () => number;
  /** SIGKILL: the server is away until `restart()`. */
  readonly kill: () => Promise<void>;
  /** Starts it again, after ending it if it runs. With a `dbFile` every workflow is still there. */
  readonly restart: () => Promise<void>;
  /** Ends it for good and removes its files, apart from the `dbFile`. Calling it twice is fine. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a Temporal dev server on free ports of 127.0.0.1. It is ready when it has answered for its namespace.
 * @throws ServerUnavailable when the binary is nowhere and cannot be built; Error with the end of the log when it does not start.
 */
export async function startTemporal(options: TemporalOptions = {}): Promise<TemporalServer> {
  const binary = await resolveServer('temporal');
  const dir = await temporaryDirectory('temporal');
  if (options.dbFile !== undefined) {
    await mkdir(dirname(options.dbFile), { recursive: true });
  }
  const namespace = options.namespace ?? 'default';
  const logFile = join(dir, 'temporal.log');

  const launch = async (ports: Ports): Promise<SupervisedProcess> => {
    const server = await startProcess({
      name: 'temporal',
      command: binary,
      args: serverArguments(ports, namespace, options),
      cwd: dir,
      // The dev server notes an id in the home folder; two that start at once would share it, and it would stay.
      env: { ...goMemory(512), HOME: dir, XDG_CONFIG_HOME: dir },
      logFile,
    });
    try {
      // A client of gRPC whose first connection is refused comes back after a second, and then later and later.
      await untilReady(server, async () => (await listens(ports.frontend)) && (await answersFor(namespace, ports)));
    } catch (error) {
      await server.kill();
      throw error;
    }
    return server;
  };

  let { server, ports } = await onFreePorts(async () => {
    const ports: Ports = {
      frontend: await freePort(),
      ui: options.uiPort ?? (await freePort()),
      metrics: await freePort(),
      http: await freePort(),
    };
    return { server: await launch(ports), ports };
  });

  return {
    address: `127.0.0.1:${ports.frontend}`,
    uiUrl: `http://127.0.0.1:${ports.ui}`,
    namespace,
    logFile,
    pid: () => server.pid,
    kill: async () => {
      await server.kill();
    },
    restart: async () => {
      await server.stop();
      server = await launch(ports);
    },
    stop: async () => {
      await server.kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

interface Ports {
  readonly frontend: number;
  readonly ui: number;
  readonly metrics: number;
  readonly http: number;
}

function serverArguments(ports: Ports, namespace: string, options: TemporalOptions): string[] {
  const attributes = { ...SEARCH_ATTRIBUTES, ...options.searchAttributes };
  return [
    'server',
    'start-dev',
    '--ip=127.0.0.1',
    `--port=${ports.frontend}`,
    `--ui-port=${ports.ui}`,
    `--metrics-port=${ports.metrics}`,
    `--http-port=${ports.http}`,
    '--log-level=warn',
    // The settings of whoever runs the tests are not the test's settings.
    '--disable-config-file',
    '--disable-config-env',
    ...(namespace === 'default' ? [] : [`--namespace=${namespace}`]),
    ...(options.moreNamespaces ?? []).map((name) => `--namespace=${name}`),
    ...Object.entries(attributes).map(([name, type]) => `--search-attribute=${name}=${type}`),
    // A hundred episodes at once must not meet the limits (2,400 and 10 a second) that protect a shared namespace.
    '--dynamic-config-value=frontend.namespaceRPS=20000',
    '--dynamic-config-value=frontend.namespaceRPS.visibility=2000',
    // Priorities of tasks are behind this switch in server 1.29.
    '--dynamic-config-value=matching.useNewMatcher=true',
    // One partition of a task queue in place of four, which every poll and task would go through: for a handful of workers.
    '--dynamic-config-value=matching.numTaskqueueReadPartitions=1',
    '--dynamic-config-value=matching.numTaskqueueWritePartitions=1',
    // The dev server reads the search attributes anew for every request. Together with the partitions it is a sixth of its work.
    `--dynamic-config-value=system.forceSearchAttributesCacheRefreshOnRead=${options.addsSearchAttributes ?? false}`,
    ...(options.dbFile === undefined
      ? []
      : [
          `--db-filename=${options.dbFile}`,
          // Twice the throughput; what a killed server had committed is still there, since the machine goes on.
          '--sqlite-pragma=journal_mode=WAL',
          '--sqlite-pragma=synchronous=NORMAL',
        ]),
  ];
}

/** How long a server that listens may take to answer, in milliseconds, before it is asked anew. */
const ANSWER_MILLISECONDS = 10_000;

async function listens(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: ANSWER_MILLISECONDS });
  try {
    return await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('timeout', () => resolve(false));
      socket.once('error', () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

async function answersFor(namespace: string, { frontend }: Ports): Promise<boolean> {
  const connection = Connection.lazy({
    address: `127.0.0.1:${frontend}`,
    connectTimeout: ANSWER_MILLISECONDS,
    // A connection that failed before is not waited for.
    channelArgs: { 'grpc.use_local_subchannel_pool': 1 },
  });
  try {
    await connection.ensureConnected();
    // A call has no end of its own: one that came while the server was half up would be waited for, and not made again.
    await connection.withDeadline(Date.now() + ANSWER_MILLISECONDS, async () => {
      await connection.workflowService.describeNamespace({ namespace });
      await connection.workflowService.listWorkflowExecutions({
        namespace,
        query: "HeadroomPhase = 'ready'",
        pageSize: 1,
      });
    });
    return true;
  } finally {
    // Also where it never was one: it would try again for as long as this program runs.
    await connection.close();
  }
}
