import type { V1ResourceQuota } from '@kubernetes/client-node';
import { oneLine, truncate } from '../../../domain/kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import type { SeenDenial } from '../../../domain/quota-resize/demand/demand.ts';
import { denialReasons, parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import type { DoubtedDenial, WorkloadRef } from '../../../domain/quota-resize/model/observation.ts';
import { CLOCK_SKEW_MS, type NamespaceView } from './namespace-view.ts';

/** A workload with its denials. */
export interface SeenWorkload {
  readonly workload: WorkloadRef;
  /** `apps/v1`; a Job of another API group is another kind. */
  readonly apiVersion: string;
  readonly denials: SeenDenial[];
}

/** What was denied, and which Events are not believed. */
export interface SeenDenials {
  readonly workloads: readonly SeenWorkload[];
  readonly doubted: readonly DoubtedDenial[];
}

/** The longest name of an object, and more than the longest name of a kind. */
const MAX_NAME_LENGTH = 253;

/** How much of a name that may be made up is shown. */
const MAX_SHOWN = 80;

/**
 * What quotas of the namespace denied, by workload: from Events (which live for an hour) and from the ReplicaFailure
 * condition of ReplicaSets and ReplicationControllers (which lasts as long as the failure).
 *
 * @param quotas of the namespace: a ReplicaSet itself is only denied by one that counts them.
 */
export async function readDenials(view: NamespaceView, quotas: readonly V1ResourceQuota[]): Promise<SeenDenials> {
  const latest = Date.now() + CLOCK_SKEW_MS;
  const countsReplicaSets = quotas.some(({ spec }) => Object.keys(spec?.hard ?? {}).some(isCountOfReplicaSets));
  const reasons = denialReasons.filter((reason) => reason !== 'ReplicaSetCreateError' || countsReplicaSets);
  const [events, replicaSets, controllers] = await Promise.all([
    Promise.all(reasons.map((reason) => view.denialEvents(reason))),
    view.replicaSets(),
    view.replicationControllers(),
  ]);
  const byUid = new Map<string, SeenWorkload>();
  const doubted: DoubtedDenial[] = [];
  const add = (
    workload: WorkloadRef,
    apiVersion: string,
    message: string | undefined,
    lastSeen: EpochMs | null,
  ): void => {
    const denial = parseAdmissionMessage(message ?? '');
    if (denial.class !== 'exceededQuota') return;
    if (lastSeen !== null && lastSeen > latest) {
      const message = `An Event about ${nameOf(workload)} is dated ${formatInstant(lastSeen)}, which is in the future. Headroom does not believe it.`;
      doubted.push({ reason: 'InFuture', message });
      return;
    }
    if (workload.kind.length > MAX_NAME_LENGTH || workload.name.length > MAX_NAME_LENGTH) {
      doubted.push(withoutObject(workload));
      return;
    }
    const key = workload.uid === '' ? `${workload.kind}/${workload.name}` : workload.uid;
    const existing = byUid.get(key) ?? { workload, apiVersion, denials: [] };
    existing.denials.push({ denial, lastSeen: lastSeen ?? 0 });
    byUid.set(key, existing);
  };
  for (const { workload, apiVersion, message, lastSeen } of events.flatMap(({ items }) => items)) {
    add(workload, apiVersion, message, lastSeen);
  }
  const leftOut = events.reduce((sum, list) => sum + list.leftOut, 0);
  if (leftOut > 0) {
    const message = `The namespace has ${leftOut} more Events about denials than Headroom reads. It counts the newest of them.`;
    doubted.unshift({ reason: 'TooMany', message });
  }
  const failing = [
    ...replicaSets.map((controller) => ({ controller, kind: 'ReplicaSet', apiVersion: 'apps/v1' })),
    ...controllers.map((controller) => ({ controller, kind: 'ReplicationController', apiVersion: 'v1' })),
  ];
  for (const { controller, kind, apiVersion } of failing) {
    const { name = '', uid = '' } = controller.metadata ?? {};
    const condition = controller.status?.conditions?.find((is) => is.type === 'ReplicaFailure' && is.status === 'True');
    if (condition === undefined) continue;
    add({ kind, name, uid }, apiVersion, condition.message, condition.lastTransitionTime?.getTime() ?? null);
  }
  return { workloads: [...byUid.values()], doubted };
}

function isCountOfReplicaSets(resource: string): boolean {
  return resource.startsWith('count/replicasets.');
}

/** An Event about an object that does not exist. */
export function withoutObject(workload: WorkloadRef): DoubtedDenial {
  const message = `An Event is about ${nameOf(workload)}, and no object with its UID exists. Headroom does not count it.`;
  return { reason: 'NoObject', message };
}

/** What an Event calls its object, which may be any text. */
function nameOf({ kind, name }: WorkloadRef): string {
  return `${truncate(oneLine(kind), MAX_SHOWN)} ${truncate(oneLine(name), MAX_SHOWN)}`;
}
