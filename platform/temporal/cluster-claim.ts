import { type Client, ScheduleAlreadyRunning, ScheduleOverlapPolicy } from '@temporalio/client';
import { leaseGcId, taskQueue } from '../../domain/kernel/target.ts';

/** The name of this cluster is taken by another cluster. */
export class ClusterNameTaken extends Error {
  override readonly name = 'ClusterNameTaken';
}

export interface ClusterClaim {
  readonly cluster: string;
  /** The UID of the namespace `kube-system`, which tells one cluster from every other. */
  readonly uid: string;
  /** Between two rounds of Lease garbage collection, in milliseconds. */
  readonly leaseGcIntervalMs: number;
}

const UID_MEMO = 'kubeSystemUid';

/**
 * Creates or updates the Schedule of the cluster's Lease garbage collection, which also records whose name this is: a
 * process that is pointed at another cluster under the same name would run that one's activities.
 *
 * @throws {ClusterNameTaken} when the name is recorded for another cluster.
 * @throws the client's error when Temporal cannot be reached.
 */
export async function claimCluster(client: Client, { cluster, uid, leaseGcIntervalMs }: ClusterClaim): Promise<void> {
  const scheduleId = leaseGcId(cluster);
  const spec = { intervals: [{ every: leaseGcIntervalMs }] };
  const action = {
    type: 'startWorkflow',
    workflowType: 'leaseGc',
    // Temporal appends the moment of the run to the id.
    workflowId: scheduleId,
    taskQueue: taskQueue(cluster),
    args: [{ cluster }],
  } as const;
  const policies = { overlap: ScheduleOverlapPolicy.SKIP };
  const handle = client.schedule.getHandle(scheduleId);
  try {
    await client.schedule.create({ scheduleId, spec, action, policies, memo: { [UID_MEMO]: uid } });
    return;
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
  }
  const { memo } = await handle.describe();
  const recorded = memo?.[UID_MEMO];
  if (typeof recorded === 'string' && recorded !== uid) {
    throw new ClusterNameTaken(
      `the cluster name "${cluster}" is recorded for the cluster whose kube-system has the UID ${recorded}, this one has ${uid}: ` +
        `choose another CLUSTER_NAME, or delete the Schedule ${scheduleId} if that cluster is gone`,
    );
  }
  await handle.update((previous) => ({ ...previous, spec, action, policies }));
}
