import type { V1ListMeta } from '@kubernetes/client-node';
import { z } from 'zod';
import { GROUP, PLURAL, VERSION, workloadTypes } from '../../domain/lights-out/schedule/names.ts';
import { hasReplicas } from '../../domain/lights-out/workload/kinds.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull, statusCode } from '../kubernetes/failure.ts';
import { listAll } from '../kubernetes/list.ts';
import {
  horizontalScalerOf,
  kedaScalerOf,
  missingTargets,
  namespaceOf,
  type Scaler,
  targetKey,
  withAutoscalers,
} from './read-workload.ts';
import { type ListRange, WORKLOAD_API } from './workload-api.ts';

/** The resource of LightsOutSchedules. */
export const SCHEDULES = { group: GROUP, version: VERSION, plural: PLURAL } as const;
/** KEDA's resource, which may not be installed. */
export const SCALED_OBJECTS = { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' } as const;

/** All schedules of the cluster as written; none when their CustomResourceDefinition is missing. */
export async function listSchedules({ custom }: Kubernetes): Promise<readonly unknown[]> {
  return await listCustom(
    (range) => custom.listClusterCustomObject({ ...SCHEDULES, ...range }),
    (object) => object,
  );
}

/** The schedule as written; null when there is none with this name. */
export async function readScheduleObject({ custom }: Kubernetes, name: string): Promise<unknown> {
  return await orNull<unknown>(custom.getClusterCustomObject({ ...SCHEDULES, name }));
}

export async function listNamespaces({ core }: Kubernetes): Promise<readonly ScopedNamespace[]> {
  return await listKept(async (range) => {
    const { metadata, items } = await core.listNamespace(range);
    return pageOf(metadata, items.map(namespaceOf));
  });
}

/**
 * All workloads of the cluster of every kind: a workload that a schedule annotated is found in any namespace. If one
 * list fails, the call fails. `missing`: targets of autoscalers that do not exist.
 */
export async function listWorkloads(
  kubernetes: Kubernetes,
): Promise<{ readonly workloads: readonly Workload[]; readonly missing: readonly Workload[] }> {
  const listed = workloadTypes.map(
    async (kind) =>
      await listKept(async (range) => {
        const { metadata, items } = await WORKLOAD_API[kind].page(kubernetes, range);
        return pageOf(metadata, items);
      }),
  );
  const [workloads, scalers] = await Promise.all([Promise.all(listed), listScalers(kubernetes)]);
  const found = workloads.flat();
  return { workloads: withAutoscalers(found, scalers), missing: missingTargets(found, scalers) };
}

/** One workload with its autoscalers, read now; null when it is gone. */
export async function readWorkload(
  kubernetes: Kubernetes,
  { kind, namespace, name }: Pick<Workload, 'kind' | 'namespace' | 'name'>,
): Promise<Workload | null> {
  const found = await orNull(WORKLOAD_API[kind].read(kubernetes, { namespace, name }));
  if (found === null) return null;
  if (!hasReplicas(kind)) return { ...found, autoscalers: [] };
  const scalers = await listScalers(kubernetes, namespace);
  const key = targetKey(kind, namespace, name);
  return { ...found, autoscalers: scalers.filter(({ target }) => target === key).map(({ autoscaler }) => autoscaler) };
}

/** The autoscalers of one namespace, or of all. */
async function listScalers({ autoscaling, custom }: Kubernetes, namespace?: string): Promise<readonly Scaler[]> {
  const [horizontal, keda] = await Promise.all([
    listKept(async (range) => {
      const { metadata, items } =
        namespace === undefined
          ? await autoscaling.listHorizontalPodAutoscalerForAllNamespaces(range)
          : await autoscaling.listNamespacedHorizontalPodAutoscaler({ namespace, ...range });
      return pageOf(metadata, items.map(horizontalScalerOf));
    }),
    listCustom(
      (range) =>
        namespace === undefined
          ? custom.listClusterCustomObject({ ...SCALED_OBJECTS, ...range })
          : custom.listNamespacedCustomObject({ ...SCALED_OBJECTS, namespace, ...range }),
      kedaScalerOf,
    ),
  ]);
  return [...horizontal, ...keda].filter((scaler) => scaler !== null);
}

/** Each page is converted at once, because a complete object is ten times as large as the part that is kept. */
interface Page<T> {
  /** `listAll` takes API objects, whose fields are all optional. */
  readonly metadata?: never;
  readonly kept: T;
}

function pageOf<T>(metadata: V1ListMeta | undefined, kept: readonly T[]) {
  return { ...(metadata === undefined ? {} : { metadata }), items: kept.map((item): Page<T> => ({ kept: item })) };
}

async function listKept<T>(
  page: (range: ListRange) => Promise<{ metadata?: V1ListMeta; items: Page<T>[] }>,
): Promise<T[]> {
  return (await listAll<Page<T>>(page)).map(({ kept }) => kept);
}

/** A raw list response, where the typed client has no type. */
const rawList = z.object({
  metadata: z.object({ continue: z.string().optional() }).optional(),
  items: z.array(z.unknown()),
});

/** All objects of a custom resource; none when the resource is not defined. */
async function listCustom<T>(
  page: (range: ListRange) => Promise<unknown>,
  convert: (object: unknown) => T,
): Promise<readonly T[]> {
  try {
    return await listKept(async (range) => {
      const { metadata, items } = rawList.parse(await page(range));
      return pageOf(
        metadata?.continue === undefined ? undefined : { _continue: metadata.continue },
        items.map(convert),
      );
    });
  } catch (error) {
    if (statusCode(error) === 404) return [];
    throw error;
  }
}
