/**
 * What each kind of owner lacks: missing replicas, the claims that are created before them, Jobs that were not created.
 */
import type { EpochMs } from '../../kernel/time.ts';
import type { Pod } from '../../quota-usage/pod.ts';
import {
  type Child,
  type ClaimTemplate,
  type CronJobOwner,
  type DaemonSetOwner,
  type DeploymentOwner,
  isControlledBy,
  isDeleting,
  type JobOwner,
  type JobSpec,
  leavingPods,
  type Metadata,
  type PodTemplate,
  type ReplicatedOwner,
  type StatefulSetOwner,
  type TemplateSpec,
} from './owner.ts';
import { type Rollout, shareOf } from './rolling-update.ts';

/** Pods, claims or other objects that a workload lacks. `surge`: how many pods a rolling update adds while it lasts. */
export type Missing =
  | {
      readonly of: 'pod';
      readonly count: number;
      readonly surge: number;
      readonly spec: TemplateSpec;
      readonly rollout?: Rollout;
      /** Pods of the same workload that leave, and whose charge these get; see `leavingPods`. */
      readonly leaving?: readonly Pod[];
      /** The pods get an earlier template than this one, which only their denials describe. */
      readonly isOfEarlierTemplate?: true;
    }
  | { readonly of: 'claim'; readonly count: number; readonly claim: ClaimTemplate }
  | { readonly of: 'object'; readonly count: number; readonly resource: string; readonly group: string };

/**
 * What a ReplicaSet or ReplicationController lacks. `update`: the rolling update of its Deployment, while one is
 * running, and the pods that leave the Deployment's other ReplicaSets.
 */
export function missingOfReplicated(
  owner: ReplicatedOwner,
  pods: readonly Child[],
  update: {
    readonly surge: number;
    readonly rollout?: Rollout | undefined;
    readonly leaving?: readonly Pod[];
  } = { surge: 0 },
): readonly Missing[] {
  const missing = podsMissing(owner, owner.spec?.template, (owner.spec?.replicas ?? 1) - pods.length, update.surge);
  const { rollout, leaving = [] } = update;
  const more = rollout === undefined ? {} : { rollout };
  return missing.map((object) => (object.of === 'pod' ? withLeaving({ ...object, ...more }, leaving) : object));
}

function withLeaving(missing: MissingPods, leaving: readonly Pod[]): MissingPods {
  return leaving.length === 0 ? missing : { ...missing, leaving };
}

type MissingPods = Extract<Missing, { of: 'pod' }>;

/** What a StatefulSet lacks: pods, and the claims that are created before each pod. */
export function missingOfStatefulSet(
  owner: StatefulSetOwner,
  pods: readonly (Pod & Child)[],
  claimNames: Iterable<string>,
  now: EpochMs,
): readonly Missing[] {
  if (isDeleting(owner)) return [];
  const { spec } = owner;
  const replicas = spec?.replicas ?? 1;
  const start = spec?.ordinals?.start ?? 0;
  const name = owner.metadata?.name ?? '';
  // Pods outside of the range are being removed and do not count for those inside.
  const inRange = (prefix: string, names: Iterable<string>, from = start, to = start + replicas): number =>
    [...names].filter((objectName) => {
      const ordinal = ordinalOf(objectName, prefix);
      return ordinal !== null && ordinal >= from && ordinal < to;
    }).length;

  const isInRange = ({ metadata }: Child) => inRange(`${name}-`, [metadata?.name ?? '']) > 0;
  const leaving = leavingPods(
    pods.filter((pod) => !isInRange(pod)),
    now,
  );
  const podNames = pods.map((pod) => pod.metadata?.name ?? '');
  const claims = [...claimNames];
  // Below the partition of a rolling update, pods are created from the template before it.
  const split = start + Math.min(replicas, pastPartition(owner));
  const missingIn = (from: number, to: number) => to - from - inRange(`${name}-`, podNames, from, to);
  const lacking = [
    ...podsMissing(owner, spec?.template, missingIn(split, start + replicas)),
    ...podsMissing(owner, spec?.template, missingIn(start, split)).map((object) =>
      object.of === 'pod' ? ({ ...object, isOfEarlierTemplate: true } as const) : object,
    ),
  ];
  return [
    // What leaves frees its charge once.
    ...lacking.map((object, index) => (object.of === 'pod' && index === 0 ? withLeaving(object, leaving) : object)),
    ...(spec?.volumeClaimTemplates ?? []).flatMap((claim): Missing[] => {
      const count = replicas - inRange(`${claim.metadata?.name ?? ''}-${name}-`, claims);
      return count > 0 ? [{ of: 'claim', count, claim }] : [];
    }),
  ];
}

/**
 * What a DaemonSet lacks: a pod on each desired node, and during a rolling update with a surge a second pod on some of
 * the nodes that still run the old one.
 */
