import type { Access } from '../../platform/kubernetes/access.ts';

export const leaseGcAccess: readonly Access[] = [
  {
    component: 'quota-resize',
    everywhere: [
      {
        why: 'Which namespaces and quotas still exist.',
        apiGroups: [''],
        resources: ['namespaces', 'resourcequotas'],
        verbs: ['list'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'update: unlocks Leases that no running workflow holds. delete: those of namespaces and quotas that are gone.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['get', 'list', 'update', 'delete'],
        changes: ['spec'],
      },
    ],
  },
];
