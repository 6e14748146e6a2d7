import {
  type Client,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { ClusterSchedule } from '../../domain/kernel/schedule.ts';
import { taskQueue } from '../../domain/kernel/target.ts';

/** Another cluster owns the name of this cluster. */
export class ClusterNameTaken extends Error {
  override readonly name = 'ClusterNameTaken';
}

const UID_MEMO = 'kubeSystemUid';

/**
 * Creates or updates a Schedule that every cluster has and that records which cluster owns the name: a process with the
 * same name on another cluster would run the wrong cluster's activities.
 *
 * @param uid the UID of the namespace `kube-system`, which identifies a cluster.
 * @throws {ClusterNameTaken} when another cluster owns the name.
 * @throws the client's error when Temporal cannot be reached.
 */
export async function reserveClusterName(
  client: Client,
  { cluster, id: scheduleId, workflowType, everyMs }: ClusterSchedule,
  uid: string,
): Promise<void> {
  const spec = { intervals: [{ every: everyMs }] };
  const action = {
    type: 'startWorkflow',
    workflowType,
    // Temporal appends the time of the run to the id.
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
  const found = await handle.describe();
  const recorded = uidOf(found);
  if (recorded !== null && recorded !== uid) {
    throw new ClusterNameTaken(
      `the cluster name "${cluster}" is recorded for the cluster whose kube-system has the UID ${recorded}, this one has ${uid}: ` +
        `choose another CLUSTER_NAME, or delete the Schedule ${scheduleId} if that cluster is gone`,
    );
  }
  const isSame =
    found.spec.intervals?.length === 1 &&
    found.spec.intervals[0]?.every === everyMs &&
    found.action.workflowType === workflowType &&
    found.action.taskQueue === action.taskQueue;
  // The memo of its action has the workers' reports; an unnecessary update could drop a concurrent report.
  if (isSame) return;
  await handle.update((previous) => {
    const { memo } = previous.action;
    return { ...previous, spec, action: { ...action, ...(memo === undefined ? {} : { memo }) }, policies };
  });
}

/**
 * The UID of the cluster that owns the name; null when it is not recorded.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export async function recordedClusterUid(client: Client, scheduleId: string): Promise<string | null> {
  try {
    return uidOf(await client.schedule.getHandle(scheduleId).describe());
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

function uidOf({ memo }: ScheduleDescription): string | null {
  const recorded = memo?.[UID_MEMO];
  return typeof recorded === 'string' ? recorded : null;
}
