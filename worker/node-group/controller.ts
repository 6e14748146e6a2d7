import type { DrainActivities } from '../../activities/node-group/drain/interface.ts';
import { createDrainActivities } from '../../activities/node-group/drain/kubernetes-activities.ts';
import type { NodeGroupActivities } from '../../activities/node-group/interface.ts';
import { createMachineActivities } from '../../activities/node-group/machines/kubernetes-activities.ts';
import { createProviders } from '../../activities/node-group/provider/providers.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { ServerClock } from '../../activities/kubernetes/server-clock.ts';
import { nodeGroupDefinition, vpsieNodeDefinition } from '../../domain/node-group/api/definition.ts';
import { NAMESPACE } from '../../domain/node-group/api/names.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { nodeGroupAccess } from './access.ts';

export const nodeGroupController: WorkerController = {
  workflowTypes: ['nodeDrain', 'nodeGroup'],
  access: nodeGroupAccess,
  customResources: [
    {
      component: 'node-group',
      about:
        'NodeGroups. It is the definition of the VPSie autoscaler with more fields, and may be applied over it. Deleting the definition deletes every NodeGroup.',
      definition: nodeGroupDefinition,
    },
    {
      component: 'node-group',
      about: 'VPSieNodes, the machines of NodeGroups. Deleting the definition deletes every machine.',
      definition: vpsieNodeDefinition,
    },
  ],
  isEnabled: ({ nodeGroups }) => nodeGroups.enabled,
  createActivities,
};

function createActivities({
  config,
  kubeConfig,
  pauses,
  log,
}: ControllerContext): DrainActivities & NodeGroupActivities {
  const kubernetes = connectKubernetes(kubeConfig);
  const { systemNamespace } = config.kubernetes;
  const { vpsieUrl: baseUrl, vpsieSecret: name } = config.nodeGroups;
  const readSecret = async (): Promise<Readonly<Record<string, string>>> => {
    const { data = {} } = await kubernetes.core.readNamespacedSecret({ name, namespace: NAMESPACE });
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
  };
  const providers = createProviders({ kubernetes, systemNamespace, vpsie: { baseUrl, readSecret } });
  const options = { kubernetes, systemNamespace, pauses, log, providers, clock: new ServerClock() };
  return { ...createDrainActivities(options), ...createMachineActivities(options) };
}
