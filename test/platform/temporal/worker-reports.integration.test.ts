/** What workers report of their settings, kept by a real Temporal. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leaseGcSchedule } from '../../../domain/lease-gc/schedule.ts';
import { createLog } from '../../../platform/log/log.ts';
import { reserveClusterName } from '../../../platform/temporal/cluster-name.ts';
import { keepReported, type WorkerReports, readWorkers } from '../../../platform/temporal/worker-reports.ts';
import { startTemporal, type TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';

const HOUR_MS = 3_600_000;

let server: TemporalServer;
let client: Client;
const stopped = new AbortController();
const reporting: Promise<void>[] = [];

beforeAll(async () => {
  server = await startTemporal();
  const connection = await Connection.connect(clientConnectionOptions({ address: server.address }, 10_000));
  client = new Client({ connection, namespace: server.namespace });
});
afterAll(async () => {
  stopped.abort();
  await Promise.all(reporting);
  await client?.connection.close();
  await server?.stop();
});

/** A cluster whose name is claimed. */
async function givenCluster(cluster: string, everyMs = 12 * HOUR_MS): Promise<{ cluster: string; scheduleId: string }> {
  const schedule = leaseGcSchedule({ kubernetes: { clusterName: cluster }, timings: { leaseGcInterval: everyMs } });
  await reserveClusterName(client, schedule, 'uid');
  return { cluster, scheduleId: schedule.id };
}

function report(target: { cluster: string; scheduleId: string }, worker: string, mode: string): void {
  const settings = new Map([['resize.mode', { text: mode, where: 'HEADROOM_MODE', layer: 'environment' }]]);
  const log = createLog({ name: 'worker', level: 'error' });
  reporting.push(
    keepReported(
      client,
      { ...target, worker, release: '0.1.0', pairs: null, settings },
      { log, signal: stopped.signal },
    ),
  );
}

/** The mode that each worker reported. */
function modes({ reports }: WorkerReports): Record<string, string | undefined> {
  return Object.fromEntries(reports.map(({ worker, settings }) => [worker, settings.get('resize.mode')?.text]));
}

describe('the reports of workers', () => {
  it('are none where no worker ever ran, also without the Schedule', async () => {
    const nothing = { reports: [], running: [] };
    expect(await readWorkers(client, { cluster: 'nowhere', scheduleId: 'lease-gc/nowhere' })).toEqual(nothing);
    expect(await readWorkers(client, await givenCluster('fresh'))).toEqual(nothing);
  });

  it('all arrive when many workers start at the same moment', async () => {
    const target = await givenCluster('crowd');
    const names = Array.from({ length: 6 }, (_, index) => `worker-${index}`);
    for (const [index, name] of names.entries()) report(target, name, index % 2 === 0 ? 'observe' : 'propose');
    const existing = await eventually('six reports', async () => {
      const seen = await readWorkers(client, target);
      return seen.reports.length === names.length ? seen : undefined;
    });
    expect(modes(existing)).toEqual({
      'worker-0': 'observe',
      'worker-1': 'propose',
      'worker-2': 'observe',
      'worker-3': 'propose',
      'worker-4': 'observe',
      'worker-5': 'propose',
    });
    // None of these asks for work: a report alone does not make a worker run.
    expect(existing.running).toEqual([]);
  });

  it('stay when a process starts, with the same interval or another one, and so does whose name the cluster has', async () => {
    const target = await givenCluster('kept');
    report(target, 'one', 'propose');
    await eventually('the report', async () => (await readWorkers(client, target)).reports.length === 1);
    await givenCluster('kept');
    await givenCluster('kept', 6 * HOUR_MS);
    expect(modes(await readWorkers(client, target))).toEqual({ one: 'propose' });
    const { memo, spec } = await client.schedule.getHandle(target.scheduleId).describe();
    expect(memo).toEqual({ kubeSystemUid: 'uid' });
    expect(spec.intervals).toMatchObject([{ every: 6 * HOUR_MS }]);
  });

  it('do not disturb what the Schedule does', async () => {
    const target = await givenCluster('undisturbed');
    const handle = client.schedule.getHandle(target.scheduleId);
    const before = await handle.describe();
    report(target, 'one', 'propose');
    await eventually('the report', async () => (await readWorkers(client, target)).reports.length === 1);
    const { memo: _, ...action } = (await handle.describe()).action;
    expect(before.action).toMatchObject(action);
    expect((await handle.describe()).spec).toEqual(before.spec);
  });
});
