/**
 * The base branch takes changes through the forge's merge queue only, or the forge's own auto-merge is enabled. Headroom does not
 * hold the moment of the merge then: it decides as ever while its pull request waits, and takes it out of the queue, or disables
 * auto-merge, as soon as it would not merge it now.
 */
import type { QueueEntry, QueueRemoval } from '../../kernel/forge.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import type { OpenDecision } from '../model/decision.ts';
import { inState, type Open, type ResizeMemory } from '../model/memory.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import type { Intent } from '../model/verdict.ts';
import { linkTo } from './sentences.ts';
import type { OpenPass, Pass } from './pass.ts';
import { holdDecision } from './unmerged.ts';

/**
 * For how long Headroom leaves a pull request out of the queue that the queue itself has taken out, in milliseconds: its checks
 * failed with changes of others, which have to go first, or it did not fit to them.
 */
const QUEUE_REST_MS = 30 * MINUTE_MS;

/** What is done in place of an intent while the forge is about to merge the pull request by itself. */
export function whileQueued(pass: Pass, memory: ResizeMemory, intent: Intent): Intent {
  const { pullRequest } = pass;
  const { state } = memory;
  const entry = pullRequest?.state === 'open' ? pullRequest.queueEntry : undefined;
  if (pullRequest === null || entry === undefined || state.kind !== 'Open') return intent;
  const open: OpenPass = { ...pass, memory: inState(memory, state), pullRequest };
  if (!entry.isOwn) return besidesTheirs(open, entry, intent);
  const isUnasked = entry.autoMerge !== undefined && pass.observation.policy.autoMerge.byForge !== true;
  if (intent.kind === 'merge' && !isUnasked) return stays(open, entry, intent);
  if (isStillWanted(state, intent)) return untilWindowCloses(open, intent);
  const { phase, reason } = intent;
  const { decision } = state;
  const why =
    intent.kind === 'merge' ? 'the settings (ENABLE_AUTO_MERGE) do not leave the merge to it any more' : intent.detail;
  const link = linkTo(decision.pullRequest);
  const detail =
    entry.autoMerge === undefined
      ? `${link} is taken out of the merge queue: ${why}`
      : `GitHub's auto-merge of ${link} is disabled: ${why}`;
  return { kind: 'dequeue', phase, reason, detail, decision };
}

/** Somebody else put it there, which is a person's merge: Headroom neither does the same nor pushes to it. */
function besidesTheirs(pass: OpenPass, entry: QueueEntry, intent: Intent): Intent {
  if (intent.kind !== 'merge' && intent.kind !== 'rebuild') return intent;
  const { decision } = pass.memory.state;
  const link = linkTo(decision.pullRequest);
  if (entry.autoMerge === undefined) {
    const detail = `${link} ${queued(entry)}, where ${entry.by} put it, waiting until it is merged or taken out`;
    return holdDecision(pass, { phase: 'AwaitingMerge', reason: 'InMergeQueue', detail }, { watch: 'pullRequest' });
  }
  // With auto-merge alone it would stay behind or in conflict for ever; the values stay as they are.
  if (intent.kind === 'rebuild' && (intent.reason === 'Behind' || intent.reason === 'Conflict')) return intent;
  const detail = `${entry.by} enabled GitHub's auto-merge of ${link}, waiting until it is merged or auto-merge is disabled`;
  return holdDecision(pass, { phase: 'AwaitingMerge', reason: 'AutoMergeEnabled', detail }, { watch: 'pullRequest' });
}

/** Everything still allows the merge, as far as is known here: the gate, which knows more, is asked again now and then. */
function stays(pass: OpenPass, entry: QueueEntry, intent: Extract<Intent, { kind: 'merge' }>): Intent {
  const { observation, memory, now } = pass;
  const { queuedAt } = memory.state;
  const link = linkTo(intent.decision.pullRequest);
  const askedAgainAt = (queuedAt ?? Number.NEGATIVE_INFINITY) + observation.timings.holdRetry;
  if (now >= askedAgainAt) return { ...intent, detail: `whether ${link}, which ${queued(entry)}, may still be merged` };
  const since = formatInstant(entry.at);
  const status =
    entry.autoMerge === undefined
      ? ({
          reason: 'InMergeQueue',
          detail: `${link} ${queued(entry)} since ${since}, waiting until it is merged or taken out`,
        } as const)
      : ({
          reason: 'AutoMergeEnabled',
          detail: `Headroom enabled GitHub's auto-merge (${entry.autoMerge}) of ${link} at ${since}, waiting until GitHub merges it`,
        } as const);
  const wait = { until: askedAgainAt, watch: 'pullRequest' } as const;
  return untilWindowCloses(pass, holdDecision(pass, { phase: 'Merging', ...status }, wait));
}

