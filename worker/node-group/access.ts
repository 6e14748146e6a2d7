import {
  AUTOSCALER_LEASE,
  GROUP,
  GROUP_FINALIZER,
  MACHINE_FINALIZER,
  MACHINE_PLURAL,
  PLURAL,
} from '../../domain/node-group/api/names.ts';
import { definitionNames } from '../../domain/node-group/api/own-definition.ts';
import { PLAN_LEASE } from '../../domain/node-group/plan-claim.ts';
import { DRAIN_ANNOTATIONS } from '../../domain/node-group/drain/marks.ts';
import { DEFAULT_VPSIE_SECRET } from '../../domain/node-group/settings.ts';
import type { Access } from '../../platform/kubernetes/access.ts';

export const nodeGroupAccess: readonly Access[] = [
  {
    component: 'node-group',
    about: `What following NodeGroups needs. With it the worker can evict every pod and delete every Node of the cluster, and has the machines of VPSie with the token of its Secret.

Kubernetes has no right for some fields of a Node: the policy of writes holds those to cordons, taints, labels and the annotations of drains.`,
    everywhere: [
      {
        why: 'get, list: the nodes of a group, the one that is drained, and before it goes how many of the cluster are ready. patch: its cordon and who drains it; labels and taints of the group. delete: a Node whose machine is gone.',
        apiGroups: [''],
        resources: ['nodes'],
        verbs: ['get', 'list', 'patch', 'delete'],
        changes: [
          'spec.unschedulable',
          'spec.taints',
          'metadata.labels',
          ...DRAIN_ANNOTATIONS.map((key) => `metadata.annotations.${key}`),
        ],
      },
      {
        why: 'What runs on a node, before it goes.',
        apiGroups: [''],
        resources: ['pods'],
        verbs: ['list'],
      },
      {
        why: 'The pods of a node that is drained, one by one, as far as their PodDisruptionBudgets allow.',
        apiGroups: [''],
        resources: ['pods/eviction'],
        verbs: ['create'],
      },
      {
        why: 'Which of them refuses an eviction.',
        apiGroups: ['policy'],
        resources: ['poddisruptionbudgets'],
        verbs: ['list'],
      },
      {
        why: 'Whether the definitions are ours: those of the VPSie autoscaler lose what is written.',
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        resourceNames: [...definitionNames],
        verbs: ['get'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'By which plan is acted, and what people and failed drains want of nodes.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [PLAN_LEASE],
        verbs: ['get', 'update'],
        changes: ['metadata.annotations', 'spec'],
      },
      {
        why: 'The same, for the first plan; the policy of writes holds this to that name.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        createdNames: [PLAN_LEASE],
        verbs: ['create'],
      },
    ],
    inKubeSystem: [
      {
        why: 'get: the NodeGroup of a decision. patch: its finalizer.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['get', 'patch'],
        changes: [`metadata.finalizers.${GROUP_FINALIZER}`],
      },
      {
        why: 'The machines of a group. create: before the provider is asked for one. patch: by which name the provider knows it, and which group holds it. delete: when its Node is drained, as whoever deletes one has it drained.',
        apiGroups: [GROUP],
        resources: [MACHINE_PLURAL],
        verbs: ['get', 'list', 'create', 'patch', 'delete'],
        changes: [
          'spec',
          'metadata.labels',
          'metadata.annotations',
          'metadata.ownerReferences',
          `metadata.finalizers.${MACHINE_FINALIZER}`,
        ],
      },
      {
        why: 'How many nodes there are and should be, where a machine is in its life, and why.',
        apiGroups: [GROUP],
        resources: [`${PLURAL}/status`, `${MACHINE_PLURAL}/status`],
        verbs: ['patch'],
        changes: ['status'],
      },
      {
        why: 'Whether the VPSie autoscaler still runs: nothing is written then.',
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [AUTOSCALER_LEASE],
        verbs: ['get'],
      },
      {
        why: 'The credentials of VPSie.',
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: [DEFAULT_VPSIE_SECRET],
        namedBy: 'nodeGroups.vpsieSecret',
        verbs: ['get'],
      },
    ],
  },
  {
    component: 'node-group/kwok',
    about:
      'What NodeGroups with the provider kwok need besides: for demos, tests and measurements. With it the worker can create Nodes.',
    everywhere: [
      {
        why: 'A machine of kwok is nothing but a Node.',
        apiGroups: [''],
        resources: ['nodes'],
        verbs: ['create'],
      },
    ],
    inKubeSystem: [
      {
        why: 'The instance types of its nodes.',
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['kwok-instance-types'],
        verbs: ['get'],
      },
    ],
  },
];
