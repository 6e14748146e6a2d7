import type { Access } from '../platform/kubernetes/access.ts';

/** What the starter may do whatever it watches. */
const common: Access = {
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

/** To serve the overview to others: who has a token, and what they may read. */
const overview: Access = {
  component: 'overview',
  about: 'What the starter needs to serve the overview to others than those who may forward a port to it.',
  everywhere: [
    {
      why: 'Whose token it is.',
      apiGroups: ['authentication.k8s.io'],
      resources: ['tokenreviews'],
      verbs: ['create'],
    },
    {
      why: 'Whether that user may read the overview.',
      apiGroups: ['authorization.k8s.io'],
      resources: ['subjectaccessreviews'],
      verbs: ['create'],
    },
  ],
};

export const starterAccess: readonly Access[] = [common, overview];
