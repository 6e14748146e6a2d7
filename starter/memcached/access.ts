import { GROUP, PLURAL } from '../../domain/memcached/api/names.ts';
import { CHILD_TYPES } from '../../domain/memcached/children/children.ts';
import { ENDPOINT_SLICES } from '../../domain/memcached/servers/endpoints.ts';
import type { Access } from '../../platform/kubernetes/access.ts';
import { webhookAccess } from '../admission/webhook-access.ts';

export const memcachedAccess: readonly Access[] = [
  {
    component: 'memcached',
    everywhere: [
      {
        why: 'A Memcached that is not as specified gets a reconcile request.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['list', 'watch'],
      },
      ...[...Map.groupBy(Object.values(CHILD_TYPES), ({ group }) => group)].map(([group, types]) => ({
        why: 'What Memcacheds own, by its labels: what somebody changes or deletes, and how many pods are ready. ServiceMonitors are watched where they are served.',
        apiGroups: [group],
        resources: types.map(({ plural }) => plural),
        verbs: ['list', 'watch'],
      })),
      {
        why: 'The pods behind their Services, by the labels of these: when one comes or goes, slots may have to change.',
        apiGroups: [ENDPOINT_SLICES.group],
        resources: [ENDPOINT_SLICES.plural],
        verbs: ['list', 'watch'],
      },
    ],
  },
  {
    component: 'memcached/secrets',
    whereBound: [
      {
        why: 'When one of them comes, changes or goes. Asked for is their metadata only, for which alone Kubernetes has no right.',
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  webhookAccess('memcached/webhook', 'headroom-memcached'),
];
