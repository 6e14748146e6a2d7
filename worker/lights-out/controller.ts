import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import { scalingBuckets } from '../../activities/lights-out/metrics.ts';
import { createLightsOutActivities } from '../../activities/lights-out/kubernetes-activities.ts';
import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { protectedNamespaces } from '../../domain/lights-out/protected-namespaces.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';

export const lightsOutController: WorkerController = {
  workflowTypes: ['lightsOut'],
  isEnabled: ({ lightsOut }) => lightsOut.enabled,
  createActivities,
  histogramBuckets: scalingBuckets,
};

function createActivities({ config, kubeConfig, pauses, log }: ControllerContext): LightsOutActivities {
  const { systemNamespace } = config.kubernetes;
  const { gitopsManagers, retryMin, retryMax, contestedMin, contestedMax } = config.lightsOut;
  return createLightsOutActivities({
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace,
    pauses,
    protectedNamespaces: protectedNamespaces(config),
    gitopsManagers,
    timings: { retryMin, retryMax, contestedMin, contestedMax },
    log,
  });
}
