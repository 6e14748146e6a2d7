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
  const full = evaluation.writes.find((write) => !hasRoom(workload, write));
  return (full && objectOf(workload, full)) ?? null;
}

/** The same change of those that have room; null where none has. */
export function fitting(workload: Workload, evaluation: Evaluation): Evaluation | null {
  if (evaluation.kind === 'keep') return evaluation;
  const writes = evaluation.writes.filter((write) => hasRoom(workload, write));
  return writes.length === 0 ? null : { ...evaluation, writes };
}

function hasRoom(workload: Workload, write: ObjectChange): boolean {
  const { annotationRoom: room = Number.POSITIVE_INFINITY, annotations = {} } = objectOf(workload, write) ?? {};
  const growth = growthOf(annotations, write.patch['metadata'] ?? {});
  return growth <= 0 || growth <= room;
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
