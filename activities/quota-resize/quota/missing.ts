import type {
  V1ControllerRevision,
  V1Deployment,
  V1LabelSelector,
  V1Pod,
  V1ReplicaSet,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { hasSeenItsSpec, isJobAtRest, isReplicatedAtRest } from '../../../domain/quota-resize/demand/at-rest.ts';
import {
  type Missing,
  missingOfCronJob,
  missingOfDaemonSet,
  missingOfDeployment,
  missingOfJob,
  missingOfReplicated,
  missingOfStatefulSet,
} from '../../../domain/quota-resize/demand/missing.ts';
import type { WorkloadRef } from '../../../domain/quota-resize/model/observation.ts';
import {
  ALWAYS,
  chargedPods,
  deploymentUidOf,
  isControlledBy,
  isDeleting,
  leavingPods,
  type TemplateAge,
  templateAge,
} from '../../../domain/quota-resize/demand/owner.ts';
import { rollingSurge, rolloutOf } from '../../../domain/quota-resize/demand/rolling-update.ts';
import { orNull, statusCode } from '../../kubernetes/failure.ts';
import type { NamespaceView } from './namespace-view.ts';
import type { SeenWorkload } from './denials.ts';

/** What an owner lacks now, and since when it has had its template. */
export interface OwnerState {
  readonly missing: readonly Missing[];
  readonly template: TemplateAge;
  /** Whether its controller is done for now, so that no less is missing a moment later. */
  readonly isAtRest: boolean;
}

const NOTHING: OwnerState = { missing: [], template: ALWAYS, isAtRest: true };

/** What the owner lacks now; `gone` when it does not exist; `unreadable` for a kind that is unknown or forbidden. */
export async function readMissing(
  log: Pick<Logger, 'warn'>,
  view: NamespaceView,
  { workload, apiVersion, denials }: SeenWorkload,
): Promise<OwnerState | 'gone' | 'unreadable'> {
  const read = readers[`${apiVersion} ${workload.kind}`];
  if (read === undefined) return 'unreadable';
  const lastSeen = Math.max(...denials.map((denial) => denial.lastSeen));
  try {
    return await read(view, workload, lastSeen);
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    log.warn(
      { ...workload, error: String(error) },
      'the owner of refused pods may not be read; its message counts instead',
    );
    return 'unreadable';
  }
}

type OwnerReader = (
  view: NamespaceView,
  workload: WorkloadRef,
  lastSeen: EpochMs,
) => Promise<OwnerState | 'gone' | 'unreadable'>;

/** How to read each kind of owner, by the apiVersion and kind in an Event. */
const readers: Readonly<Record<string, OwnerReader>> = {
  'apps/v1 ReplicaSet': async (view, workload) => {
    const owner = (await view.replicaSets()).find(isObject(workload));
    if (owner === undefined) return 'gone';
    return owner.spec?.replicas === 0 ? NOTHING : await missingOfReplicaSet(view, owner);
  },
  'v1 ReplicationController': async (view, workload) => {
    const owner = (await view.replicationControllers()).find(isObject(workload));
    if (owner === undefined) return 'gone';
    if (owner.spec?.replicas === 0) return NOTHING;
    // A ReplicationController's selector is a plain map of labels.
    const pods = podsOf(await readPods(view, { matchLabels: owner.spec?.selector ?? {} }, workload.uid), workload.uid);
    return {
      missing: missingOfReplicated(owner, pods),
      template: templateAge(owner),
      isAtRest: isReplicatedAtRest(owner, pods),
    };
  },
  'apps/v1 StatefulSet': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.apps.readNamespacedStatefulSet({ name, namespace }));
    if (owner === null) return 'gone';
    const pods = podsOf(await readPods(view, owner.spec?.selector, workload.uid), workload.uid);
    const claims = (owner.spec?.volumeClaimTemplates ?? []).length > 0 ? await view.claims() : [];
    const names = claims.map((claim) => claim.metadata?.name ?? '');
    return {
      missing: missingOfStatefulSet(owner, pods, names, Date.now()),
      template: templateAge(owner, await revisionOf(view, owner)),
      isAtRest: hasSeenItsSpec(owner),
    };
  },
  'apps/v1 DaemonSet': async (view, workload) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.apps.readNamespacedDaemonSet({ name, namespace }));
    if (owner === null) return 'gone';
    const pods = podsOf(await readPods(view, owner.spec?.selector, workload.uid), workload.uid);
    return {
      missing: missingOfDaemonSet(owner, pods),
      template: templateAge(owner),
      isAtRest: hasSeenItsSpec(owner),
    };
  },
  'batch/v1 Job': async (view, workload) => {
    const owner = await readOwner(workload, async () => await view.job(workload));
    if (owner === null) return 'gone';
    const pods = podsOf(await readPods(view, owner.spec?.selector, workload.uid), workload.uid);
    return { missing: missingOfJob(owner, pods), template: templateAge(owner), isAtRest: isJobAtRest(owner, pods) };
  },
  'batch/v1 CronJob': async (view, workload, lastSeen) => {
    const { kubernetes, namespace } = view;
    const owner = await readOwner(workload, (name) => kubernetes.batch.readNamespacedCronJob({ name, namespace }));
    if (owner === null) return 'gone';
    return {
      missing: missingOfCronJob(owner, await view.jobs(), lastSeen),
      template: templateAge(owner),
      // A CronJob creates one Job at a time, and that one was refused.
      isAtRest: true,
    };
  },
  'apps/v1 Deployment': async (view, workload) => {
    const owner = await readOwner(workload, (name) => view.deployment(name));
    if (owner === null) return 'gone';
    return {
      missing: missingOfDeployment(owner, await view.replicaSets()),
      template: templateAge(owner),
      isAtRest: hasSeenItsSpec(owner),
    };
  },
  'v1 Pod': presenceOfPod,
};

