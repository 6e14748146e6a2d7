import { FORMER_LEASE, GROUP, KIND, PLURAL } from '../../domain/memcached/api/names.ts';
import { CHILD_TYPES } from '../../domain/memcached/children/children.ts';
import { ENDPOINT_SLICES } from '../../domain/memcached/servers/endpoints.ts';
import type { Access, AccessRule } from '../../platform/kubernetes/access.ts';

const OWNER = `${GROUP}/${KIND}`;

const { ConfigMap: configMap, ...others } = CHILD_TYPES;

/** Together with the owner reference, by which the API server's policy knows whose object it is. */
const CHANGES = ['metadata.labels', 'metadata.annotations'];

const children: readonly AccessRule[] = [
  ...[...Map.groupBy(Object.values(others), ({ group }) => group)].map(([group, types]) => ({
    why: 'What a Memcached owns. get: how it is. create and patch: an apply of what it is to be. delete: what was switched off.',
    apiGroups: [group],
    resources: types.map(({ plural }) => plural),
    verbs: ['get', 'create', 'patch', 'delete'],
    changes: ['spec', ...CHANGES],
    ownedBy: OWNER,
  })),
  {
    why: 'The servers of a Memcached for its clients, which are never switched off.',
    apiGroups: [configMap.group],
    resources: [configMap.plural],
    verbs: ['get', 'create', 'patch'],
    changes: ['data', ...CHANGES],
    ownedBy: OWNER,
  },
];

export const memcachedAccess: readonly Access[] = [
  {
    component: 'memcached',
    about: `What running Memcacheds needs. With it the worker can create Deployments, and so pods, in every namespace.

Kubernetes has no right for the objects of an owner: the policy of writes holds these to objects whose controller is a Memcached. Where Memcacheds are in a few namespaces only, bind the role there with RoleBindings in place of the ClusterRoleBinding: elsewhere a Memcached then says that it cannot be read.`,
    everywhere: [
      {
        why: 'The Memcached of an episode.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['get'],
      },
      {
        why: 'Conditions, ready pods, where clients connect.',
        apiGroups: [GROUP],
        resources: [`${PLURAL}/status`],
        verbs: ['patch'],
        changes: ['status'],
      },
      {
        why: 'An owner reference that holds back the deletion of its owner, where the API server asks for this right (OwnerReferencesPermissionEnforcement).',
        apiGroups: [GROUP],
        resources: [`${PLURAL}/finalizers`],
        verbs: ['update'],
        changes: ['metadata.finalizers'],
      },
      {
        why: 'Whether the operator that ran Memcacheds before still runs: nothing is written then.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [FORMER_LEASE],
        verbs: ['get'],
      },
      {
        why: 'The pods behind the Service of a Memcached: each has one slot, and keeps it.',
        apiGroups: [ENDPOINT_SLICES.group],
        resources: [ENDPOINT_SLICES.plural],
        verbs: ['list'],
      },
      ...children,
    ],
  },
  {
    component: 'memcached/secrets',
    about:
      'The Secrets that Memcacheds mount, so that pods are replaced when one changes. They are bound in the namespaces of rights.memcachedSecrets only. Whoever takes over the worker or a starter may then read every Secret of that namespace.',
    whereBound: [
      {
        why: 'What is in those that a Memcached names: pods have a hash of it.',
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['get'],
      },
    ],
  },
];
