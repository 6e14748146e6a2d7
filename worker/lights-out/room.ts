import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import { createLightsOutActivities } from '../../activities/lights-out/kubernetes-activities.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { protectedNamespaces } from '../../platform/config/protected-namespaces.ts';
import type { Room, RoomContext } from '../room.ts';

export const lightsOutRoom: Room = {
  workflowTypes: ['lightsOut'],
  createActivities,
};

function createActivities({ config, kubeConfig, log }: RoomContext): LightsOutActivities {
  const { systemNamespace } = config.kubernetes;
  const { gitopsManagers, retryMin, retryMax, contestedMin, contestedMax } = config.lightsOut;
  return createLightsOutActivities({
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace,
    protectedNamespaces: protectedNamespaces(config),
    gitopsManagers,
    timings: { retryMin, retryMax, contestedMin, contestedMax },
    log,
  });
}
