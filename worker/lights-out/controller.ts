import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import { createLightsOutActivities } from '../../activities/lights-out/kubernetes-activities.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { lightsOutDefinition } from '../../domain/lights-out/schedule/definition.ts';
import { protectedNamespaces } from '../../domain/lights-out/protected-namespaces.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { lightsOutAccess } from './access.ts';

export const lightsOutController: WorkerController = {
  workflowTypes: ['lightsOut'],
  access: lightsOutAccess,
  customResources: [
    {
      component: 'lights-out',
      about:
        'LightsOutSchedules. Deleting the definition deletes every schedule. While Headroom runs, each first wakes what it put to sleep.',
      definition: lightsOutDefinition,
    },
  ],
  isEnabled: ({ lightsOut }) => lightsOut.enabled,
  createActivities,
};

function createActivities({ config, kubeConfig, pauses, log }: ControllerContext): LightsOutActivities {
  const { systemNamespace } = config.kubernetes;
  const { gitopsManagers, scaledOwners = [], retryMin, retryMax, contestedMin, contestedMax } = config.lightsOut;
  return createLightsOutActivities({
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace,
    pauses,
    protectedNamespaces: protectedNamespaces(config),
    gitopsManagers,
    scaledOwners,
    timings: { retryMin, retryMax, contestedMin, contestedMax },
    log,
  });
}
