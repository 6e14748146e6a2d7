/**
 * What a workload was before it was put to sleep, kept outside of it as well. An operator, an upgrade or a policy may
 * replace an object's metadata and leave it at 0 replicas. The marks on the workload win wherever they are.
 */
import { z } from 'zod';
import { readJsonText } from '../../kernel/json-text.ts';
import { readMoment } from './annotations.ts';
import { managerClass } from './manager.ts';
import { isScaledDown, originalReplicas, savedStateOf, scaledDownMetadata } from './saved-state.ts';
import {
  markDiffersSentence,
  markLostSentence,
  overruledMarkSentence,
  recalledSentence,
  replicasOf,
} from './sentences.ts';
import { ORIGINAL_REPLICAS, workloadTypes } from '../schedule/names.ts';
import { type OwnerMark, readOwnerMark, scaledUid } from './scaled-owner.ts';
import { type Saved, type ScaledOwner, type Workload, workloadName, type WorkloadRef } from './workload.ts';

const remembered = z.object({
  kind: z.enum(workloadTypes),
  namespace: z.string(),
  name: z.string(),
  /** As in the mark: the number of replicas, or `lightsout` for a CronJob. */
  original: z.string(),
  /** The replicas that it keeps while asleep; null for a CronJob. */
  level: z.int().min(0).nullable(),
  /** RFC 3339. */
  since: z.string(),
  /** As in the mark: what is set in place of the workload. */
  owner: z.string().optional(),
});

/** One workload in the memory, which has it by its UID, or by that of the owner whose number is set. */
export type Remembered = Readonly<z.infer<typeof remembered>>;

/** By `scaledUid`. */
export type RememberedWorkloads = ReadonlyMap<string, Remembered>;

/** Null for a text that is no such entry. */
export function readRemembered(text: string): Remembered | null {
  return readJsonText(remembered, text);
}

export function rememberedText({ kind, namespace, name, original, level, since, owner }: Remembered): string {
  return JSON.stringify({ kind, namespace, name, original, level, since, owner });
}

/** What is written to a workload, as far as it is remembered. */
interface Change {
  readonly item: { readonly workload: WorkloadRef; readonly to: number | null };
  readonly saved?: Saved;
}

/** What has to be remembered before a workload is written; null for one that is not put to sleep. */
export function rememberedOf(
  uid: string,
  { item: { workload, to }, saved }: Change,
): readonly [uid: string, entry: Remembered] | null {
  if (saved === undefined) return null;
  const { kind, namespace, name } = workload;
  return [uid, { kind, namespace, name, level: to, ...saved }];
}

interface RecallContext {
  readonly schedule: string;
  readonly gitopsManagers: readonly string[];
  readonly remembered?: RememberedWorkloads;
}

/**
 * The workload with the marks that it lost, if the memory has them: the same object by its UID, at the number of
 * replicas of the night, whose replicas no person has written since. Any other workload is returned as it is, but for
 * one that sleeps by its owner: see `byMemory`.
 */
export function recalled(workload: Workload, context: RecallContext): Workload {
  const entry = entryOf(workload, context.remembered);
  if (hasMark(workload)) return context.remembered === undefined ? workload : byMemory(workload, entry);
  if (entry === undefined || !isAtLevel(workload, entry)) return workload;
  if (isOfPersonSince(workload, entry, context.gitopsManagers)) return workload;
  const since = readMoment(entry.since) ?? 0;
  const { annotations, labels } = scaledDownMetadata(
    workload.kind,
    entry.original,
    context.schedule,
    since,
    entry.owner,
  );
  return {
    ...workload,
    annotations: { ...workload.annotations, ...texts(annotations) },
    labels: { ...workload.labels, ...texts(labels) },
    isRecalled: true,
  };
}

/**
 * Whoever may annotate a workload can scale it anyway, and may have no right to scale its owner. So an owner gets the number of the memory
 * and not that of the mark; without an entry it keeps the number that it has.
 */
function byMemory(workload: Workload, entry: Remembered | undefined): Workload {
  const { owner, replicas, kind } = workload;
  const saved = savedStateOf(workload);
  if (owner === undefined || replicas === null || !isScaledDown(saved, kind)) return workload;
  const marked = originalReplicas(saved);
  const original = entry?.original ?? String(replicas);
  if (marked === numberOf(original)) return workload;
  return {
    ...workload,
    annotations: { ...workload.annotations, [ORIGINAL_REPLICAS]: original },
    overruledMark: { marked, remembered: entry === undefined ? null : numberOf(original) },
  };
}

