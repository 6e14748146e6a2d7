import { AUTOSCALER_LEASE, GROUP, MACHINE_PLURAL, PLURAL } from '../../domain/node-group/api/names.ts';
import { PLAN_LEASE } from '../../domain/node-group/plan-claim.ts';
import type { Access } from '../../platform/kubernetes/access.ts';
import { webhookAccess } from '../admission/webhook-access.ts';

const WATCHED = ['list', 'watch'];

export const nodeGroupAccess: readonly Access[] = [
  {
    component: 'node-group',
    about: 'The starter sees all nodes and pods of the cluster for it, and changes none.',
    everywhere: [
      {
        why: 'A NodeGroup or a machine that changes wakes the workflow of the group.',
        apiGroups: [GROUP],
        resources: [PLURAL, MACHINE_PLURAL],
        verbs: WATCHED,
      },
      {
        why: 'Whether the definitions are ours: no plan is acted on where they are not.',
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: [PLURAL, MACHINE_PLURAL].map((plural) => `${plural}.${GROUP}`),
        verbs: ['get'],
      },
      {
        why: 'Which pods wait for a node, what runs on each node, and by which rules the scheduler would place it elsewhere.',
        apiGroups: [''],
        resources: ['pods', 'nodes', 'namespaces', 'persistentvolumeclaims', 'persistentvolumes'],
        verbs: WATCHED,
      },
      {
        why: 'What runs on every new node.',
        apiGroups: ['apps'],
        resources: ['daemonsets'],
        verbs: WATCHED,
      },
      {
        why: 'What is filled into pods that are created there, so that a new node is charged what its DaemonSets really take.',
        apiGroups: [''],
        resources: ['limitranges'],
        verbs: WATCHED,
      },
      {
        why: 'What its pods take besides, and where they may run.',
        apiGroups: ['node.k8s.io'],
        resources: ['runtimeclasses'],
        verbs: WATCHED,
      },
      {
        why: 'Which pods may not be evicted.',
        apiGroups: ['policy'],
        resources: ['poddisruptionbudgets'],
        verbs: WATCHED,
      },
      {
        why: 'Where the volume of a claim can be, and how many a node takes.',
        apiGroups: ['storage.k8s.io'],
        resources: ['storageclasses', 'csinodes'],
        verbs: WATCHED,
      },
      {
        why: 'How much of its CPU and memory each node uses.',
        apiGroups: ['metrics.k8s.io'],
        resources: ['nodes'],
        verbs: ['get', 'list'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'Which plan was acted on last: read for each plan, as a watch could be behind.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [PLAN_LEASE],
        verbs: ['get'],
      },
      {
        why: 'What is paused: a plan asks for no machines of a group that is.',
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['headroom-pause', 'headroom-pauses'],
        verbs: ['get'],
      },
    ],
    inKubeSystem: [
      {
        why: 'Whether the VPSie autoscaler still runs: no plan is acted on then.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [AUTOSCALER_LEASE],
        verbs: ['get'],
      },
    ],
  },
  webhookAccess('node-group/webhook', 'headroom-node-group', ['validatingwebhookconfigurations']),
];
