import type { Verdict } from './checks.ts';
import type { MergeMethod, MergeSettings, Protection, Review } from './model.ts';

export type MergeableState = 'clean' | 'blocked' | 'behind' | 'dirty' | 'unstable' | 'unknown' | 'draft';

/** What the state of an open pull request follows from. */
export interface MergeFacts {
  /** null while git's answer is not there yet. */
  readonly mergeable: boolean | null;
  readonly draft: boolean;
  readonly protection: Protection | undefined;
  readonly verdicts: readonly Verdict[];
  /** The submitted reviews of people with write access, the oldest first. */
  readonly reviews: readonly Review[];
  /** The owners of files, of whom one must still approve. */
  readonly awaitedOwners: readonly string[];
  /** The base has commits that the head has not. */
  readonly behind: boolean;
}

/**
 * GitHub's `mergeable_state`. A rule that is not met hides that the branch is behind, and a conflict hides everything.
 */
export function mergeableState(facts: MergeFacts): MergeableState {
  if (facts.mergeable === null) return 'unknown';
  if (!facts.mergeable) return 'dirty';
  if (facts.draft) return 'draft';
  const { protection } = facts;
  if (protection && (reviewObjection(protection, facts) ?? checkObjection(protection, facts.verdicts))) {
    return 'blocked';
  }
  // Of a branch with a merge queue, which takes nothing directly, it says nothing at all.
  if (protection?.requireUpToDate && facts.behind && !protection.mergeQueue) return 'behind';
  if (facts.verdicts.some(({ result }) => result !== 'passed')) return 'unstable';
  return 'clean';
}

/** Why the merge is refused with 405, in GitHub's words; undefined when it may go on. */
export function mergeObjection(facts: MergeFacts): string | undefined {
  if (facts.draft) return 'Pull Request is still a draft';
  if (facts.mergeable === false) return 'Pull Request is not mergeable';
  const { protection } = facts;
  if (!protection) return undefined;
  if (protection.mergeQueue) return 'Changes must be made through the merge queue';
  const objection = reviewObjection(protection, facts) ?? checkObjection(protection, facts.verdicts);
  if (objection) return objection;
  // GitHub does not say "out of date": on a head that is behind, the green checks count as missing.
  if (protection.requireUpToDate && facts.behind) return expected(protection.requiredChecks, protection.requiredChecks);
  return undefined;
}

/** Why nothing is merged with this method, in GitHub's words; undefined when it may be. */
export function methodObjection(
  method: MergeMethod,
  { methods }: MergeSettings,
  protection: Protection | undefined,
): string | undefined {
  const allowed = protection?.allowedMergeMethods;
  if (!methods.includes(method) || allowed?.includes(method) === false) {
    const name = { merge: 'Merge commits', squash: 'Squash merges', rebase: 'Rebase merges' }[method];
    return `${name} are not allowed on this repository.`;
  }
  if (method !== 'merge' || !protection?.requireLinearHistory) return undefined;
  const violated = protection.as === 'ruleset' ? 'Repository rule violations found\n\n' : '';
  return `${violated}This branch must not contain merge commits.`;
}

/** Why a commit may not be pushed straight to a protected branch. */
export function pushObjection(protection: Protection): string | undefined {
  if (protection.mergeQueue) return 'Changes must be made through the merge queue';
  if (protection.requiredReviews > 0 || protection.requireCodeOwnerReviews) {
    return 'Changes must be made through a pull request.';
  }
  if (protection.requiredChecks.length > 0) return expected(protection.requiredChecks, protection.requiredChecks);
  return undefined;
}

function checkObjection(protection: Protection, verdicts: readonly Verdict[]): string | undefined {
  const results = protection.requiredChecks.map((name) => ({
    name,
    // A check run and a status of the same name must both pass.
    results: verdicts.filter((verdict) => verdict.name === name).map(({ result }) => result),
  }));
  const failing = results.find(({ results }) => results.includes('failed'));
  if (failing) return `Required status check "${failing.name}" is failing.`;
  const pending = results.find(({ results }) => results.includes('pending'));
  if (pending) return `Required status check "${pending.name}" is pending.`;
  const missing = results.filter(({ results }) => results.length === 0).map(({ name }) => name);
  return missing.length > 0 ? expected(missing, protection.requiredChecks) : undefined;
}

function expected(missing: readonly string[], required: readonly string[]): string {
  if (required.length > 1) return `${missing.length} of ${required.length} required status checks are expected.`;
  return required.length === 1
    ? `Required status check "${required[0]}" is expected.`
    : 'Head branch is out of date. Review and try the merge again.';
}

function reviewObjection(protection: Protection, { reviews, awaitedOwners }: MergeFacts): string | undefined {
  const waiting =
    protection.requireCodeOwnerReviews && awaitedOwners.length > 0
      ? `Waiting on code owner review from ${awaitedOwners.join(' and/or ')}.`
      : undefined;
  if (protection.requiredReviews === 0) return waiting;
  const latest = new Map<string, Review['state']>();
  // A comment takes nothing back; a dismissed review no longer says anything.
  for (const { user, state } of reviews) if (state !== 'COMMENTED') latest.set(user, state);
  const states = [...latest.values()];
  if (states.includes('CHANGES_REQUESTED')) return 'Changes were requested by a reviewer with write access.';
  const needed = protection.requiredReviews;
  if (states.filter((state) => state === 'APPROVED').length >= needed) return waiting;
  return `At least ${needed} approving review${needed === 1 ? ' is' : 's are'} required by reviewers with write access.`;
}
