/** The annotations of a sleeping workload: its schedule, its earlier state, and since when; parsed, and as patches. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { readMoment } from './annotations.ts';
import {
  DOWN_SINCE,
  MANAGED_BY,
  ORIGINAL_PAUSED,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  SCALED_OWNER,
} from '../schedule/names.ts';
import { hasReplicas, WORKLOAD_KINDS } from './kinds.ts';
import type { Saved, Workload } from './workload.ts';

/** The longest value of a label. */
const LABEL_LENGTH = 63;
/** Hexadecimal digits of a 64-bit hash. */
const HASH_LENGTH = 16;
/** The most replicas that Kubernetes counts. */
export const MAX_REPLICAS = 2_147_483_647;

/** The annotation's value for a CronJob that Headroom suspended. */
export const SUSPENDED_BY_US = 'lightsout';

/** 64-bit FNV-1a: it distinguishes names and needs no cryptography library, which a workflow does not have. */
function hash(text: string): string {
  let value = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n);
  }
  return value.toString(16).padStart(HASH_LENGTH, '0');
}

/**
 * A schedule's name as a label value, and as a part of the name of an object: more than 63 characters are cut, and the end becomes a
 * hash of the name.
 */
export function labelValue(schedule: string): string {
  if (schedule.length <= LABEL_LENGTH) return schedule;
  // In the name of an object no dash follows a dot.
  const head = schedule.slice(0, LABEL_LENGTH - HASH_LENGTH - 1).replace(/\.$/, '');
  return `${head}-${hash(schedule)}`;
}

/** Metadata of a merge patch; null removes a key. */
export interface MetadataPatch {
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly labels?: Readonly<Record<string, string | null>>;
}

interface WithMetadata {
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

export interface SavedState {
  /** The owner by the annotation. */
  readonly managedBy: string | null;
  /** The owner by the label, in the form of `labelValue`. */
  readonly label: string | null;
  /** The value of original-replicas, or of original-suspend on a CronJob; null when it is stale. */
  readonly original: string | null;
  /** Null if an earlier tool put it to sleep. */
  readonly since: EpochMs | null;
}

function originalKey(kind: Workload['kind']): string {
  return hasReplicas(kind) ? ORIGINAL_REPLICAS : ORIGINAL_SUSPEND;
}

type AnnotatedWorkload = WithMetadata & Pick<Workload, 'kind' | 'replicas'>;

/**
 * Whether annotations without the label are left over: a workload with replicas may have got annotations back from an
 * older revision. Only annotations with a time count as stale, because Headroom writes those and always with the label;
 * other tools may omit it.
 */
export function isStale({ kind, labels, annotations, replicas }: AnnotatedWorkload): boolean {
  const isOurs = annotations[DOWN_SINCE] !== undefined;
  const { hasRevisionAnnotations } = WORKLOAD_KINDS[kind];
  return hasRevisionAnnotations && isOurs && !labels[MANAGED_BY] && replicas !== null && replicas > 0;
}

/**
 * The saved state of a workload. `kubectl rollout undo` replaces a Deployment's annotations by those of an older
 * ReplicaSet and keeps its labels. At night the annotations may therefore be gone, and a label has the replicas; by day
 * they may be back without a label, and mean nothing if the workload has replicas.
 */
export function savedStateOf({ kind, annotations, labels, replicas }: AnnotatedWorkload): SavedState {
  const label = labels[MANAGED_BY] || null;
  const annotated = annotations[originalKey(kind)];
  // A label without the annotations may be left over from a tool that knows only the annotations.
  const labelled = hasReplicas(kind) && label !== null ? labels[ORIGINAL_REPLICAS] : null;
  return {
    managedBy: annotations[MANAGED_BY] || null,
    label,
    // An empty annotation means asleep with unknown earlier replicas.
    original: isStale({ kind, annotations, labels, replicas }) ? null : annotated || labelled || (annotated ?? null),
    // Read when somebody asks for it: most only ask whether there are marks, of 10,000 workloads at a time.
    get since() {
      return readMoment(annotations[DOWN_SINCE] ?? '');
    },
  };
}

/** Whether it was put to sleep, by Headroom's annotations or those of the tool before it. */
export function isScaledDown({ original }: SavedState, kind: Workload['kind']): boolean {
  return hasReplicas(kind) ? original !== null : original === SUSPENDED_BY_US;
}

/** The replicas before it was put to sleep. An invalid number counts as 1, so that something runs again. */
export function originalReplicas({ original }: Pick<SavedState, 'original'>): number {
  const value = original !== null && /^\+?\d+$/.test(original) ? Number(original) : 1;
  return value <= MAX_REPLICAS ? value : 1;
}

/**
 * The annotations for a workload that is put to sleep now. `original` is its present number of replicas, empty where none
 * is written in its spec, or `lightsout` for a CronJob. `owner` is what is set in its place, as its mark has it.
 */
export function scaledDownMetadata(
  kind: Workload['kind'],
  original: string,
  schedule: string,
  now: EpochMs,
  owner?: string,
): MetadataPatch {
  const { annotations, labels } = ownerMetadata(schedule);
  const byOwner = owner === undefined ? {} : { [SCALED_OWNER]: owner };
  return {
    annotations: { [originalKey(kind)]: original, ...byOwner, ...annotations, [DOWN_SINCE]: formatInstant(now) },
    labels: hasReplicas(kind) ? { [ORIGINAL_REPLICAS]: original, ...labels } : labels,
  };
}

/**
 * What a workload is restored to and since when it sleeps, once a patch of its marks is written; undefined where neither
 * the patch nor the workload has the first.
 */
export function savedWith(
  workload: AnnotatedWorkload,
  { annotations = {} }: MetadataPatch,
  now: EpochMs,
): Saved | undefined {
  const original = annotations[originalKey(workload.kind)] ?? savedStateOf(workload).original;
  if (original === null) return undefined;
  const owner = annotations[SCALED_OWNER] ?? workload.annotations[SCALED_OWNER];
  const since = annotations[DOWN_SINCE] ?? workload.annotations[DOWN_SINCE] ?? formatInstant(now);
  return { original, since, ...(owner === undefined ? {} : { owner }) };
}

/** The annotations that name the owner. */
export function ownerMetadata(schedule: string): Required<MetadataPatch> {
  return { annotations: { [MANAGED_BY]: schedule }, labels: { [MANAGED_BY]: labelValue(schedule) } };
}

/** Removes the given annotations and labels if they are there. */
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

/** Removes all saved state from a workload. */
export function withoutSavedState(workload: Pick<Workload, 'kind' | 'annotations' | 'labels'>): MetadataPatch {
  const { kind } = workload;
  const more = kind === 'ScaledJob' ? [ORIGINAL_PAUSED] : [SCALED_OWNER];
  const keys = [originalKey(kind), ...more, MANAGED_BY, DOWN_SINCE];
  return without(workload, keys, [MANAGED_BY, ORIGINAL_REPLICAS]);
}

export function isEmptyPatch({ annotations, labels }: MetadataPatch): boolean {
  return annotations === undefined && labels === undefined;
}
