import type { Protection } from './model.ts';

interface Rule {
  readonly type: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** What of a protection is a ruleset, as REST shows it. GitHub's rulesets refuse deletion and force pushes unless told otherwise. */
export function rulesOf(protection: Protection): readonly Rule[] {
  const rules: Rule[] = [];
  if (protection.as === 'ruleset') rules.push({ type: 'deletion' }, { type: 'non_fast_forward' });
  if (protection.as === 'ruleset' && protection.requiredChecks.length > 0) {
    rules.push({
      type: 'required_status_checks',
      parameters: {
        strict_required_status_checks_policy: protection.requireUpToDate,
        required_status_checks: protection.requiredChecks.map((context) => ({ context })),
      },
    });
  }
  if (protection.as === 'ruleset' && protection.requireLinearHistory) rules.push({ type: 'required_linear_history' });
  const asksOfPullRequests =
    protection.requiredReviews > 0 ||
    protection.requireCodeOwnerReviews ||
    protection.allowedMergeMethods !== undefined;
  if (protection.as === 'ruleset' && asksOfPullRequests) {
    rules.push({
      type: 'pull_request',
      parameters: {
        required_approving_review_count: protection.requiredReviews,
        dismiss_stale_reviews_on_push: protection.dismissStaleReviews,
        require_code_owner_review: protection.requireCodeOwnerReviews,
        require_last_push_approval: false,
        required_review_thread_resolution: false,
        allowed_merge_methods: protection.allowedMergeMethods ?? ['merge', 'squash', 'rebase'],
      },
    });
  }
  if (protection.mergeQueue) {
    rules.push({
      type: 'merge_queue',
      parameters: {
        check_response_timeout_minutes: 60,
        grouping_strategy: 'ALLGREEN',
        max_entries_to_build: 5,
        max_entries_to_merge: 5,
        merge_method: (protection.queueMethod ?? 'squash').toUpperCase(),
        min_entries_to_merge: 1,
        min_entries_to_merge_wait_minutes: 5,
      },
    });
  }
  return rules;
}
