import { connectKubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { QuotaUsageActivities } from '../../activities/quota-usage/interface.ts';
import { createQuotaUsageActivities } from '../../activities/quota-usage/kubernetes-activities.ts';
import type { Room, RoomContext } from '../room.ts';

/** Its counts are not among them: starters host those, beside their caches. */
export const quotaUsageRoom: Room = {
  workflowTypes: ['quotaUsage'],
  createActivities,
};

function createActivities({ config, kubeConfig, log }: RoomContext): QuotaUsageActivities {
  const { systemNamespace } = config.kubernetes;
  return createQuotaUsageActivities({ kubernetes: connectKubernetes(kubeConfig), systemNamespace, log });
}
