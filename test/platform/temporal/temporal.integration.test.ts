import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { loadConfig } from '../../../starter/config.ts';
import { createLog } from '../../../platform/log/log.ts';
import {
  ensureSearchAttributes,
  SEARCH_ATTRIBUTES,
  SearchAttributesError,
} from '../../../platform/temporal/search-attributes.ts';
import { connectClient } from '../../../platform/temporal/temporal.ts';
import { connectWorker } from '../../../platform/temporal/worker-connection.ts';
import { resolveServer } from '../../../tools/resolver/resolve-server.ts';
import { startConnectProxy, startTlsFront } from '../../kernel/servers/connect-proxy.ts';
import { startTemporal, type TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { forgetRuntime, installRuntime } from '../process/sdk-runtime.ts';
import { type OperatorGate, startOperatorGate } from './gateway.ts';

let server: TemporalServer;
let metrics: string;
const sdkLines: string[] = [];

beforeAll(async () => {
  server = await startTemporal({ addsSearchAttributes: true });
  const log = createLog({ name: 'sdk', level: 'trace', destination: { write: (line) => void sdkLines.push(line) } });
  metrics = await installRuntime(log);
});
afterAll(async () => {
  await forgetRuntime();
  await server?.stop();
});

function target(namespace = 'default', more: Readonly<Record<string, string>> = {}) {
  const env = {
    CLUSTER_NAME: 'kind',
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: namespace,
    HOME: '/nonexistent',
    ...more,
  };
  return loadConfig({ env, argv: [] }).temporal;
}

function recorded() {
  const messages: string[] = [];
  const write = (line: string): void => void messages.push((JSON.parse(line) as { msg: string }).msg);
  return { messages, log: createLog({ name: 'worker', level: 'info', destination: { write } }) };
}

async function registerNamespace(namespace: string): Promise<void> {
  const connection = await Connection.connect({ address: server.address });
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await connection.close();
}

const signal = (): AbortSignal => AbortSignal.timeout(90_000);

describe('connecting to Temporal', () => {
  it('waits while it is away, says so, and goes on when it is back: client and worker', async () => {
    await server.kill();
    const { log, messages } = recorded();
    const waiting = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const options = (index: 0 | 1) => ({
      log,
      signal: signal(),
      onWait: (reason: string | undefined) => waiting[index].resolve(reason ?? ''),
    });
    const client = connectClient(target(), { ...options(0), identity: 'test' });
    const worker = connectWorker(target(), options(1));
    const prefix = `waiting for Temporal at ${server.address}: `;
    // Whoever does not wait has connected or given up, and says so.
    const first = async (index: 0 | 1, connecting: Promise<unknown>) =>
      await Promise.race([waiting[index].promise, connecting.then(() => 'connected')]);
    expect(await first(0, client)).toBe(`${prefix}no connection within 3 s`);
    expect(await first(1, worker)).toBe(`${prefix}Connection refused`);
    await server.restart();
    await (await client).connection.close();
    await (await worker).close();
    expect(messages[0]).toMatch(/^waiting for Temporal at 127\.0\.0\.1:\d+: .+/);
    expect(messages.at(-1)).toMatch(/is there after \d+ s$/);
  });

  it('waits while it is away between the connection of a worker and its workers', async () => {
    const { log, messages } = recorded();
    const waiting = Promise.withResolvers<string>();
    const onWait = (reason: string | undefined): void => {
      if (reason !== undefined) waiting.resolve(reason);
    };
    const connection = await connectWorker(target(), { log, signal: signal(), onWait });
    await server.kill();
    const creating = connection.createWorker({ taskQueue: 'away', activities: { nothing: async () => {} } });
    const first = await Promise.race([waiting.promise, creating.then(() => 'created')]);
    expect(first).toBe(`waiting for Temporal at ${server.address}: Connection refused`);
    await server.restart();
    const worker = await creating;
    expect(messages.at(-1)).toMatch(/is there after \d+ s$/);
    await worker.runUntil(Promise.resolve());
    await connection.close();
  });

  it('gives up at once where the options of a worker are wrong', async () => {
    const { log, messages } = recorded();
    const connection = await connectWorker(target(), { log, signal: signal() });
    // Since no connection was left, the SDK starts its metrics again, for which it may wait until their port is free.
    const before = messages.length;
    await expect(connection.createWorker({ taskQueue: '' })).rejects.toThrow('Task queue name is required');
    expect(messages.slice(before)).toEqual([]);
    await connection.close();
  });

  it('waits for a namespace that does not exist, by its name', async () => {
    const { log } = recorded();
    const reasons: string[] = [];
    const connecting = connectClient(target('team-x'), {
      log,
      signal: signal(),
      identity: 'test',
      onWait: (why) => reasons.push(why ?? ''),
    });
    const words = 'the namespace "team-x" does not exist: create it, or set TEMPORAL_NAMESPACE';
    // Not always at first: an attempt to connect has three seconds, which are too few on a busy machine at times.
    await eventually(
      () => `it says ${words}, not ${reasons.join('; ')}`,
      () => reasons.some((why) => why.includes(words)),
    );
    await registerNamespace('team-x');
    const client = await connecting;
    expect(client.options.namespace).toBe('team-x');
    await client.connection.close();
  });

  it('ends when the process is to stop', async () => {
    const { log } = recorded();
    const controller = new AbortController();
    const connecting = connectWorker(target('nowhere'), {
      log,
      signal: controller.signal,
      onWait: () => controller.abort(new Error('stopping')),
    });
    await expect(connecting).rejects.toThrow('stopping');
  });
});

describe('the search attributes', () => {
  async function clientOf(namespace: string): Promise<Client> {
    const { log } = recorded();
    return await connectClient(target(namespace), { log, signal: signal(), identity: 'test' });
  }

  it('are registered once, also by two processes at once, and can be used at once', async () => {
    await registerNamespace('fresh');
    const { log, messages } = recorded();
    const clients = await Promise.all([clientOf('fresh'), clientOf('fresh')]);
    await Promise.all(clients.map((client) => ensureSearchAttributes(client, target(), { log, signal: signal() })));
    const [client] = clients;
    await client.workflow.start('any', {
      taskQueue: 'none',
      workflowId: 'with-attributes',
      searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, ['x']])),
    });
    const registered = messages.length;
    expect(registered).toBeGreaterThan(0);
    await ensureSearchAttributes(client, target(), { log, signal: signal() });
    expect(messages.length).toBe(registered);
    await Promise.all(clients.map(({ connection }) => connection.close()));
  });

  it('of another type are refused by name', async () => {
    await registerNamespace('other-type');
    const client = await clientOf('other-type');
    const INT = 3;
    await client.connection.operatorService.addSearchAttributes({
      namespace: 'other-type',
      searchAttributes: Object.fromEntries([['HeadroomPhase', INT]]),
    });
    const { log } = recorded();
    const ensuring = ensureSearchAttributes(client, target('other-type'), { log, signal: signal() });
    await expect(ensuring).rejects.toThrow(SearchAttributesError);
    await expect(ensuring).rejects.toThrow('has HeadroomPhase with another type than Keyword');
    await client.connection.close();
  });
});

