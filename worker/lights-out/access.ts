import {
  DOWN_SINCE,
  FINALIZER,
  GROUP,
  KIND,
  KEDA_PAUSED,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_PAUSED,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  PLURAL,
  SCALED_OWNER,
} from '../../domain/lights-out/schedule/names.ts';
import { workloadResources } from '../../domain/lights-out/workload/kinds.ts';
import type { Access } from '../../platform/kubernetes/access.ts';

/** The annotations of whatever a schedule put to sleep, and further ones. */
function annotations(...more: readonly string[]): readonly string[] {
  return [...more, MANAGED_BY, DOWN_SINCE].map((key) => `metadata.annotations.${key}`);
}

/** The labels of whatever a schedule put to sleep, and further ones. */
function labels(...more: readonly string[]): readonly string[] {
  return [...more, MANAGED_BY].map((key) => `metadata.labels.${key}`);
}

export const lightsOutAccess: readonly Access[] = [
  {
    component: 'lights-out',
    about: `What following LightsOutSchedules needs. With it the worker can change workloads, which it otherwise cannot; it can create and delete none, and the starter only reads.

Kubernetes has no right for some fields of an object: the policy of writes holds these to the fields that are needed. Nor has it one for some namespaces of a cluster-wide role. Where the worker may touch a few namespaces only, take \`patch\` out of the rules for workloads and autoscalers, and bind a role with it in those namespaces: whatever else a schedule selects is then shown as failing, and left.`,
    everywhere: [
      {
        why: 'Which namespaces a schedule selects.',
        apiGroups: [''],
        resources: ['namespaces'],
        verbs: ['list'],
      },
      {
        why: 'get: the schedule of a decision. list: the others, because each workload has one owner. patch: the finalizer that keeps a deleted schedule until everything that it put to sleep is awake.',
        apiGroups: [GROUP],
        resources: [PLURAL],
        verbs: ['get', 'list', 'patch'],
        changes: [`metadata.finalizers.${FINALIZER}`],
      },
      {
        why: 'State, next transitions, conditions, saved replica-hours.',
        apiGroups: [GROUP],
        resources: [`${PLURAL}/status`],
        verbs: ['patch'],
        changes: ['status'],
      },
      ...workloadResources().map(({ group, resources, fields }) => ({
        why: "list: what a schedule selects, and what it put to sleep, wherever that is now. get: one that changed meanwhile is evaluated again. patch: replicas, `suspend` or KEDA's annotation `paused`, and the annotations that say what they were. Harmless where Argo Rollouts or KEDA is not installed.",
        apiGroups: [group],
        resources,
        verbs: ['get', 'list', 'patch'],
        changes: [
          ...fields.filter((field) => field !== 'paused').map((field) => `spec.${field}`),
          ...annotations(
            ...(fields.includes('replicas') ? [ORIGINAL_REPLICAS, SCALED_OWNER] : [ORIGINAL_SUSPEND]),
            ...(fields.includes('paused') ? [ORIGINAL_PAUSED, KEDA_PAUSED] : []),
          ),
          ...labels(...(fields.includes('replicas') ? [ORIGINAL_REPLICAS] : [])),
        ],
      })),
      {
        why: 'A CronJob that is to be woken without the runs that it missed (`spec.cronJobs.catchUp: none`): the time of its last run.',
        apiGroups: ['batch'],
        resources: ['cronjobs/status'],
        verbs: ['patch'],
        changes: ['status'],
      },
      {
        why: 'An autoscaler that would wake a workload again: its bounds are narrowed while the workload is down.',
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers'],
        verbs: ['get', 'list', 'patch'],
        changes: ['spec.minReplicas', 'spec.maxReplicas', ...annotations(ORIGINAL_BOUNDS), ...labels()],
      },
      {
        why: "KEDA's: paused while the workload is down. Harmless where KEDA is not installed.",
        apiGroups: ['keda.sh'],
        resources: ['scaledobjects'],
        verbs: ['get', 'list', 'patch'],
        changes: [...annotations(KEDA_PAUSED_REPLICAS), ...labels()],
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
        why: 'The number of an owner, and who set it.',
        each: 'lightsOut.scaledOwners',
        apiGroups: ['GROUP'],
        resources: ['PLURAL'],
        verbs: ['get', 'list'],
      },
      {
        why: 'The number is set while the workloads of an owner are down, and nothing else of it.',
        each: 'lightsOut.scaledOwners',
        apiGroups: ['GROUP'],
        resources: ['PLURAL/scale'],
        verbs: ['patch'],
        changes: ['spec.replicas'],
      },
    ],
    inSystemNamespace: [
      {
        why: 'What each workload was before it was put to sleep, in case its marks are lost. list: the calendars, too; no right is for some labels only.',
        apiGroups: [''],
        resources: ['configmaps'],
        verbs: ['list', 'create', 'patch'],
        changes: ['data'],
        ownedBy: `${GROUP}/${KIND}`,
      },
    ],
  },
];
