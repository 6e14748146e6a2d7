/** Workloads that people leave to themselves until a moment, by an annotation on them or on their namespace. */
import type { EpochMs } from '../../kernel/time.ts';
import { EXCLUDE_UNTIL } from '../schedule/names.ts';
import { readMoment } from './annotations.ts';
import { badExclusionSentence, badNamespaceExclusionSentence, exclusionSentence } from './sentences.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

type Annotated = Pick<Workload | ScopedNamespace, 'annotations'>;

/** Until when an object's annotation excludes; `never` where it cannot be read, null where there is none. */
function endOf({ annotations }: Annotated): EpochMs | 'never' | null {
  const text = annotations[EXCLUDE_UNTIL];
  return text === undefined ? null : (readMoment(text) ?? 'never');
}

/** When the exclusion of an object ends; null when it has none, or one that is over or that cannot be read. */
export function excludedUntil(object: Annotated, now: EpochMs): EpochMs | null {
  const end = endOf(object);
  return typeof end === 'number' && end > now ? end : null;
}

/** When the exclusion of an object ended, where its annotation is still there; null when it has none that is over. */
export function wasExcludedUntil(object: Annotated, now: EpochMs): EpochMs | null {
  const end = endOf(object);
  return typeof end === 'number' && end <= now ? end : null;
}

/** What is wrong with the annotation, in a sentence; null when nothing is. */
export function exclusionProblem(object: Annotated): string | null {
  if (endOf(object) !== 'never') return null;
  return badExclusionSentence(object.annotations[EXCLUDE_UNTIL] ?? '');
}

export interface Exclusion {
  /** Whether the workload's own annotation cannot be read. */
  readonly isBad: boolean;
  /** One sentence for people. */
  readonly detail: string;
  /** Absent: until somebody corrects the annotation. */
  readonly until?: EpochMs;
}

/** Why a workload is left alone at this moment; null when it is not. The longer one counts. */
export function exclusionOf(workload: Annotated, namespace: Annotated, now: EpochMs): Exclusion | null {
  const own = exclusionProblem(workload);
  if (own !== null) return { isBad: true, detail: own };
  if (exclusionProblem(namespace) !== null) {
    return { isBad: false, detail: badNamespaceExclusionSentence() };
  }
  const [mine, its] = [excludedUntil(workload, now) ?? 0, excludedUntil(namespace, now) ?? 0];
  const until = Math.max(mine, its);
  if (until === 0) return null;
  return { isBad: false, detail: exclusionSentence(until, its > mine), until };
}
