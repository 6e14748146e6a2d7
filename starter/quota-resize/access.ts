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
        why: 'Which pull request is whose: whom a webhook of GitHub wakes, and what metrics tell of open pull requests and unmet demand.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['list', 'watch'],
      },
    ],
  },
];
