import type { Access } from '../platform/kubernetes/access.ts';

/** What the starter may do whatever it watches. */
export const starterAccess: Access = {
  component: '',
  about: 'The starter watches. What it may write is with what needs it.',
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
      why: 'What is paused: whom a pause, or its end, wakes.',
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['headroom-pause', 'headroom-pauses'],
      verbs: ['list', 'watch'],
    },
  ],
};