export function missingOfDaemonSet(owner: DaemonSetOwner, pods: readonly Child[]): readonly Missing[] {
  const desired = owner.status?.desiredNumberScheduled ?? 0;
  const outdated = Math.max(0, desired - (owner.status?.updatedNumberScheduled ?? desired));
  const { type, rollingUpdate } = owner.spec?.updateStrategy ?? {};
  const surge = type === 'OnDelete' ? 0 : Math.min(outdated, shareOf(rollingUpdate?.maxSurge ?? 0, desired));
  // A taint keeps new pods away from a node and lets the old one stay: it is on no node that is desired.
  const astray = Math.max(0, (owner.status?.numberMisscheduled ?? 0) - pods.filter(isDeleting).length);
  return podsMissing(owner, owner.spec?.template, desired + surge + astray - pods.length, surge);
}

/** What a Job lacks now: the pods that may run at once and have not succeeded yet. */
export function missingOfJob(owner: JobOwner, pods: readonly Child[]): readonly Missing[] {
  const ended = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'];
  const isOver = (owner.status?.conditions ?? []).some(
    (condition) => condition.status === 'True' && ended.includes(condition.type),
  );
  if (isOver || owner.spec?.suspend === true) return [];
  const { succeeded = 0, failedIndexes = '' } = owner.status ?? {};
  return podsMissing(owner, owner.spec?.template, podsAtOnce(owner.spec, succeeded, failedIndexes) - pods.length);
}

/**
 * What a CronJob lacks: the denied Job and its pods. Nothing once a Job of the CronJob was created after the denial.
 *
 * @param jobs the Jobs of the namespace. @param lastDenied when admission last denied one.
 */
export function missingOfCronJob(owner: CronJobOwner, jobs: readonly Child[], lastDenied: EpochMs): readonly Missing[] {
  if (isDeleting(owner) || owner.spec?.suspend === true) return [];
  const uid = owner.metadata?.uid ?? '';
  // Both times are whole seconds. lastScheduleTime alone is not enough: for a late Job it is the time when the Job was
  // due.
  const made = [
    owner.status?.lastScheduleTime,
    ...jobs.filter((job) => isControlledBy(job, uid)).map((job) => job.metadata?.creationTimestamp),
  ];
  if (made.some((at) => at !== undefined && new Date(at).getTime() >= lastDenied)) return [];
  const job = owner.spec?.jobTemplate?.spec;
  const object: Missing = { of: 'object', count: 1, resource: 'jobs', group: 'batch' };
  return [object, ...(job?.suspend === true ? [] : podsMissing(owner, job?.template, podsAtOnce(job, 0)))];
}

/**
 * What a Deployment lacks: its next ReplicaSet, while its conditions say that it cannot be created. The pods are the
 * demand of the ReplicaSet once that exists.
 *
 * @param replicaSets the ReplicaSets of the namespace.
 */
export function missingOfDeployment(owner: DeploymentOwner, replicaSets: readonly Child[]): readonly Missing[] {
  // While it is paused, its controller creates none.
  if (isDeleting(owner) || owner.spec?.paused === true) return [];
  const cannotCreate = (owner.status?.conditions ?? []).some(
    (condition) =>
      condition.type === 'Progressing' && condition.status === 'False' && condition.reason === 'ReplicaSetCreateError',
  );
  // Without a progress deadline a Deployment has no such condition; then having no ReplicaSet at all is the sign.
  const hasNone = !replicaSets.some((replicaSet) => isControlledBy(replicaSet, owner.metadata?.uid ?? ''));
  return cannotCreate || hasNone ? [{ of: 'object', count: 1, resource: 'replicasets', group: 'apps' }] : [];
}

function podsMissing(
  owner: { readonly metadata?: Metadata | undefined },
  template: PodTemplate | undefined,
  count: number,
  surge = 0,
): readonly Missing[] {
  const spec = template?.spec;
  if (isDeleting(owner) || count <= 0 || spec === undefined) return [];
  const claims = (spec.volumes ?? []).flatMap((volume): Missing[] => {
    const claim = volume.ephemeral?.volumeClaimTemplate;
    return claim === undefined ? [] : [{ of: 'claim', count, claim }];
  });
  return [{ of: 'pod', count, surge: Math.min(count, surge), spec }, ...claims];
}

/** How many pods a Job runs at once after this many have succeeded, and these indexes have failed for good. */
function podsAtOnce(job: JobSpec | undefined, succeeded: number, failedIndexes = ''): number {
  const parallelism = job?.parallelism ?? 1;
  // Without completions, a Job starts no new pods after the first success.
  if (job?.completions === undefined) return succeeded > 0 ? 0 : parallelism;
  return Math.min(parallelism, job.completions - succeeded - countOfIndexes(failedIndexes));
}

/** How many indexes a Job's status lists: `1,4-6,8` are five. */
function countOfIndexes(list: string): number {
  const counts = list.split(',').map((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    return first === undefined ? 0 : Number(last) - Number(first) + 1;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How many of a StatefulSet's pods, from its first ordinal on, are created from the template before. */
function pastPartition({ spec, status }: StatefulSetOwner): number {
  const isUpdating = status?.currentRevision !== status?.updateRevision;
  return isUpdating ? (spec?.updateStrategy?.rollingUpdate?.partition ?? 0) : 0;
}

/** The ordinal after the prefix, 12 in `web-12`; null if there is none. */
function ordinalOf(name: string, prefix: string): number | null {
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^(0|[1-9][0-9]{0,9})$/.test(digits) ? Number(digits) : null;
}
