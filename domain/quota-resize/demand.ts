/**
 * What a refused workload still misses of a quota: its missing replicas (and claims, and Jobs) × what admission would
 * charge one of them. A refusal's own message names one pod and one moment; the owner says what is so now.
 */
import { multiplyByRatio } from '../kernel/quantity.ts';
import {
  addLists,
  maskList,
  maxLists,
  type ResourceList,
  resourceEntries,
  resourceList,
  withoutZeros,
} from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import { type Claim, claimCharge } from '../quota-usage/claim-charge.ts';
import { type LimitRange, withDefaults } from '../quota-usage/limit-range.ts';
import { objectCharge } from '../quota-usage/object-count.ts';
import { podCharge } from '../quota-usage/pod-charge.ts';
import type { Pod, PodSpec } from '../quota-usage/pod.ts';
import { claimInScopes, countsOtherObjects, podInScopes, type QuotaScopes } from '../quota-usage/scopes.ts';
import type { AdmissionRefusal } from './event-message.ts';
import type { WorkloadDemand, WorkloadRef } from './observation.ts';

/** The quota that demand is counted for, and what of its surroundings decides the charge. */
export interface ChargingQuota {
  readonly name: string;
  readonly hard: ResourceList;
  readonly scopes: QuotaScopes;
  readonly limitRanges: readonly LimitRange[];
  /** The overhead of a pod, by the name of its RuntimeClass. */
  readonly overheads: Readonly<Record<string, ResourceList>>;
  /** The class that admission gives to a claim that names none. */
  readonly defaultStorageClass: string | null;
}

/** A refusal for lack of room, whichever quota of the namespace said it, and when it was last seen. */
export interface SeenRefusal {
  readonly refusal: AdmissionRefusal & { readonly class: 'exceededQuota' };
  readonly lastSeen: EpochMs;
}

/** Pods, claims or other objects that a workload misses. */
export type Missing =
  | { readonly of: 'pod'; readonly count: number; readonly spec: TemplateSpec }
  | { readonly of: 'claim'; readonly count: number; readonly claim: ClaimTemplate }
  | { readonly of: 'object'; readonly count: number; readonly resource: string; readonly group: string };

/** A pod template's spec, in the shape of Kubernetes' JSON. */
interface TemplateSpec extends PodSpec {
  readonly runtimeClassName?: string | undefined;
}

/** A StatefulSet's claim template; its name is the first part of each claim's name. */
type ClaimTemplate = Claim & { readonly metadata?: { readonly name?: string | undefined } | undefined };

interface PodTemplate {
  readonly spec?: TemplateSpec | undefined;
}

interface Metadata {
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  readonly creationTimestamp?: Date | string | undefined;
  readonly deletionTimestamp?: Date | string | undefined;
  readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean | undefined }[] | undefined;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
}

/** A ReplicaSet or a ReplicationController. */
interface ReplicatedOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?: { readonly replicas?: number | undefined; readonly template?: PodTemplate | undefined } | undefined;
}

interface StatefulSetOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly replicas?: number | undefined;
        readonly template?: PodTemplate | undefined;
        readonly ordinals?: { readonly start?: number | undefined } | undefined;
        readonly volumeClaimTemplates?: readonly ClaimTemplate[] | undefined;
      }
    | undefined;
}

interface DaemonSetOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?: { readonly template?: PodTemplate | undefined } | undefined;
  readonly status?: { readonly desiredNumberScheduled?: number | undefined } | undefined;
}

interface JobSpec {
  readonly parallelism?: number | undefined;
  readonly completions?: number | undefined;
  readonly suspend?: boolean | undefined;
  readonly template?: PodTemplate | undefined;
}

interface JobOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?: JobSpec | undefined;
  readonly status?:
    | { readonly succeeded?: number | undefined; readonly conditions?: readonly Condition[] | undefined }
    | undefined;
}

interface CronJobOwner {
  readonly metadata?: Metadata | undefined;
  readonly spec?:
    | {
        readonly suspend?: boolean | undefined;
        readonly jobTemplate?: { readonly spec?: JobSpec | undefined } | undefined;
      }
    | undefined;
  readonly status?: { readonly lastScheduleTime?: Date | string | undefined } | undefined;
}

