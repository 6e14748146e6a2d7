import type { CoreV1Event } from '@kubernetes/client-node';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { SeenDenial } from '../../../domain/quota-resize/demand/demand.ts';
import {
  eventLastSeen,
  parseAdmissionMessage,
  denialReasons,
} from '../../../domain/quota-resize/demand/event-message.ts';
import type { WorkloadRef } from '../../../domain/quota-resize/model/observation.ts';
import type { NamespaceView } from './namespace-view.ts';

/** A workload with its denials. */
export interface SeenWorkload {
  readonly workload: WorkloadRef;
  /** `apps/v1`; a Job of another API group is another kind. */
  readonly apiVersion: string;
  readonly denials: SeenDenial[];
}

/**
 * What quotas of the namespace denied, by workload: from Events (which live for an hour) and from the ReplicaFailure
 * condition of ReplicaSets and ReplicationControllers (which lasts as long as the failure).
 */
export async function readDenials(view: NamespaceView): Promise<readonly SeenWorkload[]> {
  const [events, replicaSets, controllers] = await Promise.all([
    Promise.all(denialReasons.map((reason) => view.events(reason))),
    view.replicaSets(),
    view.replicationControllers(),
  ]);
  const byUid = new Map<string, SeenWorkload>();
  const add = (
    workload: WorkloadRef,
    apiVersion: string,
    message: string | undefined,
    lastSeen: EpochMs | null,
  ): void => {
    const denial = parseAdmissionMessage(message ?? '');
    if (denial.class !== 'exceededQuota') return;
    const key = workload.uid === '' ? `${workload.kind}/${workload.name}` : workload.uid;
    const existing = byUid.get(key) ?? { workload, apiVersion, denials: [] };
    existing.denials.push({ denial, lastSeen: lastSeen ?? 0 });
    byUid.set(key, existing);
  };
  for (const event of events.flat())
    add(involved(event), event.involvedObject.apiVersion ?? '', event.message, eventLastSeen(event));
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
  return [...byUid.values()];
}

function involved({ involvedObject: { kind = '', name = '', uid = '' } }: CoreV1Event): WorkloadRef {
  return { kind, name, uid };
}
