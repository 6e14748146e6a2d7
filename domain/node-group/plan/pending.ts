/** Which pods wait for a node, and which wait for something that no node would give them. */
import type { Pod } from '../model/pod.ts';
import { isOfDaemonSet } from '../model/pod-owner.ts';
import type { UnhelpedPod, UnhelpedReason } from '../model/plan.ts';
import { hardestFirst } from '../scheduling/hardest-first.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { PodClass } from '../scheduling/packed.ts';
import type { Against } from './evidence-against.ts';

/** cluster-autoscaler's default: pods below it do not make nodes. */
const EXPENDABLE_BELOW = -10;

/** Pending pods of one class. */
export interface Work {
  readonly pods: PodClass;
  /** `<namespace>/<name>`, sorted. */
  readonly names: readonly string[];
  /** One of them. */
  readonly first: Pod;
  /** Null for nothing. */
  readonly against: Against | null;
  /** Of pods that do not exist yet, and come when their workloads wake. Absent: false. */
  readonly isComing?: boolean;
}

export interface Pending {
  readonly work: readonly Work[];
  readonly unhelped: readonly UnhelpedPod[];
}

/** Compares texts by their code units, the same on every machine. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Sorts the pods that have no node: into classes for which nodes are looked for, and those that are not for us. */
export function pendingWork(packing: Packing, pods: readonly Pod[]): Pending {
  const waiting = new Map<PodClass, Pod[]>();
  const unhelped: UnhelpedPod[] = [];
  for (const pod of pods) {
    if (pod.node !== null || pod.phase !== 'Pending' || pod.deletesAt !== null || isOfDaemonSet(pod)) continue;
    const reason = whyNot(pod, packing.whySetAside(pod.namespace));
    if (reason !== null) unhelped.push({ namespace: pod.namespace, name: pod.name, ...reason });
    else if (pod.unscheduled?.reason === 'Unschedulable') {
      const of = packing.classOf(pod);
      const list = waiting.get(of) ?? [];
      list.push(pod);
      waiting.set(of, list);
    }
  }
  return { work: [...waiting].flatMap(([of, list]) => workOf(of, list)), unhelped };
}

function workOf(pods: PodClass, list: readonly Pod[]): readonly Work[] {
  // All of a class are of one namespace.
  const sorted = list.toSorted((a, b) => byText(a.name, b.name));
  const names = sorted.map(({ namespace, name }) => `${namespace}/${name}`);
  return sorted.slice(0, 1).map((first) => ({ pods, names, first, against: null }));
}

function whyNot(
  pod: Pod,
  setAside: string | null,
): { readonly reason: UnhelpedReason; readonly detail: string } | null {
  if (pod.unscheduled?.reason === 'SchedulingGated') {
    return { reason: 'SchedulingGated', detail: 'its scheduling gates keep it from being scheduled' };
  }
  if (pod.schedulerName !== 'default-scheduler') {
    return { reason: 'OtherScheduler', detail: `it is placed by the scheduler ${pod.schedulerName}` };
  }
  if (pod.nominatedNode !== null) {
    return { reason: 'Preempting', detail: `it takes the place of other pods on node ${pod.nominatedNode}` };
  }
  if (pod.unscheduled?.reason !== 'Unschedulable') return null;
  if (pod.priority < EXPENDABLE_BELOW) {
    return { reason: 'LowPriority', detail: `its priority of ${pod.priority} is below ${EXPENDABLE_BELOW}` };
  }
  if (setAside !== null) return { reason: 'TooManyTerms', detail: setAside };
  return pod.claimsDevices
    ? { reason: 'DeviceClaims', detail: 'it claims devices by ResourceClaims, which are not simulated' }
    : null;
}

export function inOrder(work: readonly Work[]): readonly Work[] {
  return work.toSorted((a, b) => hardestFirst(a.pods, b.pods));
}