interface DeploymentOwner {
  readonly metadata?: Metadata | undefined;
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/** An object that an owner has already. */
interface Child {
  readonly metadata?: Metadata | undefined;
}

/** Whether `child` is controlled by the owner with this UID; a namesake of the owner is another object. */
function isControlledBy(child: Child, ownerUid: string): boolean {
  return (child.metadata?.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === ownerUid);
}

/**
 * The pods of an owner that a quota still counts as there. One that is being deleted is among them: what it was charged
 * comes free for its successor.
 */
export function chargedPods<P extends Pod & Child>(pods: readonly P[], ownerUid: string, now: EpochMs): readonly P[] {
  // A pod that has ended, or is stuck in its deletion, is charged `count/pods` alone.
  return pods.filter((pod) => isControlledBy(pod, ownerUid) && 'pods' in podCharge(pod, now));
}

/** What a ReplicaSet or ReplicationController misses. */
export function missingOfReplicated(owner: ReplicatedOwner, pods: readonly Child[]): readonly Missing[] {
  return podsMissing(owner, owner.spec?.template, (owner.spec?.replicas ?? 1) - pods.length);
}

/** What a StatefulSet misses: members, and the claims that are made before each of them. */
export function missingOfStatefulSet(
  owner: StatefulSetOwner,
  pods: readonly Child[],
  claimNames: Iterable<string>,
): readonly Missing[] {
  if (isDeleting(owner)) return [];
  const { spec } = owner;
  const replicas = spec?.replicas ?? 1;
  const start = spec?.ordinals?.start ?? 0;
  const name = owner.metadata?.name ?? '';
  // Members outside of the range are on their way out and do not stand in for those inside.
  const inRange = (prefix: string, names: Iterable<string>): number =>
    [...names].filter((one) => {
      const ordinal = ordinalOf(one, prefix);
      return ordinal !== null && ordinal >= start && ordinal < start + replicas;
    }).length;

  const podNames = pods.map((pod) => pod.metadata?.name ?? '');
  const claims = [...claimNames];
  return [
    ...podsMissing(owner, spec?.template, replicas - inRange(`${name}-`, podNames)),
    ...(spec?.volumeClaimTemplates ?? []).flatMap((claim): Missing[] => {
      const count = replicas - inRange(`${claim.metadata?.name ?? ''}-${name}-`, claims);
      return count > 0 ? [{ of: 'claim', count, claim }] : [];
    }),
  ];
}

/** What a DaemonSet misses: a pod on each node that it wants one on. */
export function missingOfDaemonSet(owner: DaemonSetOwner, pods: readonly Child[]): readonly Missing[] {
  return podsMissing(owner, owner.spec?.template, (owner.status?.desiredNumberScheduled ?? 0) - pods.length);
}

/** What a Job misses now: what may run at once and is not done yet. */
export function missingOfJob(owner: JobOwner, pods: readonly Child[]): readonly Missing[] {
  const ended = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'];
  const isOver = (owner.status?.conditions ?? []).some((one) => one.status === 'True' && ended.includes(one.type));
  if (isOver || owner.spec?.suspend === true) return [];
  return podsMissing(owner, owner.spec?.template, podsAtOnce(owner.spec, owner.status?.succeeded ?? 0) - pods.length);
}

/**
 * What a CronJob misses: the Job that was refused, and its pods. Nothing once a Job of it was made after the refusal.
 *
 * @param jobs the Jobs of the namespace. @param lastRefused when admission last refused one.
 */
export function missingOfCronJob(
  owner: CronJobOwner,
  jobs: readonly Child[],
  lastRefused: EpochMs,
): readonly Missing[] {
  if (isDeleting(owner) || owner.spec?.suspend === true) return [];
  const uid = owner.metadata?.uid ?? '';
  // Both times are whole seconds. lastScheduleTime alone does not tell: a late Job has its due time there.
  const made = [
    owner.status?.lastScheduleTime,
    ...jobs.filter((job) => isControlledBy(job, uid)).map((job) => job.metadata?.creationTimestamp),
  ];
  if (made.some((at) => at !== undefined && new Date(at).getTime() >= lastRefused)) return [];
  const job = owner.spec?.jobTemplate?.spec;
  const object: Missing = { of: 'object', count: 1, resource: 'jobs', group: 'batch' };
  return [object, ...(job?.suspend === true ? [] : podsMissing(owner, job?.template, podsAtOnce(job, 0)))];
}

/**
 * What a Deployment misses: its next ReplicaSet, while it says that it cannot create it. Its pods are the ReplicaSet's
 * demand, once that is there.
 *
 * @param replicaSets the ReplicaSets of the namespace.
 */
export function missingOfDeployment(owner: DeploymentOwner, replicaSets: readonly Child[]): readonly Missing[] {
  if (isDeleting(owner)) return [];
  const cannotCreate = (owner.status?.conditions ?? []).some(
    (one) => one.type === 'Progressing' && one.status === 'False' && one.reason === 'ReplicaSetCreateError',
  );
  // Without a progress deadline there is no such condition; a Deployment without any ReplicaSet speaks for itself.
  const hasNone = !replicaSets.some((replicaSet) => isControlledBy(replicaSet, owner.metadata?.uid ?? ''));
  return cannotCreate || hasNone ? [{ of: 'object', count: 1, resource: 'replicasets', group: 'apps' }] : [];
}

/** The demand of a workload whose owner was read; null when this quota counts nothing of what is missing. */
export function demandOfMissing(
  quota: ChargingQuota,
  workload: WorkloadRef,
  missing: readonly Missing[],
  lastSeen: EpochMs,
): WorkloadDemand | null {
  const charged = missing
    .filter((one) => one.count > 0)
    .map((one) => ({ ...one, charge: withoutZeros(chargeOfOne(quota, one, lastSeen)) }))
    .filter((one) => Object.keys(one.charge).length > 0);
  if (charged.length === 0) return null;
  const pods = charged.find((one) => one.of === 'pod');
  return {
    workload,
    basis: 'workload',
    missing: pods?.count ?? charged.reduce((sum, one) => sum + one.count, 0),
    total: charged.reduce<ResourceList>((sum, one) => addLists(sum, times(one.charge, one.count)), {}),
    lastSeen,
  };
}

/**
 * The demand of a workload whose owner cannot be read: what the newest refusal of each kind of object asked for. Null when
 * none of it is this quota's.
 */
export function demandOfMessages(
  quota: ChargingQuota,
  workload: WorkloadRef,
  refusals: readonly SeenRefusal[],
): WorkloadDemand | null {
  const newest = new Map<string, SeenRefusal>();
  for (const seen of refusals) {
    // What another quota refused is this one's too where it counts every object; with scopes nobody can tell.
    if (seen.refusal.quota !== quota.name && !countsOtherObjects(quota.scopes)) continue;
    const key = `${seen.refusal.quota} ${seen.refusal.resource ?? ''}`;
    const known = newest.get(key);
    if (known === undefined || seen.lastSeen > known.lastSeen) newest.set(key, seen);
  }
  // One object that two quotas refuse in turn is one object: of each resource, the larger request counts.
  const byKind = Map.groupBy(newest.values(), (seen) => seen.refusal.resource ?? '');
  const total = [...byKind.values()].reduce<ResourceList>((sum, kind) => {
    const requested = kind.reduce<ResourceList>((list, seen) => maxLists(list, seen.refusal.requested), {});
    return addLists(sum, maskList(requested, Object.keys(quota.hard)));
  }, {});
  if (Object.keys(withoutZeros(total)).length === 0) return null;
  const lastSeen = Math.max(...[...newest.values()].map((seen) => seen.lastSeen));
  return { workload, basis: 'message', missing: 1, total: withoutZeros(total), lastSeen };
}

/** What one missing thing is charged by the quota; empty when the quota does not count it. */
function chargeOfOne(quota: ChargingQuota, missing: Missing, now: EpochMs): ResourceList {
  const keys = Object.keys(quota.hard);
  if (missing.of === 'object') {
    return countsOtherObjects(quota.scopes) ? maskList(objectCharge(missing.resource, missing.group), keys) : {};
  }
  if (missing.of === 'claim') {
    const claim = storedClaim(missing.claim, quota.defaultStorageClass);
    return claimInScopes(quota.scopes, claim) ? maskList(claimCharge(claim), keys) : {};
  }
  const overhead = missing.spec.overhead ?? quota.overheads[missing.spec.runtimeClassName ?? ''];
  const pod: Pod = { spec: { ...withDefaults(missing.spec, quota.limitRanges), overhead } };
  return podInScopes(quota.scopes, pod) ? maskList(podCharge(pod, now), keys) : {};
}

/** A claim template as admission would store the claim: one that names no class has the default one. */
function storedClaim(template: Claim, defaultStorageClass: string | null): Claim {
  const storageClassName = template.spec?.storageClassName ?? defaultStorageClass ?? undefined;
  return {
    metadata: template.metadata,
    spec: { ...template.spec, ...(storageClassName === undefined ? {} : { storageClassName }) },
  };
}

function times(list: ResourceList, count: number): ResourceList {
  return resourceList(resourceEntries(list).map(([key, amount]) => [key, multiplyByRatio(amount, BigInt(count), 1n)]));
}

function podsMissing(
  owner: { readonly metadata?: Metadata | undefined },
  template: PodTemplate | undefined,
  count: number,
): readonly Missing[] {
  if (isDeleting(owner) || count <= 0 || template?.spec === undefined) return [];
  return [{ of: 'pod', count, spec: template.spec }];
}

/** How many pods a Job runs at once with so many succeeded. */
function podsAtOnce(job: JobSpec | undefined, succeeded: number): number {
  const parallelism = job?.parallelism ?? 1;
  // Without completions, the first success means that the rest only finishes what it has begun.
  if (job?.completions === undefined) return succeeded > 0 ? 0 : parallelism;
  return Math.min(parallelism, job.completions - succeeded);
}

function isDeleting(owner: { readonly metadata?: Metadata | undefined }): boolean {
  return owner.metadata?.deletionTimestamp !== undefined;
}

/** The number behind the prefix in `web-12`, or null. */
function ordinalOf(name: string, prefix: string): number | null {
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9][0-9]{0,9})$/.test(digits) ? Number(digits) : null;
}
