/** The schedule that the load is put under, and when it is done with it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import type { LightsOutCluster } from '../../test/lights-out/cluster.ts';

/** A whole load takes so long at most, in milliseconds: a worker that is killed is missed after ten seconds. */
const WITHIN_MS = 900_000;

/**
 * Until the status says that the schedule is in that state with nothing left to do, and its workflow is at rest: what it
 * tells after the status is part of it.
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

/** Hints that come later than what they are about are part of what it costs: no two of a schedule in ten seconds. */
export async function untilLateHintsAreIn(): Promise<void> {
  await sleep(12_000);
}
