import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { LeaseGcActivities } from '../../activities/lease-gc/interface.ts';
import { createLeaseGcActivities } from '../../activities/lease-gc/kubernetes-activities.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { leaseGcAccess } from './access.ts';

export const leaseGcController: WorkerController = {
  workflowTypes: ['leaseGc'],
  access: leaseGcAccess,
  isEnabled: () => true,
  createActivities,
};

function createActivities({ config, kubeConfig, temporal, pauses, log }: ControllerContext): LeaseGcActivities {
  return createLeaseGcActivities({
    kubernetes: connectKubernetes(kubeConfig),
    systemNamespace: config.kubernetes.systemNamespace,
    pauses,
    runningQuotaResizes: async () => {
      const cluster = config.kubernetes.clusterName;
      const query = `WorkflowType = 'quotaResize' AND ExecutionStatus = 'Running' AND HeadroomCluster = '${cluster}'`;
      const running = new Set<string>();
      for await (const { workflowId } of temporal.workflow.list({ query })) running.add(workflowId);
      return running;
    },
    log,
  });
}
