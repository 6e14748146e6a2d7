/** Memcacheds, to be recorded: they need a cluster with their definition, and no forge. */
import { memcachedId } from '../../../domain/memcached/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { commandSignals, memcachedChanged, type MemcachedRequest } from '../../../workflows/memcached/messages.ts';
import type { memcached } from '../../../workflows/memcached/workflow.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { MemcachedCluster, merge, startMemcachedPlane } from '../../memcached/cluster.ts';
import { started } from '../platforms.ts';
import { type Recorded, type Scenario, stage, type Stage, type Started } from '../stages.ts';

async function withMemcacheds(): Promise<Started<MemcachedCluster>> {
  return await started(await startMemcachedPlane({ ownServers: true }), (plane) => new MemcachedCluster(plane));
}

/** The newest execution, by its first run. */
async function of(cluster: MemcachedCluster, name: string): Promise<Recorded> {
  const { raw, runId } = await cluster.handle(name).describe();
  return {
    workflowId: memcachedId({ cluster: CLUSTER, namespace: name, name }),
    runId: raw.workflowExecutionInfo?.firstRunId ?? runId,
  };
}

const together: Readonly<Record<string, Scenario<MemcachedCluster>>> = {
  'as-specified': async (cluster, name) => {
    await cluster.create(name, { replicas: 2 });
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    const recorded = await of(cluster, name);
    await cluster.handle(name).signal(commandSignals.pause, { by: 'alice', reason: 'an incident' });
    await cluster.reaches(name, 'Paused', 'Paused');
    await cluster.ready(name, 2);
    await cluster.command(name, 'resume');
    await cluster.settled(name, 2);
    return recorded;
  },

  invalid: async (cluster, name) => {
    await cluster.create(name, { memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } });
    await cluster.reaches(name, 'Blocked', 'Invalid');
    const recorded = await of(cluster, name);
    await cluster.delete(name);
    await cluster.ended(name);
    return recorded;
  },

  rejected: async (cluster, name) => {
    const budget = (maxUnavailable: string) => ({
      highAvailability: { podDisruptionBudget: { enabled: true, maxUnavailable } },
    });
    await cluster.create(name, { replicas: 1, ...budget('some') });
    await cluster.reaches(name, 'Blocked', 'WriteFailed');
    const recorded = await of(cluster, name);
    await cluster.edit(name, budget('50%'));
    await cluster.settled(name, 1);
    return recorded;
  },

  'stepped-down': async (cluster, name) => {
    const autoscaling = { enabled: true, minReplicas: 3, maxReplicas: 5, scaleDownOnePodEvery: '3s' };
    await cluster.create(name, { replicas: 3, resources: { requests: { cpu: '100m' } } });
    await cluster.settled(name, 3);
    await cluster.edit(name, { replicas: null, autoscaling });
    await cluster.untilCondition(name, 'Available=True Available: 3/3 replicas are ready (HPA-managed)');
    await cluster.ended(name);
    await cluster.edit(name, { autoscaling: { enabled: false } });
    await cluster.reaches(name, 'RollingOut', 'SteppingDown');
    const recorded = await of(cluster, name);
    await cluster.settled(name, 1);
    return recorded;
  },

  'namespace-paused': async (cluster, name) => {
    const say = async (value: string | null): Promise<void> => {
      const body = { data: { [`namespace_${name}`]: value } };
      await cluster.core.patchNamespacedConfigMap(
        { name: 'headroom-pauses', namespace: SYSTEM_NAMESPACE, body },
        merge,
      );
    };
    await say('{"by":"alice","reason":"a migration","at":null}');
    await cluster.create(name, { replicas: 1 });
    await cluster.reaches(name, 'Paused', 'Paused');
    const recorded = await of(cluster, name);
    await say(null);
    await cluster.settled(name, 1);
    return recorded;
  },

  continued: async (cluster, name) => {
    await cluster.create(name, { replicas: 1 });
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    const target = { cluster: CLUSTER, namespace: name, name };
    await cluster.plane.client.workflow.signalWithStart<typeof memcached, [MemcachedRequest]>('memcached', {
      workflowId: memcachedId(target),
      taskQueue: taskQueue(CLUSTER),
      args: [{ target, continueAfterEvents: 30 }],
      signal: memcachedChanged,
      signalArgs: [{ cause: 'recording', resourceVersion: '' }],
      // The starter has begun it already, with runs of the ordinary length, and would again between an end and a start.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    await cluster.reaches(name, 'RollingOut', 'RolloutInProgress');
    const recorded = await of(cluster, name);
    for (const threads of [5, 6, 7]) {
      await cluster.edit(name, { memcached: { threads } });
      await eventually('the argument is there', async () =>
        (await cluster.deployment(name)).spec?.template.spec?.containers[0]?.args?.includes(String(threads)),
      );
    }
    await cluster.settled(name, 1);
    return recorded;
  },
};

/** Those that stop everything. */
const alone: Readonly<Record<string, Scenario<MemcachedCluster>>> = {
  'globally-paused': async (cluster, name) => {
    const pause = { metadata: { name: 'headroom-pause' }, data: { by: 'alice', reason: 'an incident' } };
    await cluster.core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: pause });
    await cluster.create(name, { replicas: 1 });
    await cluster.reaches(name, 'Paused', 'GloballyPaused');
    const recorded = await of(cluster, name);
    await cluster.core.deleteNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, name: 'headroom-pause' });
    await cluster.command(name, 'reconcileNow');
    await cluster.settled(name, 1);
    return recorded;
  },
};

export const stages: readonly Stage[] = [stage(withMemcacheds, { together, alone })];
