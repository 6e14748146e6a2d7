/** The annotations of a workload that was put down: whose it is, what it was, since when; as they are read, and as patches. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { readMoment } from './annotations.ts';
import { DOWN_SINCE, MANAGED_BY, ORIGINAL_REPLICAS, ORIGINAL_SUSPEND } from '../schedule/names.ts';
import { hasReplicas, WORKLOAD_KINDS } from './kinds.ts';
import type { Workload } from './workload.ts';

/** The longest value of a label. */
const LABEL_LENGTH = 63;
/** Hexadecimal digits of a 64-bit hash. */
const HASH_LENGTH = 16;
const MAX_REPLICAS = 2_147_483_647;

/** What Headroom writes for a CronJob that it suspended itself. */
export const SUSPENDED_BY_US = 'lightsout';

/** FNV-1a of 64 bits: it tells the names of a cluster apart, and runs where there is no cryptography. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  }
  return value.toString(16).padStart(HASH_LENGTH, '0');
}

/** The name of a schedule as the value of a label: a name of more than 63 characters is cut, and ends in its hash. */
export function labelValue(schedule: string): string {
  if (schedule.length <= LABEL_LENGTH) return schedule;
  return `${schedule.slice(0, LABEL_LENGTH - HASH_LENGTH - 1)}-${hash(schedule)}`;
}

/** What metadata is read and written: a merge patch in which null takes a key away. */
export interface MetadataPatch {
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
}

interface WithMetadata {
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export interface SavedState {
  /** Whose it is, by the annotation. */
  readonly managedBy: string | null;
  /** The same by the label, as `labelValue` has it. */
  readonly label: string | null;
  /** The value of original-replicas, or of original-suspend on a CronJob; null where that is stale. */
  readonly original: string | null;
  /** Null also where an earlier tool put it down. */
  readonly since: EpochMs | null;
}

function originalKey(kind: Workload['kind']): string {
  return hasReplicas(kind) ? ORIGINAL_REPLICAS : ORIGINAL_SUSPEND;
}

type AnnotatedWorkload = WithMetadata & Pick<Workload, 'kind' | 'replicas'>;

/**
 * Whether annotations alone say that it was put down, on a workload that has replicas and may have got its annotations back
 * from an older revision. Headroom's own annotations, with the time in them: it never writes them without the label, where
 * another tool may.
 */
export function isStale({ kind, labels, annotations, replicas }: AnnotatedWorkload): boolean {
  const isOurs = annotations[DOWN_SINCE] !== undefined;
  const { hasRevisionAnnotations } = WORKLOAD_KINDS[kind];
  return hasRevisionAnnotations && isOurs && !labels[MANAGED_BY] && replicas !== null && replicas > 0;
}

/**
 * The annotations as they are. `kubectl rollout undo` gives a Deployment the annotations of its older ReplicaSet, and leaves its
 * labels: by night they may all be gone, and a label says how many replicas it had; by day they may be back without any label,
 * and say nothing of one that has replicas.
 */
export function savedStateOf({ kind, annotations, labels, replicas }: AnnotatedWorkload): SavedState {
  const label = labels[MANAGED_BY] || null;
  const annotated = annotations[originalKey(kind)];
  // A label alone may have been left by a tool that knows only the other annotations.
  const labelled = hasReplicas(kind) && label !== null ? labels[ORIGINAL_REPLICAS] : null;
  return {
    managedBy: annotations[MANAGED_BY] || null,
    label,
    // An empty annotation means that it was put to sleep, and that its replicas before are unknown.
    original: isStale({ kind, annotations, labels, replicas }) ? null : annotated || labelled || (annotated ?? null),
    since: readMoment(annotations[DOWN_SINCE] ?? ''),
  };
}

/** Whether it was put down: Headroom's annotation, or that of the tool before it, says what it was. */
export function isScaledDown({ original }: SavedState, kind: Workload['kind']): boolean {
  return hasReplicas(kind) ? original !== null : original === SUSPENDED_BY_US;
}

/** How many replicas it had. What is no number of replicas counts as 1, so that something runs again. */
export function originalReplicas({ original }: SavedState): number {
  const value = original !== null && /^\+?\d+$/.test(original) ? Number(original) : 1;
  return value <= MAX_REPLICAS ? value : 1;
}

/** The annotations of what is put down now. `original` is the number of replicas before, or `lightsout` for a CronJob. */
export function scaledDownMetadata(
  kind: Workload['kind'],
  original: string,
  schedule: string,
  now: EpochMs,
): MetadataPatch {
  const { annotations, labels } = ownerMetadata(schedule);
  return {
    annotations: { [originalKey(kind)]: original, ...annotations, [DOWN_SINCE]: formatInstant(now) },
    labels: hasReplicas(kind) ? { [ORIGINAL_REPLICAS]: original, ...labels } : labels,
  };
}

/** The annotations that say whose it is. */
export function ownerMetadata(schedule: string): Required<MetadataPatch> {
  return { annotations: { [MANAGED_BY]: schedule }, labels: { [MANAGED_BY]: labelValue(schedule) } };
}

/** Takes the given annotations and labels off, those that are there. */
export function without(object: WithMetadata, annotations: readonly string[], labels = [MANAGED_BY]): MetadataPatch {
  const [ofAnnotations, ofLabels] = [
    annotations.filter((key) => object.annotations[key] !== undefined),
    labels.filter((key) => object.labels[key] !== undefined),
  ].map((keys) => (keys.length === 0 ? undefined : Object.fromEntries(keys.map((key) => [key, null]))));
  return {
    ...(ofAnnotations === undefined ? {} : { annotations: ofAnnotations }),
    ...(ofLabels === undefined ? {} : { labels: ofLabels }),
  };
}

/** Takes every annotation off a workload. */
export function withoutSavedState(workload: Pick<Workload, 'kind' | 'annotations' | 'labels'>): MetadataPatch {
  const keys = [originalKey(workload.kind), MANAGED_BY, DOWN_SINCE];
  return without(workload, keys, [MANAGED_BY, ORIGINAL_REPLICAS]);
}

export function isEmptyPatch({ annotations, labels }: MetadataPatch): boolean {
  return annotations === undefined && labels === undefined;
}
