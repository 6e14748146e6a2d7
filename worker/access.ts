import type { Access } from '../platform/kubernetes/access.ts';

/** The permissions that every worker needs. */
export const workerAccess: Access = {
  component: '',
  about:
    'What Headroom may do, and no more. Neither process can change a quota, a workload or a namespace, read a Secret, or write anywhere but Events on quotas, and Leases and the ConfigMap headroom-pauses of its own namespace. What is switched on adds what it needs, and says so. The worker runs the activities.',
  everywhere: [
    {
      why: 'Its UID tells this cluster from others.',
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['kube-system'],
      verbs: ['get'],
    },
  ],
  inSystemNamespace: [
    {
      why: 'What is paused: watched, and read again before a write where the watch is not sure. It is never created here.',
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['headroom-pause', 'headroom-pauses'],
      verbs: ['get', 'watch'],
    },
    {
      why: 'A pause that people send to a workflow, and its end.',
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['headroom-pauses'],
      verbs: ['patch'],
      changes: ['data', 'binaryData'],
    },
  ],
};
