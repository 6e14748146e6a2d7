/** What the workloads of a cluster are, so that one moment can be compared with another. */
import { isDeepStrictEqual } from 'node:util';
import { AppsV1Api, BatchV1Api, type KubeConfig, type KubernetesObject } from '@kubernetes/client-node';
import {
  MANAGED_BY,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  type WorkloadType,
} from '../../../domain/lights-out/schedule/names.ts';
import { workloadName } from '../../../domain/lights-out/workload/workload.ts';

/** Everything of a workload that people wrote, and how often its spec was changed. */
export interface SeenWorkload {
  readonly uid: string;
  /** The API server adds one for each change of the spec, whoever made it. */
  readonly generation: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Without those that controllers write for themselves. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: unknown;
  readonly finalizers: unknown;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** By `workloadName`. */
export type Snapshot = ReadonlyMap<string, SeenWorkload>;

/** What the Deployment controller keeps in annotations. */
const OF_CONTROLLERS = 'deployment.kubernetes.io/';

/** Every workload of the cluster whose namespace is one of a load. */
export async function takeSnapshot(kubeConfig: KubeConfig): Promise<Snapshot> {
  const apps = kubeConfig.makeApiClient(AppsV1Api);
  const batch = kubeConfig.makeApiClient(BatchV1Api);
  const lists = await Promise.all([
    apps.listDeploymentForAllNamespaces().then(({ items }) => ['Deployment', items] as const),
    apps.listStatefulSetForAllNamespaces().then(({ items }) => ['StatefulSet', items] as const),
    batch.listCronJobForAllNamespaces().then(({ items }) => ['CronJob', items] as const),
  ]);
  return new Map(lists.flatMap(([kind, items]) => items.map((object) => seen(kind, object))));
}

function seen(
  kind: WorkloadType,
  { metadata = {}, spec = {} }: KubernetesObject & { readonly spec?: object },
): readonly [string, SeenWorkload] {
  const { namespace = '', name = '', uid = '', generation = 0 } = metadata;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith(OF_CONTROLLERS));
  const seen: SeenWorkload = {
    uid,
    generation,
    labels: metadata.labels ?? {},
    annotations: Object.fromEntries(annotations),
    ownerReferences: metadata.ownerReferences ?? [],
    finalizers: metadata.finalizers ?? [],
    // Plain, so that the client's classes and absent fields do not count.
    spec: JSON.parse(JSON.stringify(spec)) as SeenWorkload['spec'],
  };
  return [workloadName({ kind, namespace, name }), seen];
}

/** In what the workloads are not what they were, in words; empty when all of them are exactly the same. */
export function differences(before: Snapshot, after: Snapshot): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined || is === undefined) return [`${name} is ${is === undefined ? 'gone' : 'new'}`];
    const { generation: _, ...wasSo } = was;
    return Object.entries(wasSo).flatMap(([field, value]) => {
      const now = is[field as keyof SeenWorkload];
      return isDeepStrictEqual(value, now)
        ? []
        : [`${name}: ${field} was ${JSON.stringify(value)} and is ${JSON.stringify(now)}`];
    });
  });
}

/**
 * In what the workloads are not asleep as they should be, in words: those of `awake` (by `workloadName`) are asleep and say
 * what they were, and all others are as they were.
 */
export function notAsleep(
  before: Snapshot,
  after: Snapshot,
  awake: ReadonlySet<string>,
  scheduleOf: (name: string) => string,
): readonly string[] {
  const others = (all: Snapshot): Snapshot => new Map([...all].filter(([name]) => !awake.has(name)));
  const put = [...awake].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined || is === undefined) return [`${name} is gone`];
    const { spec, annotations } = is;
    const isCronJob = 'suspend' in was.spec;
    const says = isCronJob ? annotations[ORIGINAL_SUSPEND] : annotations[ORIGINAL_REPLICAS];
    const shouldSay = isCronJob ? 'lightsout' : String(was.spec['replicas']);
    const isDown = isCronJob ? spec['suspend'] === true : spec['replicas'] === 0;
    const isSo = isDown && says === shouldSay && annotations[MANAGED_BY] === scheduleOf(name);
    return isSo ? [] : [`${name} is not asleep as it should be: ${JSON.stringify({ spec, annotations })}`];
  });
  return [...put, ...differences(others(before), others(after))];
}

/** How often the spec of each workload was changed between the two, by `workloadName`. */
export function changesOfSpec(before: Snapshot, after: Snapshot): ReadonlyMap<string, number> {
  return new Map([...after].map(([name, { generation }]) => [name, generation - (before.get(name)?.generation ?? 0)]));
}
