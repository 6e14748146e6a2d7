import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { QuotaUsageActivities } from '../../activities/quota-usage/interface.ts';
import { createQuotaUsageActivities } from '../../activities/quota-usage/kubernetes-activities.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';

/** Its counts are not among them: starters host those, beside their caches. */
export const quotaUsageController: WorkerController = {
  workflowTypes: ['quotaUsage', 'quotaUsageRollUp'],
  // It tells in Events, which every worker may write.
  access: [],
  isEnabled: ({ quotaUsage }) => quotaUsage.mode !== 'off',
  createActivities,
};

function createActivities({ config, kubeConfig, pauses, log }: ControllerContext): QuotaUsageActivities {
  const { systemNamespace } = config.kubernetes;
  return createQuotaUsageActivities({ kubernetes: connectKubernetes(kubeConfig), systemNamespace, pauses, log });
}
