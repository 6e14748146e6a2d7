import type { CheckRun, CommitStatus, IssueComment, PullRequest, Review } from '../model.ts';

/** Who is asked for a review, or no longer asked. */
export type Reviewer = { readonly user: string } | { readonly team: string };

/** What one `edited` changed: the old values. */
export interface PullRequestChanges {
  readonly title?: { readonly from: string };
  readonly body?: { readonly from: string };
  readonly base?: { readonly ref: { readonly from: string }; readonly sha: { readonly from: string } };
}

/** What a pull request goes through, with what GitHub says beside it. */
export type PullRequestAction =
  | { readonly action: 'opened' | 'closed' | 'reopened' | 'ready_for_review' | 'converted_to_draft' }
  | { readonly action: 'enqueued' }
  | { readonly action: 'dequeued'; readonly reason: string }
  | { readonly action: 'auto_merge_enabled' }
  | { readonly action: 'auto_merge_disabled'; readonly reason: string }
  | { readonly action: 'synchronize'; readonly before: string; readonly after: string }
  | { readonly action: 'edited'; readonly changes: PullRequestChanges }
  | { readonly action: 'labeled' | 'unlabeled'; readonly label: string }
  | { readonly action: 'review_requested' | 'review_request_removed'; readonly reviewer: Reviewer };

/** Something that happened in a repository and that GitHub tells its webhooks. `sender` is who did it. */
export type ForgeEvent =
  | ({ readonly name: 'pull_request'; readonly pull: PullRequest; readonly sender: string } & PullRequestAction)
  | {
      readonly name: 'pull_request_review';
      readonly action: 'submitted' | 'dismissed';
      readonly review: Review;
      readonly pull: PullRequest;
      readonly sender: string;
    }
  | {
      readonly name: 'check_run';
      readonly action: 'created' | 'completed';
      readonly run: CheckRun;
      readonly sender: string;
    }
  | {
      readonly name: 'check_suite';
      readonly action: 'completed';
      /** The runs of the suite: those of one commit. */
      readonly runs: readonly CheckRun[];
      readonly sender: string;
    }
  | { readonly name: 'status'; readonly status: CommitStatus; readonly sender: string }
  | { readonly name: 'push'; readonly move: BranchMove; readonly sender: string }
  | {
      readonly name: 'issue_comment';
      readonly action: 'created';
      readonly comment: IssueComment;
      readonly pull: PullRequest;
      readonly sender: string;
    };

/** A branch that was made (`before` is null), moved, or deleted (`after` is null). */
export interface BranchMove {
  readonly branch: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Hands what happened to whoever listens, as it was at that moment. */
export class Events {
  #listener: ((event: ForgeEvent) => void) | undefined;

  /** The one listener; events before it are nobody's. */
  listen(listener: (event: ForgeEvent) => void): void {
    this.#listener = listener;
  }

  emit(event: ForgeEvent): void {
    // Copied, because the state moves on while the payload is made.
    this.#listener?.(structuredClone(event));
  }
}
