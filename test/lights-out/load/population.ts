/** Workloads of every kind and habit in many namespaces, the same for the same seed. */
import { AppsV1Api, BatchV1Api, CoreV1Api, type KubeConfig } from '@kubernetes/client-node';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import type { WorkloadType } from '../../../domain/lights-out/schedule/names.ts';
import { workloadName } from '../../../domain/lights-out/workload/workload.ts';
import { type Random, seededRandom } from '../../chaos/random.ts';

export interface LoadOptions {
  /** Which share the namespaces; 1 where it is absent. */
  readonly schedules?: number;
  readonly workloads: number;
  readonly namespaces: number;
  readonly seed: number;
}

export interface LoadWorkload {
  readonly kind: WorkloadType;
  readonly namespace: string;
  readonly name: string;
  /** Null for a CronJob. */
  readonly replicas: number | null;
  /** By its people; of CronJobs only. */
  readonly isSuspended: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The label by which one schedule selects all the namespaces. */
export const LOAD_LABEL = { load: 'yes' } as const;

/** The labels by which a schedule of several, counted from 0, selects its share of the namespaces. */
export function shareLabels(index: number): Readonly<Record<string, string>> {
  return { ...LOAD_LABEL, share: String(index) };
}

/** Which schedule of several has a namespace, counted from 0. */
export function shareOfNamespace(namespace: string, schedules: number): number {
  return Number(namespace.slice('load-'.length)) % schedules;
}

/** Requests that fill the cluster at the same time. */
const AT_ONCE = 16;
/** Of ten workloads: seven Deployments, two StatefulSets, one CronJob. */
const KINDS: readonly WorkloadType[] = [
  ...Array.from({ length: 7 }, () => 'Deployment' as const),
  'StatefulSet',
  'StatefulSet',
  'CronJob',
];
const MOST_REPLICAS = 5;
/** One CronJob of so many is suspended by its people. */
const SUSPENDED_OF = 5;

/** Which workloads a load is made of, spread over the namespaces. */
export function planPopulation({ workloads, namespaces, seed }: LoadOptions): readonly LoadWorkload[] {
  const random = seededRandom(seed);
  return Array.from({ length: workloads }, (_, index): LoadWorkload => {
    const kind = KINDS[index % KINDS.length] ?? 'Deployment';
    return {
      kind,
      // Not by the index alone: a namespace would get workloads of one kind only.
      namespace: `load-${(index + Math.floor(index / KINDS.length)) % namespaces}`,
      name: `${kind.toLowerCase()}-${index}`,
      replicas: kind === 'CronJob' ? null : random.between(0, MOST_REPLICAS),
      isSuspended: kind === 'CronJob' && random.between(1, SUSPENDED_OF) === 1,
      labels: { team: random.pick(['red', 'green', 'blue']), ...someOf(random, 'label') },
      annotations: someOf(random, 'example.com/note'),
    };
  });
}

/** Whether a schedule has anything to put to sleep there. */
export function isAwake({ kind, replicas, isSuspended }: LoadWorkload): boolean {
  return kind === 'CronJob' ? !isSuspended : (replicas ?? 0) > 0;
}

function someOf(random: Random, prefix: string): Readonly<Record<string, string>> {
  const count = random.between(0, 3);
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${prefix}-${index}`, `value-${random.between(0, 99)}`]),
  );
}

/** Makes the namespaces and the workloads, as people do. */
export async function fillCluster(
  kubeConfig: KubeConfig,
  population: readonly LoadWorkload[],
  schedules = 1,
): Promise<void> {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const apps = kubeConfig.makeApiClient(AppsV1Api);
  const batch = kubeConfig.makeApiClient(BatchV1Api);
  const namespaces = [...new Set(population.map(({ namespace }) => namespace))];
  await inParallel(AT_ONCE, namespaces, async (name) => {
    const labels = shareLabels(shareOfNamespace(name, schedules));
    await core.createNamespace({ body: { metadata: { name, labels } } });
  });
  await inParallel(AT_ONCE, population, async (workload) => {
    const { kind, namespace, name } = workload;
    const metadata = { name, labels: { ...workload.labels }, annotations: { ...workload.annotations } };
    const place = { namespace, fieldManager: 'kubectl-create' };
    if (kind === 'CronJob') {
      const job = { spec: { template: { spec: { ...podSpec, restartPolicy: 'Never' } } } };
      const spec = { schedule: '0 0 31 12 *', suspend: workload.isSuspended, jobTemplate: job };
      await batch.createNamespacedCronJob({ ...place, body: { metadata, spec } });
      return;
    }
    const app = { app: name };
    const template = { metadata: { labels: app }, spec: podSpec };
    const spec = { replicas: workload.replicas ?? 0, selector: { matchLabels: app }, template };
    if (kind === 'Deployment') await apps.createNamespacedDeployment({ ...place, body: { metadata, spec } });
    else await apps.createNamespacedStatefulSet({ ...place, body: { metadata, spec: { ...spec, serviceName: name } } });
  });
}

const podSpec = { containers: [{ name: 'main', image: 'registry.example/app:1' }] };

/** The workloads that a schedule writes, by `workloadName`. */
export function namesToWrite(population: readonly LoadWorkload[]): ReadonlySet<string> {
  return new Set(population.filter(isAwake).map(workloadName));
}
