import { ApiError, notFound, validationFailed } from './api-error.ts';
import type { Checks } from './checks.ts';
import type { FileChange } from './git/diff.ts';
import { isoSeconds } from './git/objects.ts';
import type { GitRepository, MergeOutcome } from './git/repository.ts';
import { type MergeFacts, mergeObjection, methodObjection } from './merge-rules.ts';
import type { IssueComment, MergeMethod, PullRequest } from './model.ts';
import { signatureOf, webSignature } from './people.ts';
import type { Reviews } from './reviews.ts';
import type { Store } from './store.ts';
import type { BranchMove, Events, PullRequestAction, PullRequestChanges } from './webhooks/event.ts';

export interface PullRequestsOptions {
  readonly git: GitRepository;
  readonly store: Store;
  readonly checks: Checks;
  readonly reviews: Reviews;
  readonly events: Events;
  readonly owner: string;
  readonly mergeableDelayMs: number;
}

export interface MergeRequest {
  readonly by: string;
  readonly method?: MergeMethod;
  /** The head that the caller has seen. */
  readonly sha?: string;
  readonly title?: string;
  readonly message?: string;
}

/** `by`: who did it. */
export interface PullRequestListener {
  readonly ended: (pull: PullRequest, by: string) => void;
  readonly moved: (pull: PullRequest, by: string) => void;
}

/** What is known about merging one head into one base. */
interface Mergeability {
  readonly base: string;
  readonly head: string;
  /** Whether an answer has shown it. */
  seen: boolean;
  outcome?: MergeOutcome;
  /** The commit that the merge would make; GitHub shows it as `merge_commit_sha` of an open pull request. */
  testCommit?: string;
}

/**
 * The pull requests: their life, and what follows for them when branches move. Whoever changes something holds the
 * forge's lock; `refresh` may run at any time.
 */
export class PullRequests {
  readonly #git: GitRepository;
  readonly #store: Store;
  readonly #checks: Checks;
  readonly #reviews: Reviews;
  readonly #events: Events;
  readonly #owner: string;
  readonly #mergeableDelayMs: number;
  readonly #mergeabilities = new Map<number, Mergeability>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #computing = new Set<Promise<void>>();
  readonly #listeners: PullRequestListener[] = [];

  constructor(options: PullRequestsOptions) {
    this.#git = options.git;
    this.#store = options.store;
    this.#checks = options.checks;
    this.#reviews = options.reviews;
    this.#events = options.events;
    this.#owner = options.owner;
    this.#mergeableDelayMs = options.mergeableDelayMs;
  }

  /** Has something done when a pull request is closed or merged, and when it has another head. */
  on(listener: PullRequestListener): void {
    this.#listeners.push(listener);
  }

  /** Computes nothing more; resolves when git is left alone. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await Promise.all(this.#computing);
  }

  /** @throws ApiError 404 */
  find(number: number): PullRequest {
    const found = this.#store.state.pulls.find((pull) => pull.number === number);
    if (!found) throw notFound();
    return found;
  }

