import type { V1ListMeta } from '@kubernetes/client-node';
import { type Calendars, readCalendar } from '../../domain/lights-out/schedule/calendar.ts';
import { CALENDAR, GROUP, PLURAL, VERSION, workloadTypes } from '../../domain/lights-out/schedule/names.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import type { Autoscaler, ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull } from '../kubernetes/failure.ts';
import { goneWorkload } from '../../domain/lights-out/workload/remembered.ts';
import { readOwnerName } from '../../domain/lights-out/workload/scaled-owner.ts';
import type { OwnerKinds, Owners } from './owners.ts';
import { listAll } from '../kubernetes/list.ts';
import { customPage } from '../kubernetes/custom-page.ts';
import {
  horizontalScalerOf,
  kedaScalerOf,
  missingTargets,
  type Scaler,
  targetKey,
  withAutoscalers,
  withOwnersAutoscalers,
} from './read-scaler.ts';
import { namespaceOf } from './read-workload.ts';
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

/** The calendars of Headroom's namespace. */
export async function listCalendars({ core }: Kubernetes, systemNamespace: string): Promise<Calendars> {
  const range = { namespace: systemNamespace, labelSelector: CALENDAR };
  const found = await listAll(async (page) => await core.listNamespacedConfigMap({ ...range, ...page }));
  return new Map(
    found.map(({ metadata, data = {} }) => [metadata?.name ?? '', readCalendar(metadata?.name ?? '', data)]),
  );
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
  kinds: OwnerKinds,
): Promise<{
  readonly workloads: readonly Workload[];
  readonly missing: readonly Workload[];
  readonly owners: Owners;
}> {
  const listed = workloadTypes.map(
    async (kind) =>
      await listKept(async (range) => {
        const { metadata, items } = await WORKLOAD_API[kind].page(kubernetes, range);
        return pageOf(metadata, items);
      }),
  );
  const [workloads, scalers, owners] = await Promise.all([Promise.all(listed), listScalers(kubernetes), kinds.list()]);
  const found = workloads.flat();
  const byTarget = Map.groupBy(scalers, ({ target }) => target);
  const attached = owners
    .attachedAll(withAutoscalers(found, scalers))
    .map((workload) => withOwnersAutoscalers(workload, (target) => autoscalersOf(byTarget.get(target))));
  return { workloads: attached, missing: missingTargets(found, scalers), owners };
}

/**
 * The workload of an item by its owner, with the autoscalers that the item names, read now. One that is gone is only there for its
 * autoscalers, or for its owner: without a UID. Null when nothing of the item is left.
 */
export async function readItem(
  kubernetes: Kubernetes,
  kinds: OwnerKinds,
  { workload, autoscalers = [], owner }: Pick<PlanItem, 'workload' | 'autoscalers' | 'owner'>,
): Promise<Workload | null> {
  const { kind, namespace, name } = workload;
  const [found, ...scalers] = await Promise.all([
    orNull(WORKLOAD_API[kind].read(kubernetes, { namespace, name })),
    ...autoscalers.map(async (scaler) => await readScaler(kubernetes, scaler, namespace)),
  ]);
  const held = scalers.filter((scaler) => scaler !== null);
  if (found === null) {
    const named = readOwnerName(owner);
    const left = named === null ? null : await kinds.read(named, namespace);
    if (left !== null) return { ...goneWorkload(workload, left), autoscalers: held.map((each) => each.autoscaler) };
    const own = held.filter(({ target }) => target === targetKey(kind, namespace, name));
    return missingTargets([], own)[0] ?? null;
  }
  const [read = null] = withAutoscalers([found], held);
  if (read === null) return null;
  return withOwnersAutoscalers(await kinds.attached(read), (of) =>
    autoscalersOf(held.filter(({ target }) => target === of)),
  );
}

function autoscalersOf(scalers: readonly Scaler[] = []): readonly Autoscaler[] {
  return scalers.map(({ autoscaler }) => autoscaler);
}

async function readScaler(
  { autoscaling, custom }: Kubernetes,
  { kind, name }: Pick<Autoscaler, 'kind' | 'name'>,
  namespace: string,
): Promise<Scaler | null> {
  if (kind === 'ScaledObject') {
    const object = await orNull<unknown>(custom.getNamespacedCustomObject({ ...SCALED_OBJECTS, namespace, name }));
    return object === null ? null : kedaScalerOf(object);
  }
  const object = await orNull(autoscaling.readNamespacedHorizontalPodAutoscaler({ namespace, name }));
  return object === null ? null : horizontalScalerOf(object);
}

async function listScalers({ autoscaling, custom }: Kubernetes): Promise<readonly Scaler[]> {
  const [horizontal, keda] = await Promise.all([
    listKept(async (range) => {
      const { metadata, items } = await autoscaling.listHorizontalPodAutoscalerForAllNamespaces(range);
      return pageOf(metadata, items.map(horizontalScalerOf));
    }),
    listCustom((range) => custom.listClusterCustomObject({ ...SCALED_OBJECTS, ...range }), kedaScalerOf),
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

/** All objects of a custom resource; none when the resource is not defined. */
async function listCustom<T>(
  page: (range: ListRange) => Promise<unknown>,
  convert: (object: unknown) => T,
): Promise<readonly T[]> {
  return await listKept(async (range) => {
    const { metadata, items } = await customPage(page(range), convert);
    return pageOf(metadata, items);
  });
}
