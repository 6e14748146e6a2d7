import type { Access } from '../../platform/kubernetes/access.ts';

export const quotaResizeAccess: readonly Access[] = [
  {
    component: 'quota-resize',
    everywhere: [
      {
        why: 'Quotas under pressure, refusals, and namespaces whose annotations change the policy.',
        apiGroups: [''],
        resources: ['resourcequotas', 'namespaces', 'events'],
        verbs: ['list', 'watch'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'What is decided, open and unmet, for the overview and the metrics, and whom a webhook of GitHub about a pull request wakes.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['list', 'watch'],
      },
    ],
  },
];