/** The queue knows nothing of merge windows: at the end of one it is decided anew, and not some minutes later. */
function untilWindowCloses({ observation }: OpenPass, intent: Intent): Intent {
  const { mergeWindowClosesAt: closesAt } = observation;
  if (intent.kind !== 'hold' || closesAt === undefined) return intent;
  const { until = closesAt, quietUntil = closesAt } = intent.wait;
  const wait = { ...intent.wait, until: Math.min(until, closesAt), quietUntil: Math.min(quietUntil, closesAt) };
  return { ...intent, wait };
}

/** Acts and holds during which Headroom would merge all the same. */
function isStillWanted({ decision }: Open, intent: Intent): boolean {
  if (intent.kind === 'notify') return intent.reason === 'Approved';
  // It shares the pull request of another decision, and lets that merge it.
  const { joinedTo, headSha } = decision.pullRequest;
  return intent.kind === 'hold' && joinedTo !== undefined && intent.reason === 'RaisedWithOtherQuota'
    ? decision.readyAt === headSha
    : false;
}

function queued({ autoMerge, state, position }: QueueEntry): string {
  if (autoMerge !== undefined) return 'GitHub merges by itself';
  const place = position === null ? '' : ` at position ${position}`;
  const words = {
    waiting: '',
    checking: ', whose checks run',
    mergeable: ', and is about to be merged',
    unmergeable: ', which cannot merge it as it is',
  } as const;
  return `is in the merge queue${place}${words[state]}`;
}

/** Why it is not put into the queue again, or not left to auto-merge, and until when; null where nothing of the kind holds it. */
export interface OutOfQueue {
  readonly removal: QueueRemoval;
  readonly why: string;
  /** Absent: until a person puts it there, merges or closes it. */
  readonly until?: EpochMs;
}

/**
 * @param way.enablesAutoMerge whether auto-merge would be enabled: a merge that nothing is missing for asks nothing of what became
 *   of auto-merge, but for a person's no.
 * @param way.entersEvery milliseconds between two entries by Headroom: each restarts the checks of what is behind it in the queue,
 *   which is everybody's, and what takes a pull request out may be a tenant's demand that comes and goes.
 */
export function outOfQueue(
  { queueRemoval: removal }: PullRequestObservation,
  { pullRequest }: Pick<OpenDecision, 'pullRequest'>,
  now: EpochMs,
  { enablesAutoMerge, entersEvery }: { readonly enablesAutoMerge: boolean; readonly entersEvery: number },
): OutOfQueue | null {
  if (removal === undefined) return null;
  const at = formatInstant(removal.at);
  const isOfAutoMerge = removal.autoMerge === true;
  if (isOfAutoMerge && removal.isOwn !== true && removal.by !== null) {
    const why = `${removal.by} disabled GitHub's auto-merge at ${at}, and Headroom neither enables it again nor merges. A person enables it, merges or closes it`;
    return { removal, why };
  }
  if (isOfAutoMerge && !enablesAutoMerge) return null;
  if (removal.isOwn === true) {
    const until = (removal.enteredAt ?? removal.at) + entersEvery;
    const why = `Headroom took it out at ${at}, and puts it there again at ${formatInstant(until)}`;
    return now < until ? { removal, why, until } : null;
  }
  if (removal.by !== null) {
    const why = `${removal.by} took it out of the merge queue at ${at}, and Headroom does not put it there again. A person adds it to the queue, merges or closes it`;
    return { removal, why };
  }
  const until = removal.at + QUEUE_REST_MS;
  // What was rebuilt since is another head, on another base.
  if (removal.at <= pullRequest.pushedAt || now >= until) return null;
  const because = { checks: 'its checks failed there', conflict: 'it conflicts with what is before it', other: null }[
    removal.kind
  ];
  const words = because ?? (removal.reason === '' ? 'GitHub does not say why' : removal.reason);
  const why = `the merge queue took it out at ${at}: ${words}. Headroom puts it there again at ${formatInstant(until)}, unless it is rebuilt before`;
  return { removal, why, until };
}
