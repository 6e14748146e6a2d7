/** Whether an act may be tried now, or has to back off because the same act was tried a moment ago. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { isUnmerged, type ResizeMemory, type ResizeState } from '../model/memory.ts';
import { requirementDigest } from '../sizing/requirement.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import type { Intent, IntendedAct, Verdict, Wait } from '../model/verdict.ts';
import type { Pass } from './pass.ts';
import { refusalNotice } from './refused-merge.ts';
import { recheckAt, quietUntil } from './wait.ts';

/**
 * What people are told in an hour at most: annotations and demands that change all the time give something new to say each
 * time. That somebody has approved is said always. Another act in the place of a blocked one is something new, too: it most
 * likely ends in another Event about what is in its way.
 */
const MOST_NOTIFIED = 10;
const NOTIFIED_WITHIN_MS = 3_600_000;

/** The longest backoff while the forge would merge what Headroom has left to it, in milliseconds. */
const LEFT_TO_FORGE_REPEAT_MS = 30_000;

/** Backoff before the first repetition of an act without effect; each further one is twice as long. */
const FIRST_REPEAT_MS = 1_000;

/**
 * Turns an intent into a verdict. A blocked act is held until its retry is due; an act with another path or other
 * values counts as a different act. An act without an outcome (interrupted, or the forge had changed) is repeated with
 * exponential backoff, so that an inconsistency between what the forge shows and what it answers cannot become a busy
 * loop.
 */
export function attempt(
  { observation, pullRequest, memory, now, isInForce }: Pass,
  intent: Intent,
): readonly [ResizeMemory, Verdict] {
  if (intent.kind === 'hold' || intent.kind === 'end') return [memory, intent];
  const key = keyOf(intent, observation.policy);
  const resting = (until: EpochMs): Wait => {
    const watch = watchOf(intent, pullRequest);
    const recheck =
      watch === undefined && memory.state.kind === 'Idle'
        ? until
        : Math.min(until, recheckAt(observation.timings, now));
    return {
      until: recheck,
      quietUntil: Math.min(recheck, quietUntil(observation.timings, now)),
      ...(watch === undefined ? {} : { watch }),
      ...(intent.kind === 'warnSync' && intent.syncOf !== undefined ? { syncOf: intent.syncOf } : {}),
    };
  };

  const recent = memory.notified.filter((at) => at > now - NOTIFIED_WITHIN_MS);
  const [first] = recent;
  const isTold = intent.kind === 'notify' && intent.reason !== 'Approved';
  if (isTold && first !== undefined && recent.length >= MOST_NOTIFIED) {
    const { phase, reason, detail } = intent;
    return [memory, { kind: 'hold', phase, reason, detail, wait: resting(first + NOTIFIED_WITHIN_MS) }];
  }
  const replacesBlocked = isSearch(intent) && memory.attempt.kind === 'blocked' && memory.attempt.key !== key;
  const isSpent = recent.length >= MOST_NOTIFIED;
  // Where there was too much that was new, another act waits as long as the same one would.
  const isRepeated = memory.attempt.kind !== 'none' && (memory.attempt.key === key || (replacesBlocked && isSpent));
  const before = isRepeated ? memory.attempt : null;
  if (before?.kind === 'blocked') {
    const dueAt = before.at + observation.timings.holdRetry;
    if (now < dueAt) {
      const detail = `${before.message.replace(/\.$/, '')}. Headroom tries again at ${formatInstant(dueAt)}`;
      return [memory, { kind: 'hold', phase: 'Blocked', reason: before.reason, detail, wait: resting(dueAt) }];
    }
  }
  const tries = before?.kind === 'tried' ? before.count : 0;
  if (before?.kind === 'tried') {
    const isLeftToForge = pullRequest?.state === 'open' && pullRequest.queueEntry?.isOwn === true;
    const longest = isLeftToForge ? LEFT_TO_FORGE_REPEAT_MS : observation.timings.updateInterval;
    const repeatAt = before.at + spacing(before.count, longest);
    if (now < repeatAt) {
      const notice = refusalNotice(intent, before, memory);
      if (notice !== null && recent.length < MOST_NOTIFIED && isInForce('refusals-are-told')) {
        return [
          { ...memory, notified: [...recent, now] },
          { ...notice, blockedKey: key },
        ];
      }
      const { phase, reason } = intent;
      const why = before.why === undefined ? '' : `: ${before.why}`;
      const detail = `${intent.detail}. The last attempt had no effect${why}. Headroom tries again at ${formatInstant(repeatAt)}`;
      return [memory, { kind: 'hold', phase, reason, detail, wait: resting(repeatAt) }];
    }
  }
  return [
    {
      ...memory,
      attempt: { kind: 'tried', key, count: tries + 1, at: now },
      state: closingFor(intent, memory.state),
      notified: isTold || (replacesBlocked && !isSpent) ? [...recent, now] : memory.notified,
    },
    { ...intent, blockedKey: key },
  ];
}

