/** The keys that `spec.hard` of a ResourceQuota may have. */

/** The keys without a slash, from Kubernetes' documentation of resource quotas. */
export const plainQuotaKeys: readonly string[] = [
  'cpu',
  'memory',
  // Not a key of a quota, but charts and policies use it for `requests.storage`.
  'storage',
  'ephemeral-storage',
  'pods',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'services',
  'services.nodeports',
  'services.loadbalancers',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
];

// `count/jobs.batch`, `requests.nvidia.com/gpu`, `gold.storageclass.storage.k8s.io/requests.storage`.
const QUALIFIED_KEY =
  /^(?:count|[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+)\/[A-Za-z0-9](?:[-._A-Za-z0-9]*[A-Za-z0-9])?$/;
const HUGE_PAGES = /^(?:requests\.)?hugepages-[0-9]+[KMGT]i$/;

/** Whether a text is a key of a quota, or `storage`. */
export function isQuotaKey(text: string): boolean {
  return plainQuotaKeys.includes(text) || QUALIFIED_KEY.test(text) || HUGE_PAGES.test(text);
}
