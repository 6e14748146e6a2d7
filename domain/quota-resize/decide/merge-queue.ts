/**
 * The base branch takes changes through the forge's merge queue only. Headroom does not hold the moment of the merge then: it
 * decides as ever while its pull request waits in the queue, and takes it out as soon as it would not merge it now.
 */
import type { QueueEntry, QueueRemoval } from '../../kernel/forge.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import type { OpenDecision } from '../model/decision.ts';
import { inState, type Open, type ResizeMemory } from '../model/memory.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import type { Intent } from '../model/verdict.ts';
import { linkTo } from '../pull-request/wording.ts';
import type { OpenPass, Pass } from './pass.ts';
import { holdDecision } from './unmerged.ts';

/**
 * For how long Headroom leaves a pull request out of the queue that the queue itself has taken out, in milliseconds: its checks
 * failed with changes of others, which have to go first, or it did not fit to them.
 */
const QUEUE_REST_MS = 30 * MINUTE_MS;

/** What is done in place of an intent while the pull request is in the merge queue. */
export function whileQueued(pass: Pass, memory: ResizeMemory, intent: Intent): Intent {
  const { pullRequest } = pass;
  const { state } = memory;
  const entry = pullRequest?.state === 'open' ? pullRequest.queueEntry : undefined;
  if (pullRequest === null || entry === undefined || state.kind !== 'Open') return intent;
  const open: OpenPass = { ...pass, memory: inState(memory, state), pullRequest };
  if (!entry.isOwn) return besidesTheirs(open, entry, intent);
  if (intent.kind === 'merge') return stays(open, entry, intent);
  if (isStillWanted(state, intent)) return untilWindowCloses(open, intent);
  const { phase, reason } = intent;
  const { decision } = state;
  const detail = `${linkTo(decision.pullRequest)} is taken out of the merge queue: ${intent.detail}`;
  return { kind: 'dequeue', phase, reason, detail, decision };
}

/** Somebody else put it there, which is a person's merge: Headroom neither does the same nor pushes to it. */
function besidesTheirs(pass: OpenPass, entry: QueueEntry, intent: Intent): Intent {
  if (intent.kind !== 'merge' && intent.kind !== 'rebuild') return intent;
  const { decision } = pass.memory.state;
  const detail = `${linkTo(decision.pullRequest)} ${queued(entry)}, where ${entry.by} put it, waiting until it is merged or taken out`;
  return holdDecision(pass, { phase: 'AwaitingMerge', reason: 'InMergeQueue', detail }, { watch: 'pullRequest' });
}

/** Everything still allows the merge, as far as is known here: the gate, which knows more, is asked again now and then. */
function stays(pass: OpenPass, entry: QueueEntry, intent: Extract<Intent, { kind: 'merge' }>): Intent {
  const { observation, memory, now } = pass;
  const { queuedAt } = memory.state;
  const link = linkTo(intent.decision.pullRequest);
  const askedAgainAt = (queuedAt ?? Number.NEGATIVE_INFINITY) + observation.timings.holdRetry;
  if (now >= askedAgainAt) return { ...intent, detail: `whether ${link}, which ${queued(entry)}, may still be merged` };
  const detail = `${link} ${queued(entry)} since ${formatInstant(entry.at)}, waiting until it is merged or taken out`;
  const status = { phase: 'Merging', reason: 'InMergeQueue', detail } as const;
  return untilWindowCloses(pass, holdDecision(pass, status, { until: askedAgainAt, watch: 'pullRequest' }));
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

function queued({ state, position }: QueueEntry): string {
  const place = position === null ? '' : ` at position ${position}`;
  const words = {
    waiting: '',
    checking: ', whose checks run',
    mergeable: ', and is about to be merged',
    unmergeable: ', which cannot merge it as it is',
  } as const;
  return `is in the merge queue${place}${words[state]}`;
}

/** Why it is not put into the queue again, and until when; null where nothing of the kind holds it. */
export interface OutOfQueue {
  readonly removal: QueueRemoval;
  readonly why: string;
  /** Absent: until a person puts it there, merges or closes it. */
  readonly until?: EpochMs;
}

/**
 * @param entersEvery milliseconds between two entries by Headroom: each restarts the checks of what is behind it in the queue, which
 *   is everybody's, and what takes a pull request out may be a tenant's demand that comes and goes.
 */
export function outOfQueue(
  { queueRemoval: removal }: PullRequestObservation,
  { pullRequest }: Pick<OpenDecision, 'pullRequest'>,
  now: EpochMs,
  entersEvery: number,
): OutOfQueue | null {
  if (removal === undefined) return null;
  const at = formatInstant(removal.at);
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
