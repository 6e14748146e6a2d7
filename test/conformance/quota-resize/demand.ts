/** What the workloads and the Events of a case amount to, as Headroom computes it. */
import { addLists, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import {
  type ChargingQuota,
  demandOfMessages,
  demandOfMissing,
  type SeenDenial,
} from '../../../domain/quota-resize/demand/demand.ts';
import { parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import {
  type Missing,
  missingOfDaemonSet,
  missingOfJob,
  missingOfReplicated,
  missingOfStatefulSet,
} from '../../../domain/quota-resize/demand/missing.ts';
import { ALWAYS, type Child } from '../../../domain/quota-resize/demand/owner.ts';
import { NotApplicable, UnknownShape } from '../adapter.ts';

export interface CaseWorkload {
  readonly kind: string;
  readonly name?: string | undefined;
  /** How many pods there are to be, and how many there are. */
  readonly wanted: number;
  readonly present: number;
  readonly podRequests: ResourceList;
}

/** A quota of a namespace without any defaults. */
function quotaOf(hard: ResourceList): ChargingQuota {
  return {
    name: 'q',
    hard,
    scopes: {},
    limitRanges: [],
    overheads: {},
    defaultPriorityClass: null,
    defaultStorageClass: null,
    claimTemplates: {},
  };
}

/** The message with which this quota denies a pod that requests something like `cpu=2,memory=1Gi`. */
function denialOf(requested: string, lastSeen: number): SeenDenial {
  const message = `pods "p" is forbidden: exceeded quota: q, requested: ${requested}, used: ${requested}, limited: ${requested}`;
  const denial = parseAdmissionMessage(message);
  if (denial.class !== 'exceededQuota') throw new UnknownShape(`${requested} is no list of amounts`);
  return { denial, lastSeen };
}

/** A denial of which the case says only that there was one. */
export const SOME_DENIAL: SeenDenial = {
  denial: {
    class: 'exceededQuota',
    combined: false,
    resource: 'pods',
    quota: 'q',
    requested: {},
    used: {},
    limited: {},
  },
  lastSeen: 1,
};

type MissingOf = (workload: CaseWorkload, pods: readonly Child[]) => readonly Missing[];

function templateOf({ podRequests }: CaseWorkload) {
  return { spec: { containers: [{ resources: { requests: podRequests } }] } };
}

const replicated: MissingOf = (workload, pods) =>
  missingOfReplicated({ spec: { replicas: workload.wanted, template: templateOf(workload) } }, pods);

const MISSING_OF: Readonly<Record<string, MissingOf>> = {
  ReplicaSet: replicated,
  ReplicationController: replicated,
  StatefulSet: (workload, pods) => {
    const spec = { replicas: workload.wanted, template: templateOf(workload) };
    return missingOfStatefulSet({ metadata: { name: workload.name ?? 'web' }, spec }, pods, [], 0);
  },
  DaemonSet: (workload, pods) => {
    const status = { desiredNumberScheduled: workload.wanted };
    return missingOfDaemonSet({ spec: { template: templateOf(workload) }, status }, pods);
  },
  Job: (workload, pods) =>
    missingOfJob({ spec: { parallelism: workload.wanted, template: templateOf(workload) } }, pods),
};

/** What this quota is to have more of for the pods that a workload lacks. Nothing where none was denied. */
export function demandOf(hard: ResourceList, workload: CaseWorkload, denials: readonly SeenDenial[]): ResourceList {
  const { kind, name = 'web' } = workload;
  const missingOf = MISSING_OF[kind];
  if (missingOf === undefined) throw new NotApplicable(`nobody counts what a ${kind} lacks`);
  const pods = Array.from({ length: workload.present }, (_, at): Child => ({ metadata: { name: `${name}-${at}` } }));
  const denied = { workload: { kind, name, uid: name }, denials, template: ALWAYS };
  return demandOfMissing(quotaOf(hard), denied, missingOf(workload, pods))?.total ?? {};
}

/** The amounts of Events such as "web cpu=2": the workload web was denied a pod of 2 cpu. */
export function denialsIn(events: readonly string[]): readonly (readonly [workload: string, SeenDenial])[] {
  return events.map((event, at) => {
    const [workload = '', amounts = ''] = event.split(' ');
    return [workload, denialOf(amounts, at)] as const;
  });
}

/** What this quota is to have more of where Events are all that is known. */
export function messageDemand(hard: ResourceList, events: readonly string[]): ResourceList {
  const byWorkload = Map.groupBy(denialsIn(events), ([workload]) => workload);
  return [...byWorkload].reduce<ResourceList>((sum, [name, denials]) => {
    const workload = { kind: 'ReplicaSet', name, uid: name };
    const denied = { workload, denials: denials.map(([, denial]) => denial), template: ALWAYS };
    return addLists(sum, demandOfMessages(quotaOf(hard), denied)?.total ?? {});
  }, {});
}
