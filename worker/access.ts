import { EVENT_COMPONENT } from '../activities/kernel/object-event.ts';
import type { Access } from '../platform/kubernetes/access.ts';

/** The permissions that every worker needs. */
export const workerAccess: Access = {
  component: '',
  about:
    'What Headroom may do whatever is switched on: write Events, and the ConfigMap headroom-pauses of its own namespace. No process can change a quota, a workload or a namespace, or read a Secret. Each controller adds what it needs, and says so. The worker runs the activities.',
  everywhere: [
    {
      why: 'Its UID tells this cluster from others.',
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['kube-system'],
      verbs: ['get'],
    },
    {
      why: 'What is done and what is wrong, on the object that it is about.',
      apiGroups: [''],
      resources: ['events'],
      verbs: ['create'],
      conditions: [
        {
          expression: `object.reportingComponent == '${EVENT_COMPONENT}' && object.?source.?component.orValue('') == '${EVENT_COMPONENT}'`,
          message: 'may write Events in its own name only',
        },
      ],
    },
  ],
  inSystemNamespace: [
    {
      why: 'What is paused: watched, and read again before a write where the watch is not sure. It is never created here.',
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['headroom-pause', 'headroom-pauses'],
      verbs: ['get', 'list', 'watch'],
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
