/** What quotas count in a cluster without custom resources. */

/**
 * By API group. A test compares it with what a real API server serves. Secrets are apart, because whoever may list them may
 * read them.
 */
export const COUNTABLE: Readonly<Record<string, readonly string[]>> = {
  '': [
    'configmaps',
    'endpoints',
    'limitranges',
    'persistentvolumeclaims',
    'pods',
    'podtemplates',
    'replicationcontrollers',
    'resourcequotas',
    'serviceaccounts',
    'services',
  ],
  apps: ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  autoscaling: ['horizontalpodautoscalers'],
  batch: ['cronjobs', 'jobs'],
  'coordination.k8s.io': ['leases'],
  'discovery.k8s.io': ['endpointslices'],
  'networking.k8s.io': ['ingresses', 'networkpolicies'],
  policy: ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io': ['rolebindings', 'roles'],
  'resource.k8s.io': ['resourceclaims', 'resourceclaimtemplates'],
  'storage.k8s.io': ['csistoragecapacities'],
};
