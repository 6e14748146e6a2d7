import type { Access, AccessRule } from '../../platform/kubernetes/access.ts';
import { COUNTABLE } from './countable.ts';
import { OWNER_LEASE } from './owner-lease.ts';

const counted: readonly AccessRule[] = Object.entries(COUNTABLE).map(([group, resources]) => ({
  why: group === '' ? 'What quotas count, but Secrets.' : `What quotas count of ${group}.`,
  apiGroups: [group],
  resources,
  verbs: ['list', 'watch'],
}));

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
    inSystemNamespace: [
      {
        why: 'The Lease that names the starter which writes; the policy of writes holds this to that name.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'update'],
        changes: ['spec'],
        conditions: [
          {
            expression: `object.metadata.name == '${OWNER_LEASE}'`,
            message: `writes no other Lease than ${OWNER_LEASE}`,
          },
        ],
      },
      {
        why: 'Whether another starter holds it.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [OWNER_LEASE],
        verbs: ['get'],
      },
      {
        why: 'What is paused: read before a status is written, when the watch of it is behind.',
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['headroom-pause', 'headroom-pauses'],
        verbs: ['get'],
      },
    ],
  },
  {
    component: 'quota-usage/reading',
    about: `The starter counts what quotas limit from informer caches, so it may list and watch what Kubernetes itself has and quotas can count. It watches only what some quota's \`hard\` names. Of pods, services, claims and device classes it keeps the fields that count; of everything else it asks for metadata only.

What is forbidden leaves only its own keys uncounted, and the log says why. So a patch of kustomize, which may be Helm's --post-renderer, may make the list shorter. Secrets are counted with rights.countSecrets, custom resources with a ClusterRole of your own: docs/quota-usage.md.`,
    everywhere: [
      ...counted,
      {
        why: 'How claims of devices are charged.',
        apiGroups: ['resource.k8s.io'],
        resources: ['deviceclasses'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  {
    component: 'quota-usage/secrets',
    about: `For quotas with \`count/secrets\` or \`secrets\`. The starter asks for the metadata of Secrets only, so that their data never leaves the API server. Kubernetes has no right for that alone: whoever holds this account's token may read every Secret of the cluster. Without it these keys are uncounted, and everything else is counted.`,
    everywhere: [{ why: 'How many there are.', apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }],
  },
];
