import { GROUP, PLURAL } from '../../domain/lights-out/schedule/names.ts';
import { workloadResources } from '../../domain/lights-out/workload/kinds.ts';
import type { Access } from '../../platform/kubernetes/access.ts';

export const lightsOutAccess: readonly Access[] = [
  {
    component: 'lights-out',
    everywhere: [
      {
        why: 'Each schedule has a workflow, which gets a reconcile request when the schedule changes; and the webhook warns of two that overlap.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['list', 'watch'],
      },
      ...workloadResources().map(({ group, resources }) => ({
        why: 'What is created or scaled up while its schedule is down. Namespaces are in deploy/rbac.yaml.',
        apiGroups: [group],
        resources,
        verbs: ['list', 'watch'],
      })),
      {
        why: 'What somebody does to the autoscaler of a workload that is down.',
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers'],
        verbs: ['list', 'watch'],
      },
      {
        why: "KEDA's are watched where KEDA is installed.",
        apiGroups: ['keda.sh'],
        resources: ['scaledobjects'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  {
    component: 'lights-out/webhook',
    about: 'What the starter needs to make the certificate of its webhooks itself, and to tell the API server of it.',
    everywhere: [
      {
        why: 'caBundle: by which certificate the API server knows the starter. Its own two configurations only.',
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
        resourceNames: ['headroom-lights-out'],
        verbs: ['get', 'patch'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'The key and certificate that all starters share: the first one makes them. A right to create cannot be bound to a name.',
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['create'],
      },
      {
        why: 'get: what another starter made. update: a new one before the old one is over.',
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['headroom-lights-out-tls'],
        verbs: ['get', 'update'],
      },
    ],
  },
];
