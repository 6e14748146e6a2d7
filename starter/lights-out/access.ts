import { GROUP, PLURAL } from '../../domain/lights-out/schedule/names.ts';
import { workloadResources } from '../../domain/lights-out/workload/kinds.ts';
import type { Access } from '../../platform/kubernetes/access.ts';
import { webhookAccess } from '../admission/webhook-access.ts';

export const lightsOutAccess: readonly Access[] = [
  {
    component: 'lights-out',
    everywhere: [
      {
        why: 'Which namespaces a schedule selects.',
        apiGroups: [''],
        resources: ['namespaces'],
        verbs: ['list', 'watch'],
      },
      {
        why: 'Each schedule has a workflow, which gets a reconcile request when the schedule changes; and the webhook warns of two that overlap. get: one that is observed, as a watch could be behind.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['get', 'list', 'watch'],
      },
      ...workloadResources().map(({ group, resources }) => ({
        why: 'What is created or scaled up while its schedule is down.',
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
      {
        why: 'Where the number of a kind of owners is, and whether it has a scale subresource.',
        each: 'lightsOut.scaledOwners',
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: ['PLURAL.GROUP'],
        verbs: ['get'],
      },
      {
        why: 'What somebody does to the owner of a workload that is down.',
        each: 'lightsOut.scaledOwners',
        apiGroups: ['GROUP'],
        resources: ['PLURAL'],
        verbs: ['list', 'watch'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'What is paused: an observation withholds it from the plan.',
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['headroom-pause', 'headroom-pauses'],
        verbs: ['get'],
      },
      {
        why: 'What each workload was before it was put to sleep, in case its marks are lost, and the calendars, which are also watched: no right is for some labels only.',
        apiGroups: [''],
        resources: ['configmaps'],
        verbs: ['list', 'watch'],
      },
    ],
  },
  webhookAccess('lights-out/webhook', 'headroom-lights-out'),
];
