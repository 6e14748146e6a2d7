/** How to read and list each kind of workload. */
import type { V1ListMeta } from '@kubernetes/client-node';
import type { WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { listAll } from '../kubernetes/list.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { customPage } from '../kubernetes/custom-page.ts';
import {
  cronJobOf,
  deploymentOf,
  type LoneWorkload,
  type ReplicatedObject,
  replicatedOf,
  rolloutOf,
  scaledJobOf,
  statefulSetOf,
} from './read-workload.ts';

/** Which part of a list is asked for. */
export interface ListRange {
  readonly limit: number;
  readonly _continue?: string;
}

/** Identifies an object. */
interface ObjectLocation {
  readonly namespace: string;
  readonly name: string;
}

interface WorkloadApi {
  readonly read: (kubernetes: Kubernetes, location: ObjectLocation) => Promise<LoneWorkload>;
  /** One page of the list of all namespaces. */
  readonly page: (
    kubernetes: Kubernetes,
    range: ListRange,
  ) => Promise<{ readonly metadata: V1ListMeta | undefined; readonly items: readonly LoneWorkload[] }>;
  /** How to count its pods; null for a kind without pods of its own, which is ready as soon as it is written. */
  readonly pods: {
    readonly read: (kubernetes: Kubernetes, location: ObjectLocation) => Promise<ReplicatedObject>;
    /** All workloads of one namespace. */
    readonly list: (kubernetes: Kubernetes, namespace: string) => Promise<readonly ReplicatedObject[]>;
  } | null;
}

function customResource(kind: WorkloadType): {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
} {
  const { group, version, resource } = WORKLOAD_KINDS[kind].resource;
  return { group, version, plural: resource };
}

export const ROLLOUTS = customResource('Rollout');
export const SCALED_JOBS = customResource('ScaledJob');

export const WORKLOAD_API: Readonly<Record<WorkloadType, WorkloadApi>> = {
  Deployment: {
    read: async ({ apps }, location) => deploymentOf(await apps.readNamespacedDeployment(location)),
    page: async ({ apps }, range) => {
      const { metadata, items } = await apps.listDeploymentForAllNamespaces(range);
      return { metadata, items: items.map(deploymentOf) };
    },
    pods: {
      read: async ({ apps }, location) => await apps.readNamespacedDeployment(location),
      list: async ({ apps }, namespace) =>
        await listAll((range) => apps.listNamespacedDeployment({ namespace, ...range })),
    },
  },
  StatefulSet: {
    read: async ({ apps }, location) => statefulSetOf(await apps.readNamespacedStatefulSet(location)),
    page: async ({ apps }, range) => {
      const { metadata, items } = await apps.listStatefulSetForAllNamespaces(range);
      return { metadata, items: items.map(statefulSetOf) };
    },
    pods: {
      read: async ({ apps }, location) => await apps.readNamespacedStatefulSet(location),
      list: async ({ apps }, namespace) =>
        await listAll((range) => apps.listNamespacedStatefulSet({ namespace, ...range })),
    },
  },
  CronJob: {
    read: async ({ batch }, location) => cronJobOf(await batch.readNamespacedCronJob(location)),
    page: async ({ batch }, range) => {
      const { metadata, items } = await batch.listCronJobForAllNamespaces(range);
      return { metadata, items: items.map(cronJobOf) };
    },
    pods: null,
  },
  Rollout: {
    read: async ({ custom }, location) =>
      rolloutOf(await custom.getNamespacedCustomObject({ ...ROLLOUTS, ...location })),
    page: async ({ custom }, range) =>
      await customPage(custom.listClusterCustomObject({ ...ROLLOUTS, ...range }), rolloutOf),
    pods: {
      read: async ({ custom }, location) =>
        replicatedOf(await custom.getNamespacedCustomObject({ ...ROLLOUTS, ...location })),
      list: async ({ custom }, namespace) =>
        await listAll(async (range) => {
          const page = custom.listNamespacedCustomObject({ ...ROLLOUTS, namespace, ...range });
          const { metadata = {}, items } = await customPage(page, replicatedOf);
          return { metadata, items };
        }),
    },
  },
  ScaledJob: {
    read: async ({ custom }, location) =>
      scaledJobOf(await custom.getNamespacedCustomObject({ ...SCALED_JOBS, ...location })),
    page: async ({ custom }, range) =>
      await customPage(custom.listClusterCustomObject({ ...SCALED_JOBS, ...range }), scaledJobOf),
    pods: null,
  },
};