/** An owner may have further workloads: the entry is of one of them. */
function entryOf(workload: Workload, all: RememberedWorkloads | undefined): Remembered | undefined {
  const entry = all?.get(scaledUid(workload));
  return workload.owner === undefined || entry === undefined || workloadName(entry) === workloadName(workload)
    ? entry
    : undefined;
}

function texts(patch: Readonly<Record<string, string | null>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(patch).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

function hasMark(workload: Workload): boolean {
  const { managedBy, original } = savedStateOf(workload);
  return managedBy !== null || original !== null;
}

function isAtLevel({ replicas, isSuspended }: Workload, { level }: Remembered): boolean {
  return replicas === null ? isSuspended : replicas === level;
}

/** A person's write without a time counts as later: it is left rather than overwritten. */
function isOfPersonSince({ changed }: Workload, { since }: Remembered, gitopsManagers: readonly string[]): boolean {
  if (changed === null || managerClass(changed.manager, gitopsManagers) !== 'person') return false;
  const at = changed.at ?? changed.latest ?? Number.POSITIVE_INFINITY;
  return at > (readMoment(since) ?? 0);
}

/**
 * Where a workload and the memory disagree, in one sentence; null where they agree, or where the memory has nothing to
 * say about it.
 */
export function disagreement(
  workload: Workload,
  { remembered: all, gitopsManagers }: RecallContext,
): { readonly reason: 'MarkLost' | 'MarkDiffers'; readonly detail: string } | null {
  const { overruledMark } = workload;
  if (overruledMark !== undefined) return { reason: 'MarkDiffers', detail: overruledMarkSentence(overruledMark) };
  const entry = entryOf(workload, all);
  if (entry === undefined) return null;
  const kept = workload.replicas === null ? 'running' : replicasOf(numberOf(entry.original));
  if (workload.isRecalled === true) {
    return { reason: 'MarkLost', detail: recalledSentence(kept) };
  }
  const saved = savedStateOf(workload);
  if (!hasMark(workload)) {
    if (!isAtLevel(workload, entry) || !isOfPersonSince(workload, entry, gitopsManagers)) return null;
    return { reason: 'MarkLost', detail: markLostSentence(kept, workload.changed?.manager ?? 'somebody') };
  }
  if (workload.replicas === null || !isScaledDown(saved, workload.kind)) return null;
  const marked = originalReplicas(saved);
  if (marked === numberOf(entry.original)) return null;
  return { reason: 'MarkDiffers', detail: markDiffersSentence(kept, marked) };
}

function numberOf(original: string): number {
  return originalReplicas({ original });
}

/**
 * Owners that sleep and whose workload is gone, as it would be: without a UID. Some operators delete what has no replicas, and the
 * owner has to be woken all the same.
 */
export function withoutWorkload(
  remembered: RememberedWorkloads,
  workloads: readonly Workload[],
  ownerOf: (mark: OwnerMark, namespace: string) => ScaledOwner | null,
): readonly Workload[] {
  const marked = [...remembered].flatMap(([uid, entry]) => {
    const mark = readOwnerMark(entry.owner);
    return mark === null ? [] : [{ uid, entry, mark }];
  });
  if (marked.length === 0) return [];
  const present = new Set(workloads.map(workloadName));
  return marked.flatMap(({ uid, entry, mark }) => {
    const owner = present.has(workloadName(entry)) ? null : ownerOf(mark, entry.namespace);
    return owner === null || owner.uid !== uid ? [] : [goneWorkload(entry, owner)];
  });
}

/** What an owner would have, were it there. */
export function goneWorkload({ kind, namespace, name }: WorkloadRef, owner: ScaledOwner): Workload {
  const replicas = owner.replicas ?? 0;
  return {
    kind,
    namespace,
    name,
    uid: '',
    resourceVersion: '',
    createdAt: 0,
    createdBy: null,
    isDeleting: false,
    labels: {},
    annotations: {},
    replicas,
    isSuspended: false,
    ready: 0,
    present: 0,
    autoscalers: [],
    changed: owner.changed,
    owner: { ...owner, workloadReplicas: replicas },
  };
}

/** Entries that say nothing any more: of workloads that are gone, or awake without marks. */
export function outdated(remembered: RememberedWorkloads, workloads: readonly Workload[]): readonly string[] {
  const present = new Map(workloads.map((workload) => [scaledUid(workload), workload]));
  return [...remembered].flatMap(([uid, entry]) => {
    const workload = present.get(uid);
    const isOver = workload === undefined || (!hasMark(workload) && !isAtLevel(workload, entry));
    return isOver ? [uid] : [];
  });
}
