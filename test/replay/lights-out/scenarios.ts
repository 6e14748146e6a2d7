/** Schedules, to be recorded: they need a cluster with LightsOutSchedules, and no forge. */
import { ApplicationFailure } from '@temporalio/common';
import type { LightsOutActivities } from '../../../activities/lights-out/interface.ts';
import { lightsOutId } from '../../../domain/lights-out/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { commandSignals, scheduleChanged } from '../../../workflows/lights-out/messages.ts';
import type { lightsOut } from '../../../workflows/lights-out/workflow.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { DOWN, type LightsOutCluster, UP } from '../../lights-out/cluster.ts';
import { withSchedules } from '../platforms.ts';
import { type Recorded, type Scenario, type Stage, stage } from '../stages.ts';
import { untilAsked } from '../workflows-only.ts';

async function of(cluster: LightsOutCluster, schedule: string): Promise<Recorded> {
  const { raw, runId } = await cluster.handle(schedule).describe();
  return {
    workflowId: lightsOutId({ cluster: CLUSTER, schedule }),
    runId: raw.workflowExecutionInfo?.firstRunId ?? runId,
  };
}

const together: Readonly<Record<string, Scenario<LightsOutCluster>>> = {
  night: async (cluster, name) => {
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
    await cluster.reaches(name, 'AwaitingApproval');
    await cluster.command(name, 'approve');
    await cluster.reaches(name, 'Down', 'AsScheduled');
    await cluster.command(name, 'wake', { for: '1h', namespace: name, reason: 'a release' });
    await eventually('it is awake', async () => (await cluster.replicas(name, 'web')) === 3);
    await cluster.handle(name).signal(commandSignals.cancel, { by: 'alice' });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    await cluster.handle(name).signal(commandSignals.pause, { by: 'alice' });
    await cluster.reaches(name, 'Paused');
    await cluster.command(name, 'resume');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    await cluster.command(name, 'sleep', { for: '10m' });
    await eventually('it is asleep', async () => (await cluster.replicas(name, 'web')) === 0);
    await cluster.deleteSchedule(name);
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
    await eventually('it ended', async () => (await cluster.handle(name).describe()).status.name === 'COMPLETED');
    return await of(cluster, name);
  },

  invalid: async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.schedule(name, { ...DOWN, timezone: 'Nowhere/Land', namespaces: [name] });
    await cluster.reaches(name, 'Invalid');
    await cluster.patchSchedule(name, { spec: { timezone: 'UTC', dryRun: true } });
    await cluster.reaches(name, 'DryRun');
    await cluster.patchSchedule(name, { spec: { dryRun: false, suspend: true } });
    await cluster.reaches(name, 'Suspended');
    return await of(cluster, name);
  },

  continued: async (cluster, name) => {
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
      await cluster.reaches(name, spec === UP ? 'Up' : 'Down', 'AsScheduled');
    }
    await cluster.deleteSchedule(name);
    await eventually('it ended', async () => (await cluster.handle(name).describe()).status.name === 'COMPLETED');
    return recorded;
  },

  refused: async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 3);
    const thaw = await cluster.freeze(name, 'web');
    await cluster.schedule(name, { ...DOWN, namespaces: [name] });
    await cluster.reaches(name, 'Down', 'ScalingFailed');
    await thaw();
    await cluster.reaches(name, 'Down', 'AsScheduled');
    return await of(cluster, name);
  },
};

/** One workload after the other, with time between them for something to happen. */
const SLOWLY = { downscaleRateLimit: { batchSize: 1, delayBetweenBatches: '10s' } };

/** A schedule that has put one of its two Deployments to sleep. @returns the other one. */
async function halfAsleep(cluster: LightsOutCluster, name: string): Promise<string> {
  await cluster.namespace(name);
  for (const deployment of ['api', 'web']) await cluster.deployment(name, deployment, 2);
  await cluster.schedule(name, { ...DOWN, ...SLOWLY, namespaces: [name] });
  return await eventually('one of them sleeps', async () => {
    const [api, web] = await Promise.all([cluster.replicas(name, 'api'), cluster.replicas(name, 'web')]);
    if (api === 0) return 'web';
    return web === 0 ? 'api' : null;
  });
}