describe('the search attributes of a namespace in which Headroom may add none', () => {
  const ALL = ['HeadroomController', 'HeadroomTarget', 'HeadroomPhase', 'HeadroomCluster'];
  let gate: OperatorGate;
  beforeAll(async () => {
    gate = await startOperatorGate(server.address);
  });
  afterAll(async () => await gate?.stop());

  /** What a process ends with. */
  async function refusal(where: ReturnType<typeof target>): Promise<string> {
    const { log } = recorded();
    const client = await connectClient(where, { log, signal: signal(), identity: 'test' });
    try {
      const error: unknown = await ensureSearchAttributes(client, where, { log, signal: signal() }).catch(
        (thrown: unknown) => thrown,
      );
      return error instanceof SearchAttributesError ? error.message : `${String(error)}, which is no refusal`;
    } finally {
      await client.connection.close();
    }
  }

  it('are created by the command that it names, which an administrator can type as it is', async () => {
    await registerNamespace('not-ours');
    const where = target('not-ours', { TEMPORAL_ADDRESS: gate.address });
    const message = await refusal(where);
    const flags = ALL.map((name) => `--name ${name} --type Keyword`).join(' ');
    const command = `temporal operator search-attribute create --address ${gate.address} --namespace not-ours ${flags}`;
    expect(message).toBe(
      `The Temporal namespace "not-ours" has no search attributes ${ALL.join(', ')}, and they cannot be created from here (not admitted). An administrator can: ${command}`,
    );
    gate.open();
    const [, ...args] = command.split(' ');
    await promisify(execFile)(await resolveServer('temporal'), args, { env: { HOME: '/nonexistent' } });
    const { log, messages } = recorded();
    const client = await connectClient(where, { log, signal: signal(), identity: 'test' });
    await ensureSearchAttributes(client, where, { log, signal: signal() });
    expect(messages).toEqual([]);
    await client.connection.close();
  });

  it('in Temporal Cloud are created by another command', async () => {
    await registerNamespace('headroom.a1b2c');
    const cloudGate = await startOperatorGate(server.address);
    const host = 'headroom.a1b2c.tmprl.cloud';
    const authority = await issueAuthority(Date.now());
    const pair = await issueServer(host, authority, Date.now());
    const front = await startTlsFront(pair, Number(cloudGate.address.split(':')[1]), 'h2');
    const proxy = await startConnectProxy();
    proxy.allow(`${host}:7233`, front.port);
    const dir = await mkdtemp(join(tmpdir(), 'headroom-cloud-'));
    await writeFile(join(dir, 'ca.pem'), authority.certificate);
    await writeFile(join(dir, 'api-key'), 'key-of-a-service-account\n');
    try {
      const env = {
        TEMPORAL_ADDRESS: `${host}:7233`,
        TEMPORAL_API_KEY_FILE: join(dir, 'api-key'),
        HTTPS_PROXY: proxy.url,
        HEADROOM_CA_FILE: join(dir, 'ca.pem'),
      };
      expect(await refusal(target('headroom.a1b2c', env))).toContain(
        `An administrator can: tcld namespace search-attributes add --namespace headroom.a1b2c ${ALL.map((name) => `--search-attribute ${name}=Keyword`).join(' ')}`,
      );
    } finally {
      await proxy.stop();
      await front.stop();
      await cloudGate.stop();
      await rm(dir, { recursive: true });
    }
  });
});

describe("the SDK's runtime", () => {
  it('serves its metrics on the given address and leaves the signals to the process', async () => {
    const { log } = recorded();
    const connection = await connectWorker(target(), { log, signal: signal() });
    const text = await (await fetch(`http://${metrics}/metrics`)).text();
    expect(text).toMatch(/^temporal_request_total\{/m);
    expect(process.listeners('SIGTERM').map(String).join()).not.toContain('startShutdownSequence');
    await connection.close();
  });
});
