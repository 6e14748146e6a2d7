import { ownValue } from '../../kernel/record.ts';
import type { Labels, Pod, PodConstraints } from '../model/pod.ts';
import type { PodClass } from './packed.ts';

/** What is asked of a pod to be placed: its constraints, and where it is from. */
export interface Placeable extends PodConstraints {
  readonly namespace: string;
  readonly labels: Labels;
  readonly deletesAt: Pod['deletesAt'];
}

/** Whether what fits is a matter of the node and its free resources alone. */
export function isSimple({ spread, affinity, antiAffinity, keptAwayBy, unclear, volumes }: PodClass): boolean {
  return (
    unclear === null &&
    volumes.onePodClaims.length === 0 &&
    spread.length === 0 &&
    affinity === null &&
    antiAffinity.length === 0 &&
    keptAwayBy.length === 0
  );
}

/** The labels with one of the keys, in the order of the keys. */
export function selectedLabels(labels: Labels, keys: ReadonlySet<string>): Labels {
  if (keys.size === 0) return {};
  return Object.fromEntries(
    [...keys].filter((key) => Object.hasOwn(labels, key)).map((key) => [key, ownValue(labels, key) ?? '']),
  );
}

/** Equal for pods of one class. Lists keep their order: an order that differs only makes one class more. */
export function classKey(pod: Placeable, labels: Labels): string {
  return JSON.stringify([
    pod.namespace,
    labels,
    ...askedOfNode(pod),
    pod.claims,
    pod.claimsDevices,
    pod.deletesAt !== null,
  ]);
}

/** What pods ask of a node and of the pods around, but for volumes and devices; as JSON equal for pods that ask for the same. */
export function askedOfNode(pod: PodConstraints): readonly unknown[] {
  return [
    sorted(pod.requests),
    sorted(pod.nodeSelector),
    pod.nodeAffinity,
    pod.tolerations,
    pod.podAffinity,
    pod.podAntiAffinity,
    pod.spread,
    pod.hostPorts,
  ];
}

/** The entries in the order of their keys. */
export function sorted(
  record: Readonly<Record<string, string | number>>,
): readonly (readonly [string, string | number])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}
