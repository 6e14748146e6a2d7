/** The count of pods after an autoscaler was switched off: those above the spec's go one at a time. */
import { formatDuration, parseDuration } from '../../kernel/duration.ts';
import { formatInstant, type EpochMs } from '../../kernel/time.ts';
import { isRecord } from '../../kernel/record.ts';
import type { Memcached } from '../api/memcached.ts';
import { NEXT_POD_GOES } from '../api/names.ts';
import { deploymentReplicas } from '../children/children.ts';
import { isScaledByOther } from './foreign-autoscaler.ts';
import { asleepBy, isOwnedBy, type LiveObject, replicasOf } from './live.ts';
import type { Seen } from './seen.ts';

/**
 * Milliseconds between two pods where `scaleDownOnePodEvery` says nothing: as long as an autoscaler waits by default before it takes
 * pods away. Clients move a part of their keys each time, and the other pods fill up meanwhile.
 */
const DEFAULT_PACE_MS = 300_000;

export interface StepDown {
  /** How many pods there are to be now. */
  readonly replicas: number;
  /** When the next pod goes, as the Deployment remembers it; null when it is the last one that goes now. */
  readonly next: EpochMs | null;
  /** Whether they wait for that moment; a schedule that put them to sleep decides when they go on. */
  readonly isAwaited: boolean;
  /** One sentence. */
  readonly note: string;
}

/**
 * Null where no pods go one by one: with an autoscaler, whoever has put it there, where there are no more pods than the spec says, and where people change the count of
 * the spec themselves. To 0 pods they go at once: there is no cache to keep.
 *
 * It begins while the autoscaler is still there, and is remembered in an annotation of the Deployment, which is written before the autoscaler
 * is deleted: whoever dies in between, the pods above the spec's are never taken away at once.
 */
export function stepDownOf(memcached: Memcached, { children, at }: Pick<Seen, 'children' | 'at'>): StepDown | null {
  const { spec, uid } = memcached;
  const { Deployment: deployment, HorizontalPodAutoscaler: scaler } = children;
  const wanted = deploymentReplicas(spec);
  if (deployment === null || wanted === null || wanted === 0 || isScaledByOther(memcached, children)) return null;
  const remembered = nextPodGoes(deployment);
  if (remembered === null && (scaler === null || !isOwnedBy(scaler, uid))) return null;
  const replicas = replicasOf(deployment);
  const every = spec.autoscaling?.scaleDownOnePodEvery;
  const pace = every === undefined ? DEFAULT_PACE_MS : parseDuration(every);
  // Anybody may have written it, and the pace of the spec may have been longer then.
  const since = remembered === null ? null : Math.min(remembered, at + pace);
  const left = `${wanted} ${wanted === 1 ? 'is' : 'are'} left`;
  const note = `autoscaling was switched off: one pod goes every ${formatDuration(pace)} until ${left}; set spec.replicas to keep more`;
  if (asleepBy(deployment) !== null) {
    return since === null ? null : { replicas, next: since, isAwaited: false, note };
  }
  if (replicas <= wanted) return null;
  if (since !== null && at < since) return { replicas, next: since, isAwaited: true, note };
  const next = replicas - 1 === wanted ? null : at + pace;
  return { replicas: replicas - 1, next, isAwaited: next !== null, note };
}

/** Only what `formatInstant` writes; Date.parse takes much more for a moment, such as `hello 1`. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

function nextPodGoes({ metadata }: LiveObject): EpochMs | null {
  const annotations = metadata?.['annotations'];
  const text = isRecord(annotations) ? annotations[NEXT_POD_GOES] : undefined;
  const at = typeof text === 'string' && INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February for 2 March.
  return Number.isNaN(at) || formatInstant(at) !== text ? null : at;
}

/** The annotations of the Deployment that remember it. */
export function stepDownAnnotations(stepDown: StepDown | null): Readonly<Record<string, string>> {
  const next = stepDown?.next ?? null;
  return next === null ? {} : { [NEXT_POD_GOES]: formatInstant(next) };
}
