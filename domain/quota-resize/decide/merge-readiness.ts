import type { EpochMs } from '../../kernel/time.ts';
import type { PullRequestRef } from '../model/decision.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import type { Reason } from '../model/verdict.ts';
import { requestedChanges } from './change-requests.ts';

/**
 * Whether the forge's state of an open pull request with Headroom's head allows a merge, and what to wait for
 * otherwise.
 */
export type MergeReadiness =
  | { readonly kind: 'ready' }
  | { readonly kind: 'wait'; readonly reason: Reason; readonly detail: string; readonly until?: EpochMs }
  | { readonly kind: 'rebuild'; readonly reason: 'Conflict' | 'Behind'; readonly why: string };

/**
 * Directly after a push `clean` proves nothing, because checks may not have appeared yet. It counts when the base
 * branch requires checks, when checks of this head have finished, or when `checksGrace` milliseconds have passed since
 * the push.
 */
export function mergeReadiness(
  pullRequest: PullRequestObservation,
  ref: PullRequestRef,
  now: EpochMs,
  checksGrace: number,
): MergeReadiness {
  const subject = `pull request #${ref.number}`;
  const { mergeability, queueEntry } = pullRequest;
  // With auto-merge enabled by a person it is as without: the forge asks for the same.
  if (queueEntry !== undefined && (queueEntry.autoMerge === undefined || queueEntry.isOwn)) {
    return readinessInQueue(pullRequest, ref);
  }
  const graceEndsAt = now < ref.pushedAt + checksGrace ? ref.pushedAt + checksGrace : null;
  switch (mergeability) {
    case 'draft':
      return draft(subject);
    case 'computing':
      return wait('MergeabilityComputing', `it is still being computed whether ${subject} can be merged`);
    case 'conflict':
      return conflict(ref.base);
    case 'behind':
      return behind(ref.base);
    case 'clean':
    case 'blocked':
    case 'unstable':
    case 'unrecognised':
      return (
        waitForPeople(pullRequest, subject) ??
        waitForChecks(pullRequest, subject) ??
        withoutOpenChecks(pullRequest, mergeability, ref, graceEndsAt)
      );
  }
}

/**
 * The forge merges it once it has what it asks for, so what it computes or runs anew meanwhile says nothing. In a merge queue the pull
 * request is tested on what the base will be, so neither does that it is behind. A draft and what fails on the head would be merged
 * all the same.
 */
function readinessInQueue(pullRequest: PullRequestObservation, { number, base }: PullRequestRef): MergeReadiness {
  const subject = `pull request #${number}`;
  const { mergeability, checks } = pullRequest;
  if (mergeability === 'draft') return draft(subject);
  if (mergeability === 'conflict') return conflict(base);
  // Auto-merge waits for ever for a branch that nobody brings up to date.
  if (mergeability === 'behind' && pullRequest.queueEntry?.autoMerge !== undefined) return behind(base);
  const failing = checks.failing.length > 0 ? waitForChecks(pullRequest, subject) : null;
  return waitForPeople(pullRequest, subject) ?? failing ?? { kind: 'ready' };
}

function draft(subject: string): MergeReadiness {
  return wait('Draft', `${subject} is a draft, waiting until it is ready for review`);
}

function behind(base: string): MergeReadiness {
  return { kind: 'rebuild', reason: 'Behind', why: `${base} moved on and must be contained before a merge` };
}

function conflict(base: string): MergeReadiness {
  return { kind: 'rebuild', reason: 'Conflict', why: `${base} changed the same lines, so the branch conflicted` };
}

/** The wait for those who requested changes, whether or not the base branch asks for reviews; null when nobody did. */
function waitForPeople({ changesRequested }: PullRequestObservation, subject: string): MergeReadiness | null {
  const why = requestedChanges(changesRequested);
  return why === null ? null : wait('ChangesRequested', `${subject} is not merged: ${why}`);
}

/** The wait for unfinished or failed checks of the head; null when no check prevents the merge. */
function waitForChecks({ checks }: PullRequestObservation, subject: string): MergeReadiness | null {
  if (checks.failing.length > 0) {
    return wait('ChecksFailing', `${subject} waits for a failing check to pass: ${checks.failing.join(', ')}`);
  }
  if (checks.pending.length > 0) {
    return wait('ChecksPending', `${subject} waits for checks: ${checks.pending.join(', ')}`);
  }
  return null;
}

/** @param graceEndsAt until when a clean head without checks proves nothing; null once that is over. */
function withoutOpenChecks(
  pullRequest: PullRequestObservation,
  mergeability: 'clean' | 'blocked' | 'unstable' | 'unrecognised',
  ref: PullRequestRef,
  graceEndsAt: EpochMs | null,
): MergeReadiness {
  const subject = `pull request #${ref.number}`;
  switch (mergeability) {
    case 'clean': {
      if (graceEndsAt === null || pullRequest.checks.total > 0 || pullRequest.hasRequiredChecks) {
        return { kind: 'ready' };
      }
      return { ...wait('NoChecksYet', `${subject} is clean but no check has appeared yet`), until: graceEndsAt };
    }
    case 'blocked':
      // A merge queue may be the cause of the block, or may hide another cause: the forge says so when it is asked.
      if (pullRequest.mergeQueue === true) return { kind: 'ready' };
      return wait(
        'ReviewRequired',
        `${subject} is blocked by a rule of ${ref.base}: a review or a required check that has not started`,
      );
    case 'unstable':
      return wait('ChecksPending', `${subject} is unstable, waiting until it is clean`);
    case 'unrecognised':
      return wait('ChecksPending', `${subject} is in a state that Headroom does not know, waiting until it is clean`);
  }
}

function wait(reason: Reason, detail: string): Extract<MergeReadiness, { kind: 'wait' }> {
  return { kind: 'wait', reason, detail };
}
