import type { Access } from '../../platform/kubernetes/access.ts';

export const quotaUsageAccess: readonly Access[] = [
  {
    component: 'quota-usage/own',
    everywhere: [
      {
        why: 'The only thing that Headroom writes about a quota besides Events: its status, never its spec.',
        apiGroups: [''],
        resources: ['resourcequotas/status'],
        verbs: ['patch'],
        changes: ['status'],
      },
    ],
  },
];
