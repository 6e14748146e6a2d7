/**
 * What a workload was before it was put to sleep, kept outside of it as well. An operator, an upgrade or a policy may
 * replace an object's metadata and leave it at 0 replicas. The marks on the workload win wherever they are.
 */
import { z } from 'zod';
import { readJsonText } from '../../kernel/json-text.ts';
import { readMoment } from './annotations.ts';
import { managerClass } from './manager.ts';
import { isScaledDown, originalReplicas, savedStateOf, scaledDownMetadata } from './saved-state.ts';
import { markDiffersSentence, markLostSentence, recalledSentence, replicasOf } from './sentences.ts';
import { workloadTypes } from '../schedule/names.ts';
import type { Workload, WorkloadRef } from './workload.ts';

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
});

/** One workload in the memory, which has it by its UID. */
export type Remembered = Readonly<z.infer<typeof remembered>>;

/** By the UID of the workload. */
export type RememberedWorkloads = ReadonlyMap<string, Remembered>;

/** Null for a text that is no such entry. */
export function readRemembered(text: string): Remembered | null {
  return readJsonText(remembered, text);
}

export function rememberedText({ kind, namespace, name, original, level, since }: Remembered): string {
  return JSON.stringify({ kind, namespace, name, original, level, since });
}

/** What is written to a workload, as far as it is remembered. */
interface Change {
  readonly item: { readonly workload: WorkloadRef; readonly to: number | null };
  readonly saved?: { readonly original: string; readonly since: string };
}

/** What has to be remembered before a workload is written; null for one that is not put to sleep. */
export function rememberedOf(
  uid: string,
  { item: { workload, to }, saved }: Change,
): readonly [uid: string, entry: Remembered] | null {
  if (saved === undefined) return null;
  const { kind, namespace, name } = workload;
  return [uid, { kind, namespace, name, original: saved.original, level: to, since: saved.since }];
}

interface RecallContext {
  readonly schedule: string;
  readonly gitopsManagers: readonly string[];
  readonly remembered?: RememberedWorkloads;
}

/**
 * The workload with the marks that it lost, if the memory has them: the same object by its UID, at the number of
 * replicas of the night, whose replicas no person has written since. Any other workload is returned as it is.
 */
export function recalled(workload: Workload, context: RecallContext): Workload {
  const entry = context.remembered?.get(workload.uid);
  if (entry === undefined || hasMark(workload) || !isAtLevel(workload, entry)) return workload;
  if (isOfPersonSince(workload, entry, context.gitopsManagers)) return workload;
  const since = readMoment(entry.since) ?? 0;
  const { annotations, labels } = scaledDownMetadata(workload.kind, entry.original, context.schedule, since);
  return {
    ...workload,
    annotations: { ...workload.annotations, ...texts(annotations) },
    labels: { ...workload.labels, ...texts(labels) },
    isRecalled: true,
  };
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
  const entry = all?.get(workload.uid);
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

/** Entries that say nothing any more: of workloads that are gone, or awake without marks. */
export function outdated(remembered: RememberedWorkloads, workloads: readonly Workload[]): readonly string[] {
  const present = new Map(workloads.map((workload) => [workload.uid, workload]));
  return [...remembered].flatMap(([uid, entry]) => {
    const workload = present.get(uid);
    const isOver = workload === undefined || (!hasMark(workload) && !isAtLevel(workload, entry));
    return isOver ? [uid] : [];
  });
}
