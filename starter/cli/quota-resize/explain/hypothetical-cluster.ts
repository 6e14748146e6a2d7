/**
 * A cluster in which workloads have other numbers of replicas: reads return what they would return if somebody had
 * scaled the workloads and the quota had denied what does not fit. The observation then computes the same demand as in
 * reality. Nothing is written.
 */
import type {
  CoreV1Event,
  V1Deployment,
  V1Pod,
  V1ReplicaSet,
  V1ResourceQuota,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { Kubernetes } from '../../../../activities/kubernetes/kubernetes.ts';
import { orNull, statusCode } from '../../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../../activities/kubernetes/list.ts';
import { maskList, type ResourceList, subtractListsToZero } from '../../../../domain/kernel/resource-list.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../../domain/kernel/time.ts';
import { chargedPods } from '../../../../domain/quota-resize/demand/owner.ts';
import { podCharge } from '../../../../domain/quota-usage/pod-charge.ts';
import { podInScopes } from '../../../../domain/quota-usage/scopes.ts';
import { CommandFailed } from '../../shared.ts';
import type { ScalableKind, WantedReplicas } from './what-if.ts';

/** A workload that was scaled for the sake of the question. */
export interface ScaledWorkload {
  readonly kind: ScalableKind;
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface HypotheticalCluster {
  /** The API as it would answer. */
  readonly kubernetes: Kubernetes;
  readonly scaled: readonly ScaledWorkload[];
  /** The UIDs of the pods that would not be there. */
  readonly gone: ReadonlySet<string>;
}

type Workload = V1Deployment | V1StatefulSet | V1ReplicaSet;

/** What may be scaled, and what the workloads of a namespace consist of. */
interface Namespace {
  readonly candidates: readonly Candidate[];
  readonly replicaSets: readonly V1ReplicaSet[];
  readonly pods: readonly V1Pod[];
}

interface Candidate {
  readonly kind: ScalableKind;
  readonly workload: Workload;
}

/** What is different in the hypothetical cluster. */
interface Differences {
  /** By the UID of the workload. */
  readonly replicas: Map<string, number>;
  readonly gone: V1Pod[];
  readonly denied: {
    readonly kind: string;
    readonly apiVersion: string;
    readonly name: string;
    readonly uid: string;
  }[];
}

/**
 * The cluster with other replicas in the target's namespace.
 *
 * A Deployment is scaled through its newest ReplicaSet. With fewer replicas, the newest pods and their charges are
 * removed.
 *
 * @throws {CommandFailed} when a name matches no workload, or several.
 */
export async function withReplicas(
  kubernetes: Kubernetes,
  target: QuotaTarget,
  wanted: readonly WantedReplicas[],
  now: EpochMs,
): Promise<HypotheticalCluster> {
  if (wanted.length === 0) return { kubernetes, scaled: [], gone: new Set() };
  const there = await readNamespace(kubernetes, target.namespace, wanted);
  const differences: Differences = { replicas: new Map(), gone: [], denied: [] };
  const scaled: ScaledWorkload[] = [];
  for (const replicas of wanted) {
    const candidate = await candidateFor(kubernetes, there, replicas, target);
    scaled.push(scale(there, candidate, replicas.count, now, differences));
  }
  const gone = new Set(differences.gone.map(uidOf));
  return { kubernetes: differing(kubernetes, target, differences, gone, now), scaled, gone };
}

/**
 * Reads Deployments and StatefulSets by name, because an operator, like the worker, may have permission to get but not
 * to list them.
 */
async function readNamespace(
  { core, apps }: Kubernetes,
  namespace: string,
  wanted: readonly WantedReplicas[],
): Promise<Namespace> {
  const names = [...new Set(wanted.map(({ name }) => name))];
  const [deployments, statefulSets, replicaSets, pods] = await Promise.all([
    Promise.all(names.map(async (name) => await orNull(apps.readNamespacedDeployment({ name, namespace })))),
    Promise.all(names.map(async (name) => await orNull(apps.readNamespacedStatefulSet({ name, namespace })))),
    listAll((range) => apps.listNamespacedReplicaSet({ namespace, ...range })),
    listAll((range) => core.listNamespacedPod({ namespace, ...range })),
  ]);
  return { candidates: candidatesOf(deployments, statefulSets, replicaSets), replicaSets, pods };
}

function candidatesOf(
  deployments: readonly (V1Deployment | null)[],
  statefulSets: readonly (V1StatefulSet | null)[],
  replicaSets: readonly V1ReplicaSet[],
): readonly Candidate[] {
  const ofKind = (kind: ScalableKind, workloads: readonly (Workload | null)[]): readonly Candidate[] =>
    workloads.flatMap((workload) => (workload === null ? [] : [{ kind, workload }]));
  // A Deployment sets the replicas of its ReplicaSets.
  const isFree = ({ metadata }: V1ReplicaSet): boolean =>
    !(metadata?.ownerReferences ?? []).some((owner) => owner.controller === true);
  return [
    ...ofKind('Deployment', deployments),
    ...ofKind('ReplicaSet', replicaSets.filter(isFree)),
    ...ofKind('StatefulSet', statefulSets),
  ];
}

/** @throws {CommandFailed} when there is no such workload, with those that there are, or several. */
async function candidateFor(
  kubernetes: Kubernetes,
  { candidates, replicaSets }: Namespace,
  { kind, name }: WantedReplicas,
  { namespace }: QuotaTarget,
): Promise<Candidate> {
  const found = candidates.filter(
    (candidate) => nameOf(candidate.workload) === name && (kind === undefined || candidate.kind === kind),
  );
  const [first, ...others] = found;
  if (first === undefined) {
    const existing = await workloadNames(kubernetes, namespace, replicaSets);
    throw new CommandFailed(
      `there is no ${kind ?? 'Deployment, StatefulSet or ReplicaSet'} "${name}" in ${namespace}${existing}`,
    );
  }
  if (others.length > 0) {
    const ways = found.map((candidate) => `replicas=${candidate.kind.toLowerCase()}/${name}=…`);
    throw new CommandFailed(`"${name}" is ${found.length} workloads of ${namespace}: write ${ways.join(' or ')}`);
  }
  return first;
}

/** The workloads that have replicas, as the end of a sentence; empty where they may not be listed. */
async function workloadNames(
  { apps }: Kubernetes,
  namespace: string,
  replicaSets: readonly V1ReplicaSet[],
): Promise<string> {
  try {
    const [deployments, statefulSets] = await Promise.all([
      listAll((range) => apps.listNamespacedDeployment({ namespace, ...range })),
      listAll((range) => apps.listNamespacedStatefulSet({ namespace, ...range })),
    ]);
    const all = candidatesOf(deployments, statefulSets, replicaSets);
    const existing = all.map(({ kind, workload }) => `${kind} ${nameOf(workload)}`).toSorted();
    return existing.length === 0 ? ': it has none with replicas' : `: it has ${existing.join(', ')}`;
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return '';
  }
}

/** Notes down what is different with one workload scaled. */
function scale(
  there: Namespace,
  { kind, workload }: Candidate,
  replicas: number,
  now: EpochMs,
  differences: Differences,
): ScaledWorkload {
  const name = nameOf(workload);
  if (differences.replicas.has(uidOf(workload))) {
    throw new CommandFailed(`the replicas of ${kind} ${name} are given twice`);
  }
  differences.replicas.set(uidOf(workload), replicas);
  const { owner, count } =
    kind === 'Deployment' ? newestReplicaSet(there, workload, replicas) : { owner: workload, count: replicas };
  differences.replicas.set(uidOf(owner), count);

  const pods = chargedPods(there.pods, uidOf(owner), now).toSorted(kind === 'StatefulSet' ? byOrdinal : byAge);
  differences.gone.push(...pods.slice(count));
  if (pods.length < count) {
    const deniedKind = kind === 'Deployment' ? 'ReplicaSet' : kind;
    differences.denied.push({ kind: deniedKind, apiVersion: 'apps/v1', name: nameOf(owner), uid: uidOf(owner) });
  }
  return { kind, name, from: workload.spec?.replicas ?? 1, to: replicas };
}

const REVISION = 'deployment.kubernetes.io/revision';

/** The ReplicaSet that a Deployment makes pods with now, and how many of the replicas are its own. */
function newestReplicaSet(
  { replicaSets }: Namespace,
  deployment: Workload,
  count: number,
): { readonly owner: V1ReplicaSet; readonly count: number } {
  const own = replicaSets
    .filter(({ metadata }) => (metadata?.ownerReferences ?? []).some(({ uid }) => uid === uidOf(deployment)))
    .toSorted((a, b) => revisionOf(b) - revisionOf(a));
  const [owner, ...older] = own;
  if (owner === undefined) {
    throw new CommandFailed(`Deployment ${nameOf(deployment)} has no ReplicaSet yet: its pods cannot be counted`);
  }
  const leaving = older.reduce((sum, { spec }) => sum + (spec?.replicas ?? 0), 0);
  return { owner, count: Math.max(0, count - leaving) };
}

function revisionOf({ metadata }: V1ReplicaSet): number {
  return Number(metadata?.annotations?.[REVISION] ?? 0);
}

function byAge(a: V1Pod, b: V1Pod): number {
  return (a.metadata?.creationTimestamp?.getTime() ?? 0) - (b.metadata?.creationTimestamp?.getTime() ?? 0);
}

function byOrdinal(a: V1Pod, b: V1Pod): number {
  const ordinal = ({ metadata }: V1Pod): number => Number(/-([0-9]+)$/.exec(metadata?.name ?? '')?.[1] ?? 0);
  return ordinal(a) - ordinal(b);
}

function uidOf({ metadata }: Workload | V1Pod): string {
  return metadata?.uid ?? '';
}

function nameOf({ metadata }: Workload): string {
  return metadata?.name ?? '';
}

/** The API with the differences worked into its answers, which are new objects each time. */
function differing(
  kubernetes: Kubernetes,
  target: QuotaTarget,
  differences: Differences,
  gone: ReadonlySet<string>,
  now: EpochMs,
): Kubernetes {
  const { apps, core } = kubernetes;
  const scaled = <T extends Workload>(workload: T): T => {
    const replicas = differences.replicas.get(uidOf(workload));
    if (replicas !== undefined && workload.spec !== undefined) workload.spec.replicas = replicas;
    return workload;
  };
  const scaledReplicaSet = (replicaSet: V1ReplicaSet): V1ReplicaSet => {
    const isDenied = differences.denied.some(({ uid }) => uid === uidOf(replicaSet));
    return isDenied ? failing(scaled(replicaSet)) : scaled(replicaSet);
  };
  const freed = (quota: V1ResourceQuota): V1ResourceQuota => withoutPods(quota, differences.gone, now);
  const denials = differences.denied.map((involved): CoreV1Event => denialEvent(involved, target, now));
  return {
    ...kubernetes,
    apps: overriding(apps, {
      listNamespacedDeployment: async (range) => mapItems(await apps.listNamespacedDeployment(range), scaled),
      readNamespacedDeployment: async (name) => scaled(await apps.readNamespacedDeployment(name)),
      listNamespacedReplicaSet: async (range) => mapItems(await apps.listNamespacedReplicaSet(range), scaledReplicaSet),
      readNamespacedReplicaSet: async (name) => scaledReplicaSet(await apps.readNamespacedReplicaSet(name)),
      listNamespacedStatefulSet: async (range) => mapItems(await apps.listNamespacedStatefulSet(range), scaled),
      readNamespacedStatefulSet: async (name) => scaled(await apps.readNamespacedStatefulSet(name)),
    }),
    core: overriding(core, {
      listNamespacedPod: async (range) => {
        const page = await core.listNamespacedPod(range);
        page.items = page.items.filter((pod) => !gone.has(uidOf(pod)));
        return page;
      },
      listNamespacedResourceQuota: async (range) => mapItems(await core.listNamespacedResourceQuota(range), freed),
      readNamespacedResourceQuota: async (name) => freed(await core.readNamespacedResourceQuota(name)),
      listNamespacedEvent: async (range) => {
        const page = await core.listNamespacedEvent(range);
        const asked = range.fieldSelector?.includes('reason=') !== true || range.fieldSelector.includes(DENIED);
        const isLast = !page.metadata?._continue;
        if (asked && isLast) page.items.push(...denials);
        return page;
      },
    }),
  };
}

/** What its controller says of a ReplicaSet once it has tried to create every pod that is missing. */
function failing(replicaSet: V1ReplicaSet): V1ReplicaSet {
  const { status } = replicaSet;
  if (status === undefined) return replicaSet;
  status.conditions = [...(status.conditions ?? []), { type: 'ReplicaFailure', status: 'True', reason: DENIED }];
  return replicaSet;
}

const DENIED = 'FailedCreate';

/**
 * The denial that admission would return for the next pod. It has at least one pod's numbers; the owner tells how many
 * are missing.
 */
function denialEvent(involvedObject: Differences['denied'][number], target: QuotaTarget, now: EpochMs): CoreV1Event {
  const { namespace, quota } = target;
  const message = `Error creating: pods "${involvedObject.name}-" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=0, limited: pods=0`;
  return {
    metadata: { name: `${involvedObject.name}.supposed`, namespace },
    involvedObject: { ...involvedObject, namespace },
    type: 'Warning',
    reason: DENIED,
    message,
    lastTimestamp: new Date(now),
  };
}

/** A quota that no longer counts some pods. */
function withoutPods(quota: V1ResourceQuota, pods: readonly V1Pod[], now: EpochMs): V1ResourceQuota {
  const { scopes, scopeSelector, hard = {} } = quota.spec ?? {};
  const counted = pods.filter((pod) => podInScopes({ scopes, scopeSelector }, pod));
  if (quota.status?.used === undefined) return quota;
  const used = counted.reduce<ResourceList>(
    (left, pod) => subtractListsToZero(left, maskList(podCharge(pod, now), Object.keys(hard))),
    quota.status.used,
  );
  quota.status.used = { ...used };
  return quota;
}

type ItemOf<Page extends { items: unknown[] }> = Page['items'][number];

function mapItems<Page extends { items: unknown[] }>(page: Page, change: (item: ItemOf<Page>) => ItemOf<Page>): Page {
  page.items = page.items.map(change);
  return page;
}

/** The same client with some methods of its own. */
function overriding<Api extends object>(api: Api, methods: Partial<Api>): Api {
  return Object.assign(Object.create(api) as Api, methods);
}
