import type { Accounts } from './accounts.ts';
import { ApiError, notFound } from './api-error.ts';
import { CODEOWNERS_LIMIT_BYTES, CODEOWNERS_PATHS, ownersOf, type OwnerRule, parseCodeowners } from './codeowners.ts';
import type { FileChange } from './git/diff.ts';
import { isoSeconds } from './git/objects.ts';
import type { GitRepository } from './git/repository.ts';
import type { PullRequest, Review } from './model.ts';
import type { Store } from './store.ts';
import type { Events, Reviewer } from './webhooks/event.ts';

export interface ReviewsOptions {
  readonly git: GitRepository;
  readonly store: Store;
  readonly events: Events;
  readonly accounts: Accounts;
  readonly owner: string;
  readonly repo: string;
}

export interface GivenReview {
  readonly user: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING';
  readonly body: string;
  readonly commitId: string;
}

/** Who is asked to review a pull request, and what they say. Whoever changes something holds the forge's lock. */
export class Reviews {
  readonly #git: GitRepository;
  readonly #store: Store;
  readonly #events: Events;
  readonly #accounts: Accounts;
  readonly #owner: string;
  readonly #repo: string;
  /** The rules of a CODEOWNERS file by the SHA of its blob. */
  readonly #rules = new Map<string, readonly OwnerRule[]>();

  constructor({ git, store, events, accounts, owner, repo }: ReviewsOptions) {
    this.#git = git;
    this.#store = store;
    this.#events = events;
    this.#accounts = accounts;
    this.#owner = owner;
    this.#repo = repo;
  }

  /** Every review of a pull request, the oldest first. */
  of({ number }: PullRequest): Review[] {
    return this.#store.state.reviews.filter((review) => review.pull === number);
  }

  /** Those that decide about the merge: submitted, by people who may write. */
  counting(pull: PullRequest): Review[] {
    return this.of(pull).filter(({ user, state }) => state !== 'PENDING' && this.#accounts.mayWrite(user));
  }

  /** Of each account the last review that is submitted and more than a comment, dismissed ones too. */
  latest(pull: PullRequest): Review[] {
    const latest = new Map<string, Review>();
    for (const review of this.of(pull)) {
      if (review.state !== 'PENDING' && review.state !== 'COMMENTED') latest.set(review.user.toLowerCase(), review);
    }
    return [...latest.values()];
  }

  /** @throws ApiError 404 */
  find(pull: PullRequest, id: number): Review {
    const found = this.of(pull).find((review) => review.id === id);
    if (!found) throw notFound();
    return found;
  }

  /** Adds a review; who reviews is no longer asked to. @throws ApiError 422 as GitHub refuses it */
  add(pull: PullRequest, given: GivenReview): Review {
    this.#refuseOwn(pull, given);
    const review: Review = {
      ...given,
      id: this.#store.nextId(),
      pull: pull.number,
      submittedAt: isoSeconds(new Date()),
    };
    this.#store.state.reviews.push(review);
    if (review.state !== 'PENDING') this.#submitted(pull, review);
    return review;
  }

  /** Submits a pending review. @throws ApiError 422 */
  submit(pull: PullRequest, review: Review, state: GivenReview['state'], body: string): void {
    if (review.state !== 'PENDING') {
      throw new ApiError(422, 'Unprocessable Entity', { errors: ['Can only submit a pending review'] });
    }
    this.#refuseOwn(pull, { user: review.user, state, body });
    Object.assign(review, { state, body: body === '' ? review.body : body, submittedAt: isoSeconds(new Date()) });
    this.#submitted(pull, review);
  }

  /** Takes the weight from an approval or a request for changes. @throws ApiError 422 for any other review */
  dismiss(pull: PullRequest, review: Review, by: string): void {
    if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED') {
      throw new ApiError(422, 'Validation Failed', { errors: ['Can not dismiss a commented pull request review'] });
    }
    review.state = 'DISMISSED';
    pull.updatedAt = isoSeconds(new Date());
    this.#events.emit({ name: 'pull_request_review', action: 'dismissed', review, pull, sender: by });
  }

