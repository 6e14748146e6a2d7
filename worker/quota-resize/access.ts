import type { Access } from '../../platform/kubernetes/access.ts';

/** It reads quotas, what they refused and where they are applied from, and keeps Leases. */
export const quotaResizeAccess: readonly Access[] = [
  {
    component: 'quota-resize',
    everywhere: [
      {
        why: "get: the annotations of a decision's namespace. list: the namespaces that count towards the totals of a guardrail.",
        apiGroups: [''],
        resources: ['namespaces'],
        verbs: ['get', 'list'],
      },
      {
        why: 'get: the quota of a decision. list: the other quotas of its namespace, and those that count towards the totals of a guardrail.',
        apiGroups: [''],
        resources: ['resourcequotas'],
        verbs: ['get', 'list'],
      },
      { why: 'What admission refused.', apiGroups: [''], resources: ['events'], verbs: ['list'] },
      {
        why: 'The pods and claims of a namespace, to know what a refused workload misses and whether the quota has counted right; and the defaults that a new pod would get.',
        apiGroups: [''],
        resources: ['pods', 'persistentvolumeclaims', 'limitranges'],
        verbs: ['list'],
      },
      {
        why: 'Refused owners. ReplicaSets and ReplicationControllers say in a condition that they are refused, so all are looked at.',
        apiGroups: [''],
        resources: ['replicationcontrollers'],
        verbs: ['list'],
      },
      { why: 'The same.', apiGroups: ['apps'], resources: ['replicasets'], verbs: ['list'] },
      {
        why: 'Owners that are named.',
        apiGroups: ['apps'],
        resources: ['deployments', 'statefulsets', 'daemonsets'],
        verbs: ['get'],
      },
      {
        why: 'When a StatefulSet got the template that it has: what was refused before was another one.',
        apiGroups: ['apps'],
        resources: ['controllerrevisions'],
        verbs: ['get'],
      },
      {
        why: 'list: whether a CronJob has made the Job that was refused.',
        apiGroups: ['batch'],
        resources: ['jobs'],
        verbs: ['get', 'list'],
      },
      { why: 'The CronJob itself.', apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get'] },
      {
        why: 'The overhead that a pod of the class is charged besides its containers.',
        apiGroups: ['node.k8s.io'],
        resources: ['runtimeclasses'],
        verbs: ['get'],
      },
      {
        why: 'The claims of devices that come with a pod, for a quota that counts them.',
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaimtemplates'],
        verbs: ['get'],
      },
      {
        why: 'The default class, for a quota that counts storage by class.',
        apiGroups: ['storage.k8s.io'],
        resources: ['storageclasses'],
        verbs: ['list'],
      },
      {
        why: 'The default class, for a quota that selects pods by their priority class.',
        apiGroups: ['scheduling.k8s.io'],
        resources: ['priorityclasses'],
        verbs: ['list'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'Locks and memory. delete: file locks that are over.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['get', 'list', 'create', 'update', 'delete'],
        changes: ['metadata.annotations', 'spec'],
      },
    ],
  },
  {
    component: 'quota-resize/deliveries',
    about: 'Bound everywhere, or in the namespaces of config.kubernetes.deliveryNamespaces where these are all.',
    whereBound: [
      {
        why: 'Where Argo CD applies a quota from, and what else it applies from there.',
        apiGroups: ['argoproj.io'],
        resources: ['applications'],
        verbs: ['get', 'list'],
      },
      {
        why: 'Where Flux applies a quota from, likewise.',
        apiGroups: ['kustomize.toolkit.fluxcd.io'],
        resources: ['kustomizations'],
        verbs: ['get', 'list'],
      },
      {
        why: 'What Flux installs a chart by that has a quota, likewise.',
        apiGroups: ['helm.toolkit.fluxcd.io'],
        resources: ['helmreleases'],
        verbs: ['get'],
      },
      {
        why: 'The repository that Flux reads.',
        apiGroups: ['source.toolkit.fluxcd.io'],
        resources: ['gitrepositories'],
        verbs: ['get', 'list'],
      },
    ],
  },
];
