import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lightsOutId } from '../../../domain/lights-out/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { keepRunning } from '../../../starter/kernel/keep-running.ts';
import { type CuttableLine, startLine } from '../../kernel/servers/cuttable-line.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';

const ABOUT = { workflowType: 'lightsOut', subjects: 'schedules' } as const;

let temporal: TemporalServer;
let line: CuttableLine;

beforeAll(async () => {
  temporal = await borrowTemporal();
  line = await startLine(Number(temporal.address.split(':').at(-1)));
});

afterAll(async () => {
  await line?.stop();
  await temporal?.stop();
});

it('says once that Temporal does not answer, requests nothing meanwhile, and goes on afterwards', async () => {
  // The client's own second tries would take most of a minute.
  const connection = await Connection.connect({ address: `127.0.0.1:${line.port}`, interceptors: [] });
  const lines: string[] = [];
  const requested: string[] = [];
  let asked = 0;
  const stop = new AbortController();
  line.cut();
  const kept = keepRunning({
    client: new Client({ connection, namespace: temporal.namespace }),
    cluster: 'test',
    ...ABOUT,
    idPrefix: lightsOutId({ cluster: 'test', schedule: '' }),
    seen: () => {
      asked += 1;
      return [{ name: 'night', resourceVersion: '7' }];
    },
    existing: () => new Set(['night']),
    onMissing: ({ name, resourceVersion }) => requested.push(`start ${name} ${resourceVersion}`),
    onGone: (name) => requested.push(`gone ${name}`),
    everyMs: 20,
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
  });
  await eventually('it asked several times in vain', () => asked > 3);
  expect(lines).toEqual([expect.stringMatching(/^Temporal does not list which schedules have a workflow: /)]);
  expect(requested).toEqual([]);
  line.mend();
  await eventually('it sends a reconcile request', () => requested.length > 0);
  expect(requested[0]).toBe('start night 7');
  expect(lines.slice(1)).toEqual(['Temporal lists again which schedules have a workflow']);
  stop.abort();
  await kept;
  await connection.close();
});

it('asks again soon where the first answer did not come: what was deleted while nobody watched waits for it', async () => {
  const connection = await Connection.connect({ address: `127.0.0.1:${line.port}`, interceptors: [] });
  const client = new Client({ connection, namespace: temporal.namespace });
  const gone = lightsOutId({ cluster: 'other', schedule: 'gone' });
  const started = await client.workflow.start('lightsOut', { workflowId: gone, taskQueue: taskQueue('other') });
  await eventually(
    'it is seen to run',
    async () => (await client.workflow.count("WorkflowType = 'lightsOut'")).count > 0,
  );
  const lines: string[] = [];
  const requested: string[] = [];
  const stop = new AbortController();
  line.cut();
  const kept = keepRunning({
    client,
    cluster: 'other',
    ...ABOUT,
    idPrefix: lightsOutId({ cluster: 'other', schedule: '' }),
    seen: () => [],
    existing: () => new Set(),
    onMissing: ({ name, resourceVersion }) => requested.push(`start ${name} ${resourceVersion}`),
    onGone: (name) => requested.push(`gone ${name}`),
    everyMs: 3_600_000,
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
  });
  await eventually('it asked in vain', () => lines.length > 0);
  line.mend();
  await eventually('it sends a reconcile request', () => requested.length > 0);
  expect(requested).toEqual(['gone gone']);
  stop.abort();
  await kept;
  await started.terminate();
  await connection.close();
});
