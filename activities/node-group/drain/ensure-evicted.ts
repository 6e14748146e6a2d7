import { asyncLocalStorage, CancelledFailure } from '@temporalio/activity';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import {
  afterLook,
  type DrainLook,
  type DrainProgress,
  type EvictionAnswer,
  evictionsDue,
} from '../../../domain/node-group/drain/drain-progress.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { leavingPods } from '../../../domain/node-group/drain/pods-to-evict.ts';
import { isInterrupted } from '../../kernel/cancellation.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { budgetsIn, evict } from './eviction.ts';
import { haltedNow } from './halted.ts';
import type { Evicted } from '../../../domain/node-group/drain/answers.ts';
import type { EvictInput } from './interface.ts';
import { ensureMarked, type MarkOptions } from './node-marks.ts';
import { podsOn } from './pods-on.ts';

export interface EvictOptions extends MarkOptions {
  readonly kubernetes: Pick<Kubernetes, 'core' | 'custom'>;
  /** Why nothing may be written in a namespace, in words; null where it may. */
  readonly pauseOfNamespace: (namespace: string) => Promise<string | null>;
}

/** Evictions that are asked for at once: enough for a full node behind slow webhooks, without a burst. */
const AT_ONCE = 10;
/** Milliseconds until a refused eviction is asked for again: cluster-autoscaler's and kubectl's pace are 10 s and 5 s. */
const REFUSED_RETRY_MS = 10_000;
/** Most pods end within seconds; a minute later one look every five seconds does. */
const ENDING: PollPace = { first: 1_000, last: 5_000, ramp: 60_000 };

/** See `DrainActivities.ensureEvicted`. */
export async function ensureEvicted(options: EvictOptions, input: EvictInput): Promise<Evicted> {
  const marked = await ensureMarked(options, input.target);
  if (marked.kind !== 'marked') return marked;
  const isNodeReady = marked.node.ready.status === 'True';
  const pods = await podsOn(options.kubernetes, input.target.node);
  const progress = progressBefore() ?? input.progress;
  // Asked before the first eviction, and as long as pods are believed to be gone which no kubelet has ended.
  const isToAsk = progress === null || !isNodeReady;
  const at = options.now();
  const look: DrainLook = {
    at,
    drainBegan: marked.drainBegan,
    isNodeReady,
    halt: isToAsk ? await haltedNow(options.kubernetes, input.target, input.reason, at) : null,
    pods,
    budgets: await budgetsIn(options.kubernetes, namespacesToAsk(pods, marked.drainBegan)),
    reason: input.reason,
    timeoutMs: input.timeoutMs,
    progress,
    takenBack: input.takenBack ?? 0,
  };
  const verdict = afterLook(look, await answersTo(options, input, look));
  if (verdict.kind !== 'wait') return verdict;
  const { refusedBy, detail } = verdict;
  keepProgress(verdict.progress);
  if (refusedBy.join() !== input.refusedBy.join()) {
    return { kind: 'refused', by: refusedBy, progress: verdict.progress, detail };
  }
  throw notYet(detail, refusedBy.length > 0 ? REFUSED_RETRY_MS : ENDING);
}

/** Those of pods that are not on their way out. */
function namespacesToAsk(pods: readonly Pod[], drainBegan: EpochMs): ReadonlySet<string> {
  const waiting = leavingPods(pods, drainBegan).filter(({ deletesAt }) => deletesAt === null);
  return new Set(waiting.map(({ namespace }) => namespace));
}

/** Asks for the evictions that are due. */
async function answersTo(
  options: EvictOptions,
  { target }: EvictInput,
  look: DrainLook,
): Promise<ReadonlyMap<string, EvictionAnswer>> {
  const due = evictionsDue(look);
  const answers = await inParallel(AT_ONCE, due, async ({ pod, grace }): Promise<readonly [string, EvictionAnswer]> => {
    // What was not begun is left to whoever goes on, or stays.
    if (isInterrupted()) throw new CancelledFailure('the drain was interrupted');
    const message = await options.pauseOfNamespace(pod.namespace);
    if (message !== null) return [pod.uid, { kind: 'refused', budgets: [], message }];
    await options.guard(target);
    return [pod.uid, await evict(options.kubernetes, pod, grace)];
  });
  return new Map(answers);
}

/** What an attempt before this one has left; null where there was none. */
function progressBefore(): DrainProgress | null {
  const details: unknown = asyncLocalStorage.getStore()?.info.heartbeatDetails;
  return isProgress(details) ? details : null;
}

function keepProgress(progress: DrainProgress): void {
  asyncLocalStorage.getStore()?.heartbeat(progress);
}

function isProgress(details: unknown): details is DrainProgress {
  return typeof details === 'object' && details !== null && 'at' in details && 'left' in details;
}