async function stopProcesses({ plane }: LightsOutCluster, ...meant: readonly string[]): Promise<void> {
  await Promise.all(
    plane.processes.filter(({ name }) => meant.includes(name)).map(async (process) => await process.stop()),
  );
}

/** Scenarios that stop Headroom or a part of it. */
const alone: Readonly<Record<string, Scenario<LightsOutCluster>>> = {
  'paused-between-batches': async (cluster, name) => {
    await halfAsleep(cluster, name);
    // Nobody tells the workflow of the pause, so it meets it when it writes.
    await stopProcesses(cluster, 'starter');
    const pause = { metadata: { name: 'headroom-pause' }, data: { by: 'alice', reason: 'an incident' } };
    await cluster.core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: pause });
    await cluster.reaches(name, 'Paused', 'GloballyPaused');
    await cluster.core.deleteNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, name: 'headroom-pause' });
    await cluster.plane.startStarter();
    await cluster.patchSchedule(name, { spec: { downscaleRateLimit: { batchSize: 9, delayBetweenBatches: '0s' } } });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    return await of(cluster, name);
  },

  'approved-too-late': async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.schedule(name, { ...DOWN, namespaces: [name], requireApproval: true });
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    const { digest = '' } = (await cluster.readSchedule(name)).status?.scope ?? {};
    // Nobody tells the workflow that another one is in scope by now.
    await stopProcesses(cluster, 'starter');
    await cluster.deployment(name, 'api', 2);
    await cluster.command(name, 'approve', { digest });
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalNeeded');
    await cluster.plane.startStarter();
    await cluster.eventMatching(name, /^ApprovalOutdated: /);
    await cluster.deleteSchedule(name);
    await eventually('it ended', async () => (await cluster.handle(name).describe()).status.name === 'COMPLETED');
    return await of(cluster, name);
  },

  'gone-between-batches': async (cluster, name) => {
    const other = await halfAsleep(cluster, name);
    // Nobody tells the workflow of it.
    await stopProcesses(cluster, 'starter');
    await cluster.apps.deleteNamespacedDeployment({ namespace: name, name: other });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    await cluster.plane.startStarter();
    return await of(cluster, name);
  },

  'made-anew': async (cluster, name) => {
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.asleep(name, { namespaces: [name] });
    await stopProcesses(cluster, 'starter', 'worker');
    await cluster.patchSchedule(name, { metadata: { finalizers: null } });
    await cluster.deleteSchedule(name);
    await eventually('it is gone', async () => await cluster.scheduleIsGone(name));
    await cluster.schedule(name, { ...UP, namespaces: [name] });
    await Promise.all([cluster.plane.startWorker(), cluster.plane.startStarter()]);
    await cluster.reaches(name, 'Up', 'AsScheduled');
    return await of(cluster, name);
  },

  unreadable: async (cluster, name) => {
    const { plane } = cluster;
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 2);
    await cluster.asleep(name, { namespaces: [name] });
    const { workflowId } = cluster.handle(name);
    const { apiServer } = plane.plane.pids();
    process.kill(apiServer, 'SIGSTOP');
    try {
      await cluster.handle(name).signal(scheduleChanged, { cause: 'recording', resourceVersion: '' });
      // As an operator does who has waited for long enough: `temporal activity fail`. Possible once an attempt has begun.
      // First of a starter, and then of the worker.
      const failure = ApplicationFailure.nonRetryable('an operator gave up waiting for it');
      let failed: string | null = null;
      for (const whose of ['a starter', 'a worker']) {
        failed = await eventually(`an operator gave up the look of ${whose}`, async () => {
          const observeInput = 'observeSchedule' satisfies keyof LightsOutActivities;
          const activityId = await untilAsked(plane.client, workflowId, observeInput);
          if (activityId === failed) return null;
          await plane.client.activity.fail({ workflowId, activityId }, failure);
          return activityId;
        });
      }
    } finally {
      process.kill(apiServer, 'SIGCONT');
    }
    await cluster.reaches(name, 'Down', 'ReadFailed');
    await cluster.patchSchedule(name, { spec: UP });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    return await of(cluster, name);
  },
};

export const stages: readonly Stage[] = [stage(withSchedules, { together, alone })];
