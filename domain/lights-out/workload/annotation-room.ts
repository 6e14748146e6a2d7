/**
 * Objects with so many annotations that those of a schedule do not fit. Kubernetes would refuse each write that puts the
 * workload to sleep, so it stays up.
 */
import type { Evaluation, ObjectChange } from './evaluation.ts';
import type { MetadataPatch } from './saved-state.ts';
import type { Autoscaler, Workload } from './workload.ts';

/** The first object that has no room for what is to be written to it; null where all have. */
export function withoutRoom(workload: Workload, evaluation: Evaluation): Workload | Autoscaler | null {
  if (evaluation.kind === 'keep') return null;
  const full = evaluation.writes.map((write) => {
    const object = objectOf(workload, write);
    const { annotationRoom: room = Number.POSITIVE_INFINITY, annotations = {} } = object ?? {};
    const growth = growthOf(annotations, write.patch['metadata'] ?? {});
    return growth > 0 && growth > room ? object : undefined;
  });
  return full.find((object) => object !== undefined) ?? null;
}

function objectOf(workload: Workload, { kind, name }: ObjectChange): Workload | Autoscaler | undefined {
  return kind === workload.kind
    ? workload
    : workload.autoscalers.find((autoscaler) => autoscaler.kind === kind && autoscaler.name === name);
}

/** In bytes. What Headroom writes is ASCII; what it replaces may be longer than is counted here. */
function growthOf(before: Readonly<Record<string, string>>, { annotations = {} }: MetadataPatch): number {
  const lengthOf = (key: string, value: string | null | undefined): number =>
    value == null ? 0 : key.length + value.length;
  return Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + lengthOf(key, value) - lengthOf(key, before[key]),
    0,
  );
}
