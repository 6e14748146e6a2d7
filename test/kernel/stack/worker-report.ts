import type { Client } from '@temporalio/client';
import { leaseGcId } from '../../../domain/lease-gc/target.ts';
import { readWorkers } from '../../../platform/temporal/worker-reports.ts';
import { eventually } from './eventually.ts';

/** Until commands know the settings of a worker: it reports them beside its other work, and a command says so where it has not. */
export async function untilReported(client: Client, cluster: string): Promise<void> {
  await eventually('the worker has reported its settings', async () => {
    const { reports } = await readWorkers(client, { cluster, scheduleId: leaseGcId(cluster) });
    return reports.length > 0;
  });
}
