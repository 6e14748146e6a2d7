/** Waits for the schedule of a load test and for its workflow. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import type { LightsOutCluster } from '../../test/lights-out/cluster.ts';

/**
 * The longest time for the whole load, in milliseconds. It includes ten seconds until Temporal misses a killed worker.
 */
const WITHIN_MS = 900_000;

/**
 * Waits until the status has that state with nothing left to do, and until the workflow is idle: what it does after
 * writing the status is part of the cost.
 */
export async function settlesIn(cluster: LightsOutCluster, schedule: string, state: 'Up' | 'Down'): Promise<void> {
  await eventually(
    `${schedule} is ${state} and has nothing left to do`,
    async () => {
      const { metadata, status } = await cluster.readSchedule(schedule);
      if (status?.state !== state || status.scalingProgress !== undefined) return false;
      if (status.observedGeneration !== metadata.generation) return false;
      return status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    },
    WITHIN_MS,
  );
  await isAtRest(cluster, schedule);
}

async function isAtRest(cluster: LightsOutCluster, schedule: string): Promise<void> {
  await eventually(
    `the workflow of ${schedule} is at rest`,
    async () => {
      const { raw } = await cluster.handle(schedule).describe();
      return (raw.pendingActivities ?? []).length === 0 && raw.pendingWorkflowTask == null;
    },
    WITHIN_MS,
  );
}

/**
 * Reconcile requests that come after the changes that caused them are part of the cost. The starter sends one in ten
 * seconds at most for each schedule, so this waits a little longer.
 */
export async function untilLateRequestsCame(): Promise<void> {
  await sleep(12_000);
}
