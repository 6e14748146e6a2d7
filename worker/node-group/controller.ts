import type { DrainActivities } from '../../activities/node-group/drain/interface.ts';
import { createDrainActivities } from '../../activities/node-group/drain/kubernetes-activities.ts';
import type { NodeGroupActivities } from '../../activities/node-group/interface.ts';
import { createMachineActivities } from '../../activities/node-group/machines/kubernetes-activities.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';

/** Nothing starts its workflows yet, so no worker runs it, and none has its rights. */
export const nodeGroupController: WorkerController = {
  workflowTypes: [],
  access: [],
  isEnabled: () => false,
  createActivities,
};

function createActivities({
  config,
  kubeConfig,
  pauses,
}: ControllerContext): DrainActivities & Pick<NodeGroupActivities, 'ensureMachineDeleted'> {
  const options = {
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace: config.kubernetes.systemNamespace,
    pauses,
  };
  return { ...createDrainActivities(options), ...createMachineActivities(options) };
}