/** Whether a pod is there, for which something else was denied: what that was, only the message tells. */
async function presenceOfPod(view: NamespaceView, workload: WorkloadRef): Promise<'gone' | 'unreadable'> {
  const pod = (await view.pods()).find(isObject(workload));
  return pod === undefined || isDeleting(pod) ? 'gone' : 'unreadable';
}

/** A ReplicaSet on its own, or in the rolling update of its Deployment. */
async function missingOfReplicaSet(view: NamespaceView, owner: V1ReplicaSet): Promise<OwnerState> {
  const uid = owner.metadata?.uid ?? '';
  const deployment = await readDeployment(view, owner);
  const template = templateAge(owner);
  if (deployment === null) {
    const pods = podsOf(await readPods(view, owner.spec?.selector, uid), uid);
    return { missing: missingOfReplicated(owner, pods), template, isAtRest: isReplicatedAtRest(owner, pods) };
  }
  const replicaSets = await view.replicaSets();
  const ofDeployment = replicaSets.filter((replicaSet) => deploymentUidOf(replicaSet) === deployment.metadata?.uid);
  const pods = await readPods(view, deployment.spec?.selector, null);
  const ofAll = ofDeployment.flatMap((replicaSet) => podsOf(pods, replicaSet.metadata?.uid ?? ''));
  const surge = rollingSurge(deployment, ofDeployment);
  const rollout = rolloutOf(deployment, owner, ofAll);
  const own = podsOf(pods, uid);
  const leaving = leavingPods(
    ofAll.filter((pod) => !isControlledBy(pod, uid)),
    Date.now(),
  );
  return {
    missing: missingOfReplicated(owner, own, { surge, rollout, leaving }),
    template,
    isAtRest: isReplicatedAtRest(owner, own, deployment),
  };
}

/** The Deployment that controls a ReplicaSet; null when there is none any more. */
async function readDeployment(view: NamespaceView, replicaSet: V1ReplicaSet): Promise<V1Deployment | null> {
  const uid = deploymentUidOf(replicaSet);
  const name = replicaSet.metadata?.ownerReferences?.find((owner) => owner.uid === uid)?.name;
  if (uid === null || name === undefined) return null;
  const deployment = await view.deployment(name);
  return deployment?.metadata?.uid === uid ? deployment : null;
}

/** The revision of a StatefulSet's present template; null while its controller has not made one, or it is gone. */
async function revisionOf(
  { kubernetes, namespace }: NamespaceView,
  { metadata, status }: V1StatefulSet,
): Promise<V1ControllerRevision | null> {
  const { observedGeneration, updateRevision: name } = status ?? {};
  if (name === undefined || metadata?.generation === 1 || observedGeneration !== metadata?.generation) return null;
  const revision = await orNull(kubernetes.apps.readNamespacedControllerRevision({ name, namespace }));
  return revision !== null && isControlledBy(revision, metadata?.uid ?? '') ? revision : null;
}

/** The owner by its name; null when it is gone or the name belongs to another object now. */
async function readOwner<T extends { metadata?: { uid?: string } }>(
  workload: WorkloadRef,
  read: (name: string) => Promise<T | null>,
): Promise<T | null> {
  const owner = await orNull(read(workload.name));
  return owner !== null && isObject(workload)(owner) ? owner : null;
}

function isObject(workload: WorkloadRef): (object: { metadata?: { uid?: string } }) => boolean {
  return (object) => object.metadata?.uid === workload.uid;
}

/**
 * The pods of a selector. They are counted themselves, because an owner's status lags behind: a pod that it counts as
 * missing but exists would be demanded twice.
 */
async function readPods(
  view: NamespaceView,
  selector: V1LabelSelector | undefined,
  ownerUid: string | null,
): Promise<readonly V1Pod[]> {
  return await view.podsOf(selectorText(selector), ownerUid);
}

function podsOf(pods: readonly V1Pod[], ownerUid: string): readonly V1Pod[] {
  return chargedPods(pods, ownerUid, Date.now());
}

/** A label selector in the syntax of a list request. */
function selectorText(selector: V1LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
  });
  return [...labels, ...expressions].join(',');
}
