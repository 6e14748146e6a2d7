/** A process that runs drains and nothing else, for tests that kill it. Its provider is one whose machines are the nodes themselves. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createPauseActivities } from '../../../activities/kernel/pause-activities.ts';
import { requestCancellation } from '../../../activities/kernel/cancellation.ts';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { orNull, withKubernetesFailures } from '../../../activities/kubernetes/failure.ts';
import { createDrainActivities } from '../../../activities/node-group/drain/kubernetes-activities.ts';
import { MACHINES } from '../../../activities/node-group/machines/machine-objects.ts';
import type { NodeGroupActivities } from '../../../activities/node-group/interface.ts';
import { activityTaskQueue, taskQueue } from '../../../domain/kernel/target.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../../../platform/temporal/heartbeat.ts';
import { DRAIN_CLUSTER, KEPT_MACHINE, SYSTEM_NAMESPACE } from './names.ts';

const [address = '', namespace = '', kubeconfig = ''] = process.argv.slice(2);
/** Longer than a test holds a request up: one that is given up would be made again, and go on. */
const REQUEST_TIMEOUT_MS = 240_000;

Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM'] });
const kubernetes = connectKubernetes(
  loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: REQUEST_TIMEOUT_MS, requestCancellation }, {}),
);
const options = { kubernetes, systemNamespace: SYSTEM_NAMESPACE, log: { warn: () => {} } };

/** A machine is called as its node is, and both go together. */
const ensureMachineDeleted: NodeGroupActivities['ensureMachineDeleted'] = withKubernetesFailures(
  async ({ machine }) => {
    if (machine === KEPT_MACHINE) return true;
    await orNull(kubernetes.core.deleteNode({ name: machine }));
    await orNull(kubernetes.custom.deleteNamespacedCustomObject({ ...MACHINES, name: machine }));
    return false;
  },
);

const connection = await NativeConnection.connect({ address });
const workflows = await Worker.create({
  connection,
  namespace,
  taskQueue: taskQueue(DRAIN_CLUSTER),
  workflowBundle: await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../../../workflows/node-group/drain.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  }),
});
const activities = await Worker.create({
  connection,
  namespace,
  taskQueue: activityTaskQueue(taskQueue(DRAIN_CLUSTER), 'node-group'),
  activities: { ...createDrainActivities(options), ...createPauseActivities(options), ensureMachineDeleted },
  interceptors: { activity: [heartbeatWhileRunning] },
  maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
});
process.stdout.write('running\n');
await Promise.all([workflows.run(), activities.run()]);
process.exit();