  /** Opens a pull request. @throws ApiError 422 with GitHub's reasons */
  async open(wanted: {
    head: string;
    base: string;
    title: string;
    body: string | null;
    draft: boolean;
    user: string;
  }): Promise<PullRequest> {
    const invalid = (field: string): ApiError => validationFailed({ resource: 'PullRequest', field, code: 'invalid' });
    const [owner, headRef] = wanted.head.includes(':') ? split(wanted.head, ':') : [this.#owner, wanted.head];
    if (owner.toLowerCase() !== this.#owner.toLowerCase()) throw invalid('head');
    const headSha = await this.#git.branchTip(headRef);
    if (!headSha) throw invalid('head');
    const baseSha = await this.#git.branchTip(wanted.base);
    if (!baseSha) throw invalid('base');
    const reject = (message: string): ApiError =>
      validationFailed({ resource: 'PullRequest', code: 'custom', message });
    if (this.#openFor(headRef, wanted.base)) {
      throw reject(`A pull request already exists for ${this.#owner}:${headRef}.`);
    }
    const mergeBaseSha = await this.#git.mergeBase(baseSha, headSha);
    if (!mergeBaseSha) throw reject(`The ${headRef} branch has no history in common with ${wanted.base}`);
    if (mergeBaseSha === headSha) throw reject(`No commits between ${wanted.base} and ${headRef}`);
    const now = isoSeconds(new Date());
    const pull: PullRequest = {
      number: this.#store.state.nextNumber++,
      id: this.#store.nextId(),
      title: wanted.title,
      body: wanted.body,
      user: wanted.user,
      headRef,
      headSha,
      baseRef: wanted.base,
      baseSha,
      mergeBaseSha,
      state: 'open',
      draft: wanted.draft,
      labels: [],
      requestedReviewers: [],
      requestedTeams: [],
      createdAt: now,
      updatedAt: now,
      closedAt: null,
      closedBy: null,
      mergedAt: null,
      mergedBy: null,
      mergeCommitSha: null,
    };
    this.#store.state.pulls.push(pull);
    this.#emit(pull, wanted.user, { action: 'opened' });
    await this.#reviews.requestOwners(pull, await this.files(pull));
    await this.#headIs(pull);
    return pull;
  }

  /** Changes title, body, base and state together. @throws ApiError 422 with GitHub's reasons */
  async edit(
    pull: PullRequest,
    wanted: { title?: string; body?: string | null; base?: string; state?: 'open' | 'closed' },
    by: string,
  ): Promise<void> {
    const reject = (field: string, message: string): ApiError =>
      validationFailed({ resource: 'PullRequest', code: 'invalid', field, message });
    const { title, body, baseRef, baseSha: oldBaseSha } = pull;
    if (wanted.base !== undefined && wanted.base !== pull.baseRef) {
      if (pull.state === 'closed') throw reject('base', 'Cannot change the base branch of a closed pull request.');
      const baseSha = await this.#git.branchTip(wanted.base);
      if (!baseSha) throw reject('base', `Proposed base branch '${wanted.base}' was not found`);
      if (this.#openFor(pull.headRef, wanted.base)) {
        throw reject(
          'base',
          `A pull request already exists for base branch '${wanted.base}' and head branch '${pull.headRef}'`,
        );
      }
      const mergeBaseSha = await this.#git.mergeBase(baseSha, pull.headSha);
      if (!mergeBaseSha || mergeBaseSha === pull.headSha) {
        throw reject(
          'base',
          `There are no new commits between base branch '${wanted.base}' and head branch '${pull.headRef}'`,
        );
      }
      Object.assign(pull, { baseRef: wanted.base, baseSha, mergeBaseSha });
    }
    if (wanted.title !== undefined) pull.title = wanted.title;
    if (wanted.body !== undefined) pull.body = wanted.body;
    if (wanted.state === 'open' && pull.state === 'closed') await this.#reopen(pull, by);
    if (wanted.state === 'closed' && pull.state === 'open') this.#close(pull, by);
    pull.updatedAt = isoSeconds(new Date());
    const changes: PullRequestChanges = {
      ...(pull.title === title ? {} : { title: { from: title } }),
      ...(pull.body === body ? {} : { body: { from: body ?? '' } }),
      ...(pull.baseRef === baseRef ? {} : { base: { ref: { from: baseRef }, sha: { from: oldBaseSha } } }),
    };
    if (Object.keys(changes).length > 0) this.#emit(pull, by, { action: 'edited', changes });
  }

  /** Turns a pull request into a draft, or makes it ready for review. */
  async setDraft(pull: PullRequest, draft: boolean, by: string): Promise<void> {
    if (pull.draft === draft) return;
    pull.draft = draft;
    pull.updatedAt = isoSeconds(new Date());
    this.#emit(pull, by, { action: draft ? 'converted_to_draft' : 'ready_for_review' });
    if (!draft) await this.#reviews.requestOwners(pull, await this.files(pull));
  }

  /** Adds a comment to the conversation. */
  comment(pull: PullRequest, comment: IssueComment): void {
    this.#store.state.comments.push(comment);
    this.#events.emit({ name: 'issue_comment', action: 'created', comment, pull, sender: comment.user });
  }

  /** Puts a label on a pull request, made where there is none of that name, or takes it off. */
  label(pull: PullRequest, name: string, on: boolean, by: string): void {
    const same = (other: string): boolean => other.toLowerCase() === name.toLowerCase();
    const { labels } = this.#store.state;
    if (on && !labels.some((existing) => same(existing.name))) {
      labels.push({ id: this.#store.nextId(), name, color: 'ededed', description: '' });
    }
    const label = labels.find((existing) => same(existing.name))?.name ?? name;
    if (pull.labels.includes(label) === on) return;
    if (on) pull.labels.push(label);
    else pull.labels.splice(pull.labels.indexOf(label), 1);
    pull.updatedAt = isoSeconds(new Date());
    this.#emit(pull, by, { action: on ? 'labeled' : 'unlabeled', label });
  }

  /** Takes in what happened to the branches of a pull request, whoever moved them and however. */
  async refresh(pull: PullRequest, by: string = this.#owner): Promise<void> {
    if (pull.state !== 'open') return;
    const seen = pull.headSha;
    const [head, base] = await Promise.all([this.#git.branchTip(pull.headRef), this.#git.branchTip(pull.baseRef)]);
    if (!head || !base) {
      if (pull.state === 'open') this.#close(pull, by);
      return;
    }
    if (head === seen) return;
    const mergeBaseSha = (await this.#git.mergeBase(base, head)) ?? base;
    const [before, after] = await Promise.all([this.files(pull), this.#git.diff(mergeBaseSha, head)]);
    // Another call may have taken it in while git was asked.
    if (pull.headSha !== seen || pull.state !== 'open') return;
    Object.assign(pull, { headSha: head, baseSha: base, mergeBaseSha });
    pull.updatedAt = isoSeconds(new Date());
    this.#emit(pull, by, { action: 'synchronize', before: seen, after: head });
    for (const { moved } of this.#listeners) moved(pull, by);
    const dismisses = this.#store.state.protections[pull.baseRef]?.dismissStaleReviews === true;
    // A merge of the base leaves the diff, and with it the approvals, as they are.
    if (dismisses && JSON.stringify(before) !== JSON.stringify(after)) this.#reviews.dismissStale(pull, by);
    const existing = new Set(before.map(({ path }) => path));
    await this.#reviews.requestOwners(
      pull,
      after.filter(({ path }) => !existing.has(path)),
    );
    await this.#headIs(pull);
  }

  /** Takes in that somebody moved, made or deleted a branch. */
  async branchMoved(move: BranchMove, by: string): Promise<void> {
    const { branch } = move;
    if (move.before === move.after) return;
    this.#store.state.pushedAt = isoSeconds(new Date());
    this.#events.emit({ name: 'push', move, sender: by });
    for (const pull of this.#store.state.pulls) {
      if (pull.state !== 'open') continue;
      // Of the base only its end matters at once; what its new commits mean is found out when somebody asks.
      if (pull.headRef === branch) await this.refresh(pull, by);
      else if (pull.baseRef === branch && move.after === null) this.#close(pull, by);
    }
  }

  /** Whether it can be merged: null while that is being computed, and for one that is no longer open. */
  async mergeable(pull: PullRequest): Promise<boolean | null> {
    // Of a pull request in a merge queue GitHub says nothing.
    if (pull.state !== 'open' || pull.queueEntry) return null;
    return (await this.#mergeability(pull, false))?.outcome?.clean ?? null;
  }

  /** The merge commit of a merged pull request; of an open one the commit that merging would make, once known. */
  mergeCommit(pull: PullRequest): string | null {
    return pull.mergeCommitSha ?? this.#mergeabilities.get(pull.number)?.testCommit ?? null;
  }

  /** Everything that decides about the merge, as of now. */
  async facts(pull: PullRequest, mergeable: boolean | null): Promise<MergeFacts> {
    const protection = this.#store.state.protections[pull.baseRef];
    const base = await this.#git.branchTip(pull.baseRef);
    return {
      mergeable: pull.queueEntry ? null : mergeable,
      draft: pull.draft,
      protection,
      verdicts: this.#checks.verdicts(pull.headSha),
      reviews: this.#reviews.counting(pull),
      awaitedOwners: protection?.requireCodeOwnerReviews
        ? await this.#reviews.awaitedOwners(pull, await this.files(pull))
        : [],
      // Only a strict protection asks.
      behind:
        protection?.requireUpToDate === true && base !== undefined && !(await this.#git.isAncestor(base, pull.headSha)),
    };
  }

  /** Merges. Returns the SHA that the base branch has now. @throws ApiError 405 or 409 in GitHub's words */
  async merge(pull: PullRequest, wanted: MergeRequest): Promise<string> {
    const method = wanted.method ?? 'merge';
    await this.refresh(pull);
    if (pull.state !== 'open') throw new ApiError(405, 'Pull Request is not mergeable');
    const { mergeSettings, protections } = this.#store.state;
    const forbidden = methodObjection(method, mergeSettings, protections[pull.baseRef]);
    if (forbidden) throw new ApiError(405, forbidden);
    if (wanted.sha !== undefined && wanted.sha !== pull.headSha) {
      throw new ApiError(409, 'Head branch was modified. Review and try the merge again.');
    }
    const base = (await this.#git.branchTip(pull.baseRef)) ?? '';
    const { outcome } = (await this.#mergeability(pull, true)) ?? {};
    const objection = mergeObjection(await this.facts(pull, outcome?.clean ?? false));
    if (objection || !outcome?.clean) throw new ApiError(405, objection ?? 'Pull Request is not mergeable');
    return await this.#mergeInto(pull, base, { ...wanted, method, tree: outcome.tree });
  }

  /** What keeps a pull request from the merge queue of its base, in GitHub's words. */
  async queueObjection(pull: PullRequest): Promise<string | undefined> {
    const { outcome } = (await this.#mergeability(pull, true)) ?? {};
    const facts = await this.facts(pull, outcome?.clean ?? false);
    const { protection } = facts;
    // Neither the queue itself is in its way, nor that it is behind: the queue tests it on what the base will be.
    const without = protection && { ...protection, mergeQueue: false, requireUpToDate: false };
    return mergeObjection({ ...facts, protection: without });
  }

  /** Merges what a merge queue has let pass, whatever rules say by now. @throws ApiError 405 where it conflicts */
  async mergeInQueue(
    pull: PullRequest,
    wanted: { readonly by: string; readonly method: MergeMethod },
  ): Promise<string> {
    const base = (await this.#git.branchTip(pull.baseRef)) ?? '';
    const { outcome } = (await this.#mergeability(pull, true)) ?? {};
    if (!outcome?.clean) throw new ApiError(405, 'Pull Request is not mergeable');
    return await this.#mergeInto(pull, base, { ...wanted, tree: outcome.tree });
  }

  async #mergeInto(
    pull: PullRequest,
    base: string,
    wanted: MergeRequest & { readonly method: MergeMethod; readonly tree: string },
  ): Promise<string> {
    const { method } = wanted;
    const sha = await this.#mergedCommit(pull, base, wanted.tree, method, wanted);
    await this.#git.updateRef(`refs/heads/${pull.baseRef}`, sha, base);
    // The commits of a rebase are new, but nobody signs them.
    if (method !== 'rebase') this.#store.sign(sha);
    this.#merged(pull, wanted.by, sha);
    await this.branchMoved({ branch: pull.baseRef, before: base, after: sha }, wanted.by);
    return sha;
  }

  /** Merges the base into the head branch. @throws ApiError 422 in GitHub's words */
  async updateBranch(pull: PullRequest, { expected, by }: { expected?: string; by: string }): Promise<void> {
    await this.refresh(pull);
    const reject = (message: string): ApiError => new ApiError(422, message);
    if (pull.state !== 'open') throw reject('Pull request is closed.');
    if (expected !== undefined && expected !== pull.headSha) {
      throw reject("expected head sha didn't match current head ref.");
    }
    const base = (await this.#git.branchTip(pull.baseRef)) ?? '';
    if (await this.#git.isAncestor(base, pull.headSha)) throw reject('There are no new commits on the base branch.');
    const outcome = await this.#git.mergeTrees(pull.headSha, base);
    if (!outcome.clean) throw reject('merge conflict between base and head');
    const sha = await this.#git.writeCommit({
      tree: outcome.tree,
      parents: [pull.headSha, base],
      author: signatureOf(by),
      committer: webSignature(),
      message: `Merge branch '${pull.baseRef}' into ${pull.headRef}`,
    });
    const before = pull.headSha;
    await this.#git.updateRef(`refs/heads/${pull.headRef}`, sha, before);
    this.#store.sign(sha);
    await this.branchMoved({ branch: pull.headRef, before, after: sha }, by);
  }

  files(pull: PullRequest): Promise<readonly FileChange[]> {
    return this.#git.diff(pull.mergeBaseSha, pull.headSha);
  }

  /** Its commits, oldest first. */
  commits(pull: PullRequest): Promise<readonly string[]> {
    return this.#git.commitsBetween(pull.mergeBaseSha, pull.headSha);
  }

  async size(
    pull: PullRequest,
  ): Promise<{ commits: number; additions: number; deletions: number; changed_files: number }> {
    const [{ ahead }, files] = await Promise.all([
      this.#git.distance(pull.mergeBaseSha, pull.headSha),
      this.files(pull),
    ]);
    return {
      commits: ahead,
      additions: files.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
      changed_files: files.length,
    };
  }

  #openFor(headRef: string, baseRef: string): PullRequest | undefined {
    return this.#store.state.pulls.find(
      (pull) => pull.state === 'open' && pull.headRef === headRef && pull.baseRef === baseRef,
    );
  }

  #close(pull: PullRequest, by: string): void {
    this.#end(pull, by);
    this.#emit(pull, by, { action: 'closed' });
  }

  #merged(pull: PullRequest, by: string, sha: string): void {
    const now = isoSeconds(new Date());
    Object.assign(pull, { mergedAt: now, mergedBy: by, mergeCommitSha: sha });
    this.#end(pull, by, now);
    this.#emit(pull, by, { action: 'closed' });
  }

  #end(pull: PullRequest, by: string, now = isoSeconds(new Date())): void {
    Object.assign(pull, { state: 'closed', closedAt: now, closedBy: by, updatedAt: now });
    for (const { ended } of this.#listeners) ended(pull, by);
  }

  #emit(pull: PullRequest, sender: string, what: PullRequestAction): void {
    this.#events.emit({ name: 'pull_request', pull, sender, ...what });
  }

  async #reopen(pull: PullRequest, by: string): Promise<void> {
    const reject = (why: string): ApiError =>
      validationFailed({
        resource: 'PullRequest',
        code: 'invalid',
        field: 'state',
        message: `state cannot be changed. ${why}`,
      });
    if (pull.mergedAt) throw reject('The pull request cannot be reopened.');
    const head = await this.#git.branchTip(pull.headRef);
    if (!head) throw reject(`The ${pull.headRef} branch has been deleted.`);
    const base = await this.#git.branchTip(pull.baseRef);
    if (!base) throw reject(`The ${pull.baseRef} branch has been deleted.`);
    if (this.#openFor(pull.headRef, pull.baseRef)) {
      throw reject(`There is already an open pull request from ${this.#owner}:${pull.headRef} to ${pull.baseRef}.`);
    }
    if (!(await this.#git.isAncestor(pull.headSha, head))) {
      throw reject(`The ${pull.headRef} branch was force-pushed or recreated.`);
    }
    const mergeBaseSha = await this.#git.mergeBase(base, head);
    if (!mergeBaseSha || mergeBaseSha === head) {
      throw reject(`There are no new commits on the ${this.#owner}:${pull.headRef} branch.`);
    }
    const moved = head !== pull.headSha;
    const now = isoSeconds(new Date());
    Object.assign(pull, { state: 'open', closedAt: null, closedBy: null, headSha: head, baseSha: base, mergeBaseSha });
    Object.assign(pull, { reopened: { by, at: now, times: (pull.reopened?.times ?? 0) + 1 }, updatedAt: now });
    this.#emit(pull, by, { action: 'reopened' });
    if (moved) await this.#headIs(pull);
  }

  /** The head is new: CI hears of it, `refs/pull/n/head` follows, and whether it merges is computed. */
  async #headIs(pull: PullRequest): Promise<void> {
    this.#checks.onNewHead(pull.headSha);
    const ref = `refs/pull/${pull.number}/head`;
    const old = await this.#git.resolve(ref);
    if (old?.sha !== pull.headSha) await this.#git.forceRef(ref, pull.headSha);
    if (this.#mergeableDelayMs > 0) await this.#mergeability(pull, false);
  }

  /**
   * What is known about merging; undefined while it is being computed. A result for an earlier base is handed out once,
   * so that a base which moves faster than anybody asks does not leave it unknown for ever; the merge itself always
   * computes anew.
   */
  async #mergeability(pull: PullRequest, wait: boolean): Promise<Mergeability | undefined> {
    const base = await this.#git.branchTip(pull.baseRef);
    if (!base) return undefined;
    const head = pull.headSha;
    const existing = this.#mergeabilities.get(pull.number);
    const sameHead = existing?.head === head;
    if (existing?.outcome && sameHead && existing.base === base) {
      existing.seen = true;
      return existing;
    }
    if (wait || this.#mergeableDelayMs === 0) {
      const now: Mergeability = { base, head, seen: true };
      await this.#compute(pull, now);
      this.#mergeabilities.set(pull.number, now);
      return now;
    }
    if (existing && sameHead && !existing.outcome) return undefined;
    this.#start(pull, { base, head, seen: false });
    if (!existing?.outcome || !sameHead || existing.seen) return undefined;
    return existing;
  }

  #start(pull: PullRequest, started: Mergeability): void {
    this.#mergeabilities.set(pull.number, started);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      const computing = this.#compute(pull, started)
        // A failure leaves it unknown, and the next question starts again.
        .catch(() => {
          this.#mergeabilities.delete(pull.number);
        })
        .finally(() => this.#computing.delete(computing));
      this.#computing.add(computing);
    }, this.#mergeableDelayMs);
    timer.unref();
    this.#timers.add(timer);
  }

  async #compute(pull: PullRequest, into: Mergeability): Promise<void> {
    const { base, head } = into;
    const outcome = await this.#git.mergeTrees(base, head);
    if (outcome.clean) {
      const [ours, theirs] = await Promise.all([this.#git.commit(base), this.#git.commit(head)]);
      if (outcome.tree === ours.tree && (await this.#git.isAncestor(head, base))) {
        // Somebody pushed its commits to the base by hand: GitHub calls that merged.
        if (pull.state === 'open' && pull.headSha === head) this.#merged(pull, this.#owner, base);
        return;
      }
      // Dated as the head, so that the same merge is the same commit whenever it is computed.
      const { date } = theirs.committer;
      into.testCommit = await this.#git.writeCommit({
        tree: outcome.tree,
        parents: [base, head],
        author: { ...signatureOf(pull.user), date },
        committer: { ...webSignature(), date },
        message: `Merge ${head} into ${base}`,
      });
    }
    into.outcome = outcome;
  }

  async #mergedCommit(
    pull: PullRequest,
    base: string,
    tree: string,
    method: MergeMethod,
    wanted: MergeRequest,
  ): Promise<string> {
    if (method === 'rebase') return this.#rebased(pull, base);
    const defaults = method === 'squash' ? await this.#squashMessage(pull) : mergeMessage(pull, this.#owner);
    const title = wanted.title || defaults.title;
    const message = wanted.message ?? defaults.message;
    return this.#git.writeCommit({
      tree,
      parents: method === 'squash' ? [base] : [base, pull.headSha],
      author: signatureOf(method === 'squash' ? pull.user : wanted.by),
      committer: webSignature(),
      message: message ? `${title}\n\n${message}` : title,
    });
  }

  /** GitHub's default: the commit's own words when there is one, else the pull request's title and a list of commits. */
  async #squashMessage(pull: PullRequest): Promise<{ title: string; message: string }> {
    const commits = await Promise.all((await this.commits(pull)).map((sha) => this.#git.commit(sha)));
    const parts = commits.map(({ message }) => {
      const [subject, body] = split(message, '\n');
      return { subject, body: body.trim() };
    });
    const [only] = parts;
    if (only && parts.length === 1) return { title: `${only.subject} (#${pull.number})`, message: only.body };
    return {
      title: `${pull.title} (#${pull.number})`,
      message: parts.map(({ subject, body }) => `* ${subject}${body ? `\n\n${body}` : ''}`).join('\n\n'),
    };
  }

  async #rebased(pull: PullRequest, base: string): Promise<string> {
    let onto = base;
    for (const sha of await this.commits(pull)) {
      const commit = await this.#git.commit(sha);
      const [parent] = commit.parents;
      // A merge commit is left out, as a rebase does.
      if (commit.parents.length > 1) continue;
      const { tree } = await this.#git.commit(onto);
      // git merge-tree takes the merge base from history, so the new base is dressed up as a child of the old parent.
      const dressed = await this.#git.writeCommit({
        tree,
        parents: parent ? [parent] : [],
        author: webSignature(),
        committer: webSignature(),
        message: 'base of a rebase',
      });
      const outcome = await this.#git.mergeTrees(dressed, sha);
      if (!outcome.clean) throw new ApiError(405, "This branch can't be rebased");
      const { author, message } = commit;
      const again = { tree: outcome.tree, parents: [onto], author, message };
      const made = await this.#git.writeCommit({ ...again, committer: webSignature() });
      // GitHub's rebase makes new commits always, also on the same base and in the same second.
      const later = new Date(Date.now() + 1000);
      onto = made === sha ? await this.#git.writeCommit({ ...again, committer: webSignature(later) }) : made;
    }
    return onto;
  }
}

function mergeMessage(pull: PullRequest, owner: string): { title: string; message: string } {
  return { title: `Merge pull request #${pull.number} from ${owner}/${pull.headRef}`, message: pull.title };
}

/** Both sides of the first separator; the second is empty when there is none. */
function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
