/** Whether a key is one that `spec.hard` of a ResourceQuota may have. */

const PLAIN = new Set([
  'cpu',
  'memory',
  'storage',
  'ephemeral-storage',
  'pods',
  'services',
  'services.loadbalancers',
  'services.nodeports',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'replicationcontrollers',
  'resourcequotas',
]);

export function isQuotaKey(key: string): boolean {
  return (
    PLAIN.has(key) ||
    /^(?:requests|limits)\.[\w./-]+$/.test(key) ||
    /^count\/[\w.-]+$/.test(key) ||
    /^hugepages-\w+$/.test(key) ||
    /\.storageclass\.storage\.k8s\.io\//.test(key)
  );
}
