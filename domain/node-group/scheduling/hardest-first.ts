/** In which order classes of pods are placed, so that first fit does well and the outcome depends on no other order. */
import type { PodClass } from './packed.ts';

const GIB = 1024 ** 3;
/** Gibibytes of memory that are as much as a core, as in general-purpose machines. */
const GIB_A_CORE = 4;

/** Pods that can go to few places first, then large ones first. */
export function hardestFirst(a: PodClass, b: PodClass): number {
  return (
    Number(selectsNodes(b)) - Number(selectsNodes(a)) ||
    Number(isBound(b)) - Number(isBound(a)) ||
    sizeOf(b) - sizeOf(a) ||
    byKey(a, b)
  );
}

/** One that could go anywhere leaves these the nodes that they need: the other way round a node more would come for them. */
function selectsNodes({ constraints: { nodeSelector, nodeAffinity } }: PodClass): boolean {
  return Object.keys(nodeSelector).length > 0 || nodeAffinity !== null;
}

/** Whether the pod asks for or keeps away other pods. */
export function isBound({ spread, affinity, antiAffinity }: PodClass): boolean {
  return spread.length > 0 || affinity !== null || antiAffinity.length > 0;
}

function sizeOf({ constraints: { requests } }: PodClass): number {
  return (requests['cpu'] ?? 0) / 1000 + (requests['memory'] ?? 0) / GIB / GIB_A_CORE;
}

function byKey(a: PodClass, b: PodClass): number {
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}