  /** Asks people and teams for a review. @throws ApiError 422 when one of them has no access, or is the author */
  request(
    pull: PullRequest,
    { users, teams }: { users: readonly string[]; teams: readonly string[] },
    by: string,
  ): void {
    if (users.some((user) => user.toLowerCase() === pull.user.toLowerCase())) {
      throw new ApiError(422, 'Review cannot be requested from pull request author.');
    }
    if (!users.every((user) => this.#accounts.mayRead(user)) || !teams.every((team) => this.#accounts.hasTeam(team))) {
      throw new ApiError(
        422,
        `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${this.#owner}/${this.#repo} repository.`,
      );
    }
    for (const user of users) this.#ask(pull, { user }, by);
    for (const team of teams) this.#ask(pull, { team }, by);
  }

  /** Takes requests back; who was not asked is passed over. */
  unrequest(
    pull: PullRequest,
    { users, teams }: { users: readonly string[]; teams: readonly string[] },
    by: string,
  ): void {
    const removed = (reviewer: Reviewer): void =>
      this.#events.emit({ name: 'pull_request', action: 'review_request_removed', pull, reviewer, sender: by });
    for (const user of users) if (remove(pull.requestedReviewers, user)) removed({ user });
    for (const team of teams) if (remove(pull.requestedTeams, team)) removed({ team });
    pull.updatedAt = isoSeconds(new Date());
  }

  /** Asks the owners of the changed files, as GitHub does by itself. A draft waits until it is ready. */
  async requestOwners(pull: PullRequest, files: readonly FileChange[]): Promise<void> {
    if (pull.draft) return;
    const owners = new Set((await this.#ownersOfFiles(pull, files)).flat());
    for (const owner of owners) {
      const reviewer = this.#reviewerOf(owner);
      if (reviewer && !this.#hasReviewed(pull, reviewer)) this.#ask(pull, reviewer, pull.user);
    }
  }

  /** The owners of whom one must still approve, one list for each group of files; empty when none is missing. */
  async awaitedOwners(pull: PullRequest, files: readonly FileChange[]): Promise<readonly string[]> {
    const approvers = latestApprovers(this.counting(pull));
    const groups = await this.#ownersOfFiles(pull, files);
    const waiting = groups.filter((owners) => {
      const reviewers = owners.flatMap((owner) => this.#reviewerOf(owner) ?? []);
      // Owners without access are as good as none, for GitHub takes no notice of them.
      return (
        reviewers.length > 0 &&
        !reviewers.some((reviewer) => approvers.some((login) => this.#speaksFor(reviewer, login)))
      );
    });
    return [...new Set(waiting.flat())].map((owner) => owner.replace(/^@/, ''));
  }

  /** What a changed diff does to the approvals of a branch that wants fresh ones. */
  dismissStale(pull: PullRequest, by: string): void {
    for (const review of this.of(pull)) if (review.state === 'APPROVED') this.dismiss(pull, review, by);
  }

  #refuseOwn(pull: PullRequest, { user, state, body }: Pick<GivenReview, 'user' | 'state' | 'body'>): void {
    const reject = (why: string): ApiError => new ApiError(422, 'Unprocessable Entity', { errors: [why] });
    if (user === pull.user && state === 'APPROVED') throw reject('Can not approve your own pull request');
    if (user === pull.user && state === 'CHANGES_REQUESTED') {
      throw reject('Can not request changes on your own pull request');
    }
    if (state === 'CHANGES_REQUESTED' && body === '') throw reject('Body is required to request changes');
  }

  #submitted(pull: PullRequest, review: Review): void {
    remove(pull.requestedReviewers, review.user);
    pull.requestedTeams = pull.requestedTeams.filter((team) => !this.#accounts.isMember(team, review.user));
    pull.updatedAt = isoSeconds(new Date());
    this.#events.emit({ name: 'pull_request_review', action: 'submitted', review, pull, sender: review.user });
  }

  #ask(pull: PullRequest, reviewer: Reviewer, by: string): void {
    const [list, name] =
      'user' in reviewer ? [pull.requestedReviewers, reviewer.user] : [pull.requestedTeams, reviewer.team];
    if (list.some((listed) => listed.toLowerCase() === name.toLowerCase())) return;
    list.push(name);
    pull.updatedAt = isoSeconds(new Date());
    this.#events.emit({ name: 'pull_request', action: 'review_requested', pull, reviewer, sender: by });
  }

  /** The owners of each changed file that has some; equal groups once. */
  async #ownersOfFiles(pull: PullRequest, files: readonly FileChange[]): Promise<(readonly string[])[]> {
    const rules = await this.#rulesAt(pull.baseRef);
    const groups = new Map<string, readonly string[]>();
    for (const { path, previousPath } of files) {
      for (const touched of previousPath === undefined ? [path] : [path, previousPath]) {
        const owners = ownersOf(rules, touched).filter(
          (owner) => owner.toLowerCase() !== `@${pull.user.toLowerCase()}`,
        );
        if (owners.length > 0) groups.set(owners.join(' '), owners);
      }
    }
    return [...groups.values()];
  }

  async #rulesAt(branch: string): Promise<readonly OwnerRule[]> {
    const tip = await this.#git.branchTip(branch);
    if (!tip) return [];
    const { tree } = await this.#git.commit(tip);
    for (const path of CODEOWNERS_PATHS) {
      const entry = await this.#git.entryAt(tree, path);
      if (!entry) continue;
      const existing = this.#rules.get(entry.sha);
      if (existing) return existing;
      const blob = await this.#git.object(entry.sha);
      const small = blob?.type === 'blob' && blob.size <= CODEOWNERS_LIMIT_BYTES;
      const rules = small ? parseCodeowners(blob.content.toString()) : [];
      this.#rules.set(entry.sha, rules);
      return rules;
    }
    return [];
  }

  /** Whom an owner of a file stands for; undefined for an address, another organisation's team, or no write access. */
  #reviewerOf(owner: string): Reviewer | undefined {
    const [, organisation, team] = /^@([^/]+)\/(.+)$/.exec(owner) ?? [];
    if (organisation !== undefined && team !== undefined) {
      const existing = organisation.toLowerCase() === this.#owner.toLowerCase() && this.#accounts.hasTeam(team);
      return existing && ['push', 'maintain', 'admin'].includes(this.#accounts.teamPermission(team))
        ? { team }
        : undefined;
    }
    const user = owner.startsWith('@') ? owner.slice(1) : undefined;
    return user !== undefined && this.#accounts.mayWrite(user) ? { user } : undefined;
  }

  #hasReviewed(pull: PullRequest, reviewer: Reviewer): boolean {
    return this.of(pull).some(({ user, state }) => state !== 'PENDING' && this.#speaksFor(reviewer, user));
  }

  #speaksFor(reviewer: Reviewer, login: string): boolean {
    return 'user' in reviewer
      ? reviewer.user.toLowerCase() === login.toLowerCase()
      : this.#accounts.isMember(reviewer.team, login);
  }
}

/** Whose last word is an approval. */
function latestApprovers(reviews: readonly Review[]): string[] {
  const latest = new Map<string, Review['state']>();
  for (const { user, state } of reviews) if (state !== 'COMMENTED') latest.set(user, state);
  return [...latest].flatMap(([user, state]) => (state === 'APPROVED' ? [user] : []));
}

/** Takes a name out of a list, whatever its case. Returns whether it was there. */
function remove(list: string[], name: string): boolean {
  const index = list.findIndex((listed) => listed.toLowerCase() === name.toLowerCase());
  if (index < 0) return false;
  list.splice(index, 1);
  return true;
}