/** Whether an act looks for the quota in Git, by what annotations and the demand say now. */
function isSearch({ kind }: IntendedAct): boolean {
  return kind === 'propose' || kind === 'open' || kind === 'rebuild';
}

/**
 * Records that Headroom is about to close the pull request before it does, so that the close is not taken for a
 * person's rejection.
 */
function closingFor(intent: IntendedAct, state: ResizeState): ResizeState {
  if (intent.kind !== 'close' || !isUnmerged(state)) return state;
  const { reason, detail, rejection } = intent;
  return { ...state, closing: { reason, detail, ...(rejection === null ? {} : { rejection }) } };
}

function spacing(count: number, longest: number): number {
  // 2^20 seconds is far above any interval; larger exponents would only lose precision.
  const doubled = FIRST_REPEAT_MS * 2 ** Math.min(count - 1, 20);
  return Math.min(doubled, Math.max(FIRST_REPEAT_MS, longest));
}

/** What identifies an act: its path in Git and its values, or the head commit that it needs. */
function keyOf(intent: IntendedAct, policy: ResizePolicy): string {
  const path = JSON.stringify(policy.git);
  switch (intent.kind) {
    case 'recommend':
      return `recommend|${requirementDigest(intent.proposal)}`;
    case 'propose':
      return `propose|${path}|${requirementDigest(intent.proposal)}`;
    case 'open':
    case 'rebuild':
    case 'merge': {
      const head = intent.decision.pullRequest?.headSha ?? '';
      const shared = (intent.decision.joined ?? []).map(({ decision, limits }) => [decision, limits]);
      const others = shared.length === 0 ? '' : `|${JSON.stringify(shared)}`;
      // What the forge answers to auto-merge says nothing of a merge, which is not to wait for it.
      const way = intent.kind === 'merge' && intent.enablesAutoMerge === true ? '|auto-merge' : '';
      return `${intent.kind}|${intent.decision.id}|${head}|${path}|${requirementDigest(intent.decision)}${others}${way}`;
    }
    case 'notify':
      return `say|${intent.about}`;
    case 'revise':
      return `revise|${intent.decision.id}|${intent.reason}|${(intent.released ?? []).join(',')}|${intent.decision.readyAt ?? ''}`;
    case 'close':
    case 'dequeue':
    case 'release':
    case 'mergedByPerson':
    case 'closedByPerson':
    case 'synced':
    case 'forget':
    case 'warnSync':
      return `${intent.kind}|${intent.decision.id}|${intent.reason}`;
  }
}

/**
 * What to watch during the backoff: only what can still change, because a watch of a closed pull request would end at
 * once.
 */
function watchOf(intent: IntendedAct, pullRequest: PullRequestObservation | null): Wait['watch'] {
  if (intent.kind === 'warnSync') return 'sync';
  return pullRequest?.state === 'open' ? 'pullRequest' : undefined;
}
