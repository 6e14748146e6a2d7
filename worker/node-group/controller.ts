import type { DrainActivities } from '../../activities/node-group/drain/interface.ts';
import { createDrainActivities } from '../../activities/node-group/drain/kubernetes-activities.ts';
import type { NodeGroupActivities } from '../../activities/node-group/interface.ts';
import { createMachineActivities } from '../../activities/node-group/machines/kubernetes-activities.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { nodeGroupDefinition, vpsieNodeDefinition } from '../../domain/node-group/api/definition.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { nodeGroupAccess } from './access.ts';

/** Nothing starts its workflows yet, so no worker runs it. */
export const nodeGroupController: WorkerController = {
  workflowTypes: [],
  access: nodeGroupAccess,
  customResources: [
    {
      component: 'node-group',
      about:
        'NodeGroups. It is the definition of the first implementation with more fields, and may be applied over it. Deleting the definition deletes every NodeGroup.',
      definition: nodeGroupDefinition,
    },
    {
      component: 'node-group',
      about: 'VPSieNodes, the machines of NodeGroups. Deleting the definition deletes every machine.',
      definition: vpsieNodeDefinition,
    },
  ],
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
