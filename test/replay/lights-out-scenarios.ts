/** Schedules, to be recorded: they need a cluster with LightsOutSchedules, and no forge. */
import { lightsOutId, taskQueue } from '../../domain/kernel/target.ts';
import { commandSignals, scheduleChanged } from '../../workflows/lights-out/messages.ts';
import type { lightsOut } from '../../workflows/lights-out/workflow.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { CLUSTER } from '../kernel/stack/headroom-plane.ts';
import { DOWN, type LightsOutCluster, UP } from '../lights-out/cluster.ts';
import type { Recorded } from './scenarios.ts';

export type LightsOutScenario = (cluster: LightsOutCluster, name: string) => Promise<Recorded>;

async function of(cluster: LightsOutCluster, schedule: string): Promise<Recorded> {
  const { raw, runId } = await cluster.handle(schedule).describe();
  return {
    workflowId: lightsOutId({ cluster: CLUSTER, schedule }),
    runId: raw.workflowExecutionInfo?.firstRunId ?? runId,
  };
}

export const lightsOutScenarios: Readonly<Record<string, LightsOutScenario>> = {
  'lights-out-night': async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    await cluster.deployment(name, 'api', 2);
    await cluster.statefulSet(name, 'db', 1, { role: 'database' });
    await cluster.cronJob(name, 'report');
    await cluster.schedule(name, {
      ...DOWN,
      namespaces: [name],
      requireApproval: true,
      downscaleRateLimit: { batchSize: 1, delayBetweenBatches: '1s' },
      priorities: [{ priority: 10, selector: { matchLabels: { role: 'database' } } }],
      // Nobody makes pods ready here, so the next priority is begun without.
      readinessTimeout: '2s',
    });
    await cluster.stands(name, 'AwaitingApproval');
    await cluster.tell(name, 'approve');
    await cluster.stands(name, 'Down', 'AsScheduled');
    await cluster.tell(name, 'wake', { for: '1h', namespace: name, reason: 'a release' });
    await eventually('it is awake', async () => (await cluster.replicas(name, 'web')) === 3);
    await cluster.handle(name).signal(commandSignals.cancel, { by: 'alice' });
    await cluster.stands(name, 'Down', 'AsScheduled');
    await cluster.handle(name).signal(commandSignals.pause, { by: 'alice' });
    await cluster.stands(name, 'Paused');
    await cluster.tell(name, 'resume');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.stands(name, 'Up', 'AsScheduled');
    await cluster.tell(name, 'sleep', { for: '10m' });
    await eventually('it is asleep', async () => (await cluster.replicas(name, 'web')) === 0);
    await cluster.deleteSchedule(name);
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
    await eventually('it ended', async () => (await cluster.handle(name).describe()).status.name === 'COMPLETED');
    return await of(cluster, name);
  },

  'lights-out-invalid': async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.schedule(name, { ...DOWN, timezone: 'Nowhere/Land', namespaces: [name] });
    await cluster.stands(name, 'Invalid');
    await cluster.patchSchedule(name, { spec: { timezone: 'UTC', dryRun: true } });
    await cluster.stands(name, 'DryRun');
    await cluster.patchSchedule(name, { spec: { dryRun: false, suspend: true } });
    await cluster.stands(name, 'Suspended');
    return await of(cluster, name);
  },

  'lights-out-continued': async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    const { client } = cluster.plane;
    const target = { cluster: CLUSTER, schedule: name };
    await cluster.schedule(name, { ...UP, namespaces: [name], suspend: true });
    // The starter has begun it already, with runs of the ordinary length.
    await eventually('it runs', async () => await cluster.handle(name).describe());
    await cluster.handle(name).terminate('to begin it with shorter runs');
    await client.workflow.signalWithStart<typeof lightsOut, [{ cause: string; resourceVersion: string }]>('lightsOut', {
      workflowId: lightsOutId(target),
      taskQueue: taskQueue(CLUSTER),
      args: [{ target, continueAfterEvents: 30 }],
      signal: scheduleChanged,
      signalArgs: [{ cause: 'recording', resourceVersion: '' }],
    });
    const recorded = await of(cluster, name);
    for (const spec of [DOWN, UP, DOWN]) {
      await cluster.patchSchedule(name, { spec: { ...spec, suspend: false } });
      await cluster.stands(name, spec === UP ? 'Up' : 'Down', 'AsScheduled');
    }
    await cluster.deleteSchedule(name);
    await eventually('it ended', async () => (await cluster.handle(name).describe()).status.name === 'COMPLETED');
    return recorded;
  },
};
