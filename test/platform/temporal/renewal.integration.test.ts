/** Certificates and an API key for Temporal that are replaced while a client and a worker run. */
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../../platform/log/log.ts';
import { connectClient } from '../../../platform/temporal/temporal.ts';
import { connectWorker } from '../../../platform/temporal/worker-connection.ts';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { loadConfig } from '../../../starter/config.ts';
import { startTemporal, type TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { forgetRuntime, installRuntime } from '../process/sdk-runtime.ts';
import { type Admitted, type Gateway, startGateway } from './gateway.ts';

const TASK_QUEUE = 'renewed';

let dir: string;
let server: TemporalServer;
let gateway: Gateway;
const lines: string[] = [];
const log = createLog({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
const stopping = new AbortController();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'headroom-renewal-'));
  server = await startTemporal();
  await installRuntime(log);
  const authority = await issueAuthority(Date.now());
  await writeFile(join(dir, 'ca.crt'), authority.certificate);
  const admitted = await nextCredentials('first-key');
  await write(admitted);
  gateway = await startGateway(server.address, await issueServer('127.0.0.1', authority, Date.now()), admitted);
});
afterAll(async () => {
  stopping.abort(new Error('the test is over'));
  await gateway?.stop();
  await forgetRuntime();
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

type Credentials = Admitted & Awaited<ReturnType<typeof issueAuthority>>;

/** A certificate that vouches for itself does as a client's. */
async function nextCredentials(apiKey: string): Promise<Credentials> {
  const pair = await issueAuthority(Date.now());
  return { ...pair, apiKey, fingerprint256: new X509Certificate(pair.certificate).fingerprint256 };
}

async function write({ certificate, key, apiKey }: Credentials): Promise<void> {
  await writeFile(join(dir, 'client.crt'), certificate);
  await writeFile(join(dir, 'client.key'), key);
  await writeFile(join(dir, 'api-key'), `${apiKey}\n`);
}

it('are taken over by the client and by a worker that runs', async () => {
  const env = {
    CLUSTER_NAME: 'kind',
    HOME: dir,
    TEMPORAL_ADDRESS: gateway.address,
    TEMPORAL_API_KEY_FILE: join(dir, 'api-key'),
    TEMPORAL_TLS_CLIENT_CERT_PATH: join(dir, 'client.crt'),
    TEMPORAL_TLS_CLIENT_KEY_PATH: join(dir, 'client.key'),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(dir, 'ca.crt'),
  };
  const target = loadConfig({ env, argv: [] }).temporal;
  const options = { log, signal: stopping.signal };
  const client = await connectClient(target, { ...options, identity: 'test' });
  const workers = await connectWorker(target, options);
  const worker = await workers.createWorker({ taskQueue: TASK_QUEUE, activities: { look: () => 'seen' } });
  const running = worker.run();
  const direct = await Connection.connect({ address: server.address });
  try {
    const describe = async () => await client.connection.workflowService.describeNamespace({ namespace: 'default' });
    const polledAt = async (): Promise<number> => {
      const { pollers } = await direct.workflowService.describeTaskQueue({
        namespace: 'default',
        taskQueue: { name: TASK_QUEUE },
        // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- TASK_QUEUE_TYPE_ACTIVITY; the enum's package is not ours
        taskQueueType: 2,
      });
      return Math.max(0, ...(pollers ?? []).map(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000));
    };
    await describe();
    await eventually('the worker polls', async () => (await polledAt()) > 0);

    const next = await nextCredentials('second-key');
    gateway.admit(next);
    await expect(describe()).rejects.toThrow(/not admitted|UNAVAILABLE|CANCELLED|INTERNAL/);
    const replacedAt = Date.now();
    await write(next);
    await eventually('the client is admitted again', async () =>
      describe().then(
        () => true,
        () => false,
      ),
    );
    // The moment of the last poll is in whole seconds.
    await eventually('the worker polls again', async () => (await polledAt()) > replacedAt + 1000);
    const both = (): boolean => lines.filter((line) => line.includes('were replaced, and are in use')).length === 2;
    await eventually('the log has it, once for each of them', () => Promise.resolve(both()));
  } finally {
    await direct.close();
    worker.shutdown();
    await running;
    await workers.close();
    await client.connection.close();
  }
});
