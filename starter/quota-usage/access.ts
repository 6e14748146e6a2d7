import type { Access } from '../../platform/kubernetes/access.ts';

export const quotaUsageAccess: readonly Access[] = [
  {
    component: 'quota-usage/reading',
    about: `The starter counts what quotas limit from informer caches, so it may list and watch what can be counted: here everything, as Kubernetes' own controller does. Nobody knows beforehand which custom resources a quota will count.

It watches only what some quota's \`hard\` names. Of pods, services, claims and device classes it keeps the fields that count; of everything else it asks for metadata only, so that the data of a Secret never leaves the API server. Kubernetes has no right for that alone, though: whoever holds this account's token may list Secrets whole. Where that is too much, narrow the rule to what your quotas count. What is forbidden leaves only its own keys uncounted, and the log says why:

  - apiGroups: [""]
    resources: [resourcequotas, pods, services, persistentvolumeclaims, configmaps]
    verbs: [list, watch]
  - apiGroups: [apps]
    resources: [deployments, statefulsets]
    verbs: [list, watch]
  - apiGroups: [resource.k8s.io]
    resources: [resourceclaims, deviceclasses]
    verbs: [list, watch]`,
    everywhere: [{ why: 'Whatever a quota may count.', apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] }],
  },
];
