import type { AccountsOptions } from './accounts.ts';
import { ApiError } from './api-error.ts';
import { finishRun } from './checks.ts';
import { commitFiles } from './commit-files.ts';
import type { ForgeContext } from './context.ts';
import { isoSeconds } from './git/objects.ts';
import type { TreeChange } from './git/repository.ts';
import { applyHook, type HookOptions, newHook } from './hooks.ts';
import type {
  CheckConclusion,
  CheckMode,
  CheckRun,
  CommitState,
  Hook,
  MergeMethod,
  MergeSettings,
  Protection,
} from './model.ts';
import type { QueueVerdict } from './merge-queue.ts';
import { signatureOf } from './people.ts';
import type { GivenReview } from './reviews.ts';
import type { Delivery } from './webhooks/delivery.ts';

export interface CheckRunChange {
  sha: string;
  name: string;
  status: CheckRun['status'];
  /** Required for `completed`, and completes the run. */
  conclusion?: CheckConclusion;
}

export interface CommitStatusChange {
  sha: string;
  context: string;
  state: CommitState;
  description?: string;
}

export interface Push {
  /** Default: the default branch. A branch that is not there is made from the default branch. */
  branch?: string;
  /** Contents by path; null deletes the file. */
  files: Readonly<Record<string, string | null>>;
  message?: string;
  /** A login. Default: the owner. */
  author?: string;
  /** Starts the branch anew on the default branch, whatever it had. */
  force?: boolean;
}

/** What people and CI do on the forge while a test runs: not limited by protection, tokens or rate limits. */
export class Control {
  readonly #forge: ForgeContext;

  constructor(forge: ForgeContext) {
    this.#forge = forge;
  }

  /** What happens to heads from now on. */
  setDefaultChecks(mode: CheckMode): void {
    this.#forge.checks.mode = mode;
  }

  /** Reports a check run: the newest one of that name on the commit is changed, or one is made. */
  async setCheckRun({ sha, name, status, conclusion }: CheckRunChange): Promise<void> {
    await this.#changing(async () => {
      const { checks } = this.#forge;
      const existing = checks.latestRuns(sha).find((latest) => latest.name === name);
      const before = existing?.status ?? 'new';
      const run = existing ?? checks.addRun({ name, headSha: sha });
      if (status === 'completed' || conclusion) {
        if (!conclusion) throw new Error(`the completed check run ${name} needs a conclusion, such as "success"`);
        finishRun(run, conclusion);
      } else {
        Object.assign(run, { status, conclusion: null, completedAt: null });
      }
      checks.reported(run, before, 'ci[bot]');
    });
  }

  /** Reports a commit status, as an older CI does. */
  async setStatus({ sha, context, state, description }: CommitStatusChange): Promise<void> {
    await this.#changing(async () => {
      this.#forge.checks.addStatus({
        sha,
        context,
        state,
        description: description ?? null,
        targetUrl: null,
        creator: this.#forge.owner,
      });
    });
  }

  /** Protects a branch; `undefined` takes the protection away. What is left out is not required. */
  async protectBranch(branch: string, wanted: Partial<Protection> | undefined): Promise<void> {
    await this.#changing(async () => {
      const { protections } = this.#forge.store.state;
      if (!wanted) delete protections[branch];
      else {
        protections[branch] = {
          requiredChecks: [],
          requireUpToDate: false,
          requiredReviews: 0,
          dismissStaleReviews: false,
          requireCodeOwnerReviews: false,
          mergeQueue: false,
          requireLinearHistory: false,
          as: 'protection',
          ...wanted,
        };
      }
    });
  }

  /** Changes how the repository lets pull requests be merged. */
  async setMergeSettings(change: Partial<MergeSettings>): Promise<void> {
    await this.#changing(async () => {
      const { state } = this.#forge.store;
      state.mergeSettings = { ...state.mergeSettings, ...change };
    });
  }

  async closePullRequest(number: number, by: string): Promise<void> {
    await this.#changing(() => this.#forge.pulls.edit(this.#forge.pulls.find(number), { state: 'closed' }, by));
  }

  async reopenPullRequest(number: number, by: string): Promise<void> {
    await this.#changing(() => this.#forge.pulls.edit(this.#forge.pulls.find(number), { state: 'open' }, by));
  }

  /** Merges as the API would. Returns the new commit on the base. @throws ApiError when the API would refuse */
  async mergePullRequest(number: number, by: string, method: MergeMethod = 'squash'): Promise<string> {
    return this.#changing(() => this.#forge.pulls.merge(this.#forge.pulls.find(number), { by, method }));
  }

  /** Puts a pull request into the merge queue of its base branch, as a person. @throws ApiError when GitHub would refuse */
  async enqueue(number: number, by: string): Promise<void> {
    await this.#changing(() => this.#forge.queue.add(this.#forge.pulls.find(number), by));
  }

  /** Takes it out of the queue, as a person. */
  async dequeue(number: number, by: string): Promise<void> {
    await this.#changing(async () => this.#forge.queue.take(this.#forge.pulls.find(number), by));
  }

  /** Says what became of the checks of its merge group: it is merged, or taken out. Returns the merge commit. */
  async finishQueued(number: number, verdict: QueueVerdict): Promise<string | undefined> {
    return this.#changing(() => this.#forge.queue.finish(this.#forge.pulls.find(number), verdict));
  }

  /** Enables GitHub's auto-merge, as a person. @throws ApiError when GitHub would refuse */
  async enableAutoMerge(number: number, by: string, method: MergeMethod = 'squash'): Promise<void> {
    await this.#changing(() => this.#forge.autoMerges.enable(this.#forge.pulls.find(number), { by, method }));
  }

  /** Disables it, as a person. */
  async disableAutoMerge(number: number, by: string): Promise<void> {
    await this.#changing(async () => this.#forge.autoMerges.disable(this.#forge.pulls.find(number), by));
  }

  /** Who enabled auto-merge, and how it is going to be merged; undefined while it is disabled. */
  autoMergeOf(number: number): { readonly by: string; readonly method: MergeMethod } | undefined {
    const { autoMerge } = this.#forge.pulls.find(number);
    return autoMerge && { by: autoMerge.by, method: autoMerge.method };
  }

  /** Whether GitHub takes its time with what it may merge by now. */
  holdAutoMerges(isHeld: boolean): void {
    this.#forge.autoMerges.hold(isHeld);
  }

  /** Whether it is in a merge queue. */
  isQueued(number: number): boolean {
    return this.#forge.pulls.find(number).queueEntry !== undefined;
  }

  /** Approves. Returns the review's id. @throws ApiError 422 for the author's own */
  async approveReview(number: number, by: string, body = ''): Promise<number> {
    return this.#review(number, by, 'APPROVED', body);
  }

  /** Requests changes. Returns the review's id. @throws ApiError 422 for the author's own */
  async requestChanges(number: number, by: string, body = 'Please change this.'): Promise<number> {
    return this.#review(number, by, 'CHANGES_REQUESTED', body);
  }

  /** Reviews without a verdict. Returns the review's id. */
  async reviewComment(number: number, by: string, body: string): Promise<number> {
    return this.#review(number, by, 'COMMENTED', body);
  }

  /** Dismisses the newest approval or request for changes of somebody. */
  async dismissReview(number: number, user: string, by: string): Promise<void> {
    await this.#changing(async () => {
      const { pulls, reviews } = this.#forge;
      const pull = pulls.find(number);
      const own = reviews.of(pull).filter((review) => review.user === user);
      const newest = own.findLast(({ state }) => state === 'APPROVED' || state === 'CHANGES_REQUESTED');
      if (!newest) throw new Error(`${user} has no review of pull request #${number} that could be dismissed`);
      reviews.dismiss(pull, newest, by);
    });
  }

  /** Asks people, and teams of the owner by their slugs, for a review. */
  async requestReview(
    number: number,
    { users = [], teams = [] }: { users?: readonly string[]; teams?: readonly string[] },
    by: string,
  ): Promise<void> {
    await this.#changing(async () => {
      const { pulls, reviews } = this.#forge;
      reviews.request(pulls.find(number), { users, teams }, by);
    });
  }

  /** Puts a label on a pull request. */
  async addLabel(number: number, label: string, by: string): Promise<void> {
    await this.#changing(async () => {
      const { pulls } = this.#forge;
      pulls.label(pulls.find(number), label, true, by);
    });
  }

  /** Says who has to do with the repository; what is left out stays as it was. */
  setAccounts(accounts: AccountsOptions): void {
    this.#forge.accounts.set(accounts);
  }

  /** Ends somebody's account: what they reviewed and closed stays, and is nobody's. */
  deleteAccount(login: string): void {
    this.#forge.accounts.delete(login);
  }

  /** Makes a webhook and sends its ping. Returns its id. */
  async addHook(options: HookOptions): Promise<number> {
    return this.#changing(async () => {
      const made = newHook(this.#forge.store.nextId(), options);
      this.#forge.store.state.hooks.push(made);
      void this.#forge.site.webhooks.ping(this.#forge, made);
      return made.id;
    });
  }

  /** Changes a webhook; one with `active: false` misses what happens meanwhile. @throws Error for an unknown id */
  async changeHook(id: number, change: Partial<HookOptions>): Promise<void> {
    await this.#changing(async () => applyHook(this.#hook(id), change));
  }

  /** @throws Error for an unknown id */
  async removeHook(id: number): Promise<void> {
    await this.#changing(async () => {
      const { store, site } = this.#forge;
      const hook = this.#hook(id);
      store.state.hooks.splice(store.state.hooks.indexOf(hook), 1);
      site.webhooks.forget(this.#forge, hook);
    });
  }

  /** What was delivered so far to the repository's hooks, or to one of them, the oldest first. */
  deliveries(hook?: number): readonly Delivery[] {
    const { store, site } = this.#forge;
    const hooks = store.state.hooks.filter(({ id }) => hook === undefined || id === hook);
    return hooks.flatMap((webhook) => site.webhooks.deliveries(this.#forge, webhook)).sort((a, b) => a.id - b.id);
  }

  /** Delivers once more, under the same GUID. Resolves with what came of it. @throws Error for an unknown id */
  redeliver(deliveryId: number): Promise<Delivery | undefined> {
    return this.#forge.site.webhooks.redeliver(deliveryId);
  }

  /** Resolves when every webhook has its answer, those of other repositories too. */
  deliveriesSettled(): Promise<void> {
    return this.#forge.site.deliverer.settled();
  }

  async comment(number: number, by: string, body: string): Promise<void> {
    await this.#changing(async () => {
      const now = isoSeconds(new Date());
      const { store, pulls } = this.#forge;
      const pull = pulls.find(number);
      const comment = { id: store.nextId(), issue: number, user: by, body, createdAt: now, updatedAt: now };
      pulls.comment(pull, comment);
    });
  }

  /** Turns a pull request into a draft, or makes it ready for review. */
  async setDraft(number: number, draft: boolean, by?: string): Promise<void> {
    await this.#changing(async () => {
      await this.#forge.pulls.setDraft(this.#forge.pulls.find(number), draft, by ?? this.#forge.owner);
    });
  }

  /** Pushes a commit as a person would with git. Returns its SHA. */
  async pushCommit({ branch, files, message = 'Edit by hand', author, force = false }: Push): Promise<string> {
    const { git, defaultBranch, owner, pulls } = this.#forge;
    return this.#changing(async () => {
      const name = branch ?? defaultBranch;
      const old = await git.branchTip(name);
      const changes = new Map<string, TreeChange>();
      for (const [path, content] of Object.entries(files)) {
        changes.set(path, content === null ? null : { mode: '100644', sha: await git.writeBlob(Buffer.from(content)) });
      }
      const start = old && !force ? old : await git.branchTip(defaultBranch);
      const signature = signatureOf(author ?? owner);
      const sha = await (old && !force
        ? commitFiles(git, { branch: name, parent: old, changes, message, author: signature, committer: signature })
        : this.#startBranch(name, start, { changes, message, signature }));
      await pulls.branchMoved({ branch: name, before: old ?? null, after: sha }, author ?? owner);
      return sha;
    });
  }

  /** Deletes a branch, as a person may after a merge. */
  async deleteBranch(branch: string, by?: string): Promise<void> {
    const { git, pulls, owner } = this.#forge;
    await this.#changing(async () => {
      const tip = await git.branchTip(branch);
      if (!tip) throw new ApiError(404, `Branch ${branch} not found`);
      await git.deleteRef(`refs/heads/${branch}`, tip);
      await pulls.branchMoved({ branch, before: tip, after: null }, by ?? owner);
    });
  }

  /** A file's text at a branch, tag or SHA; undefined when it is not there. */
  async readFile(ref: string, path: string): Promise<string | undefined> {
    const { git } = this.#forge;
    const sha = await git.commitSha(ref);
    const entry = sha && (await git.entryAt((await git.commit(sha)).tree, path));
    return entry ? (await git.object(entry.sha))?.content.toString() : undefined;
  }

  /** The SHA of a branch's tip. */
  async branchTip(branch: string): Promise<string | undefined> {
    return this.#forge.git.branchTip(branch);
  }

  async #startBranch(
    branch: string,
    start: string | undefined,
    {
      changes,
      message,
      signature,
    }: {
      changes: ReadonlyMap<string, TreeChange>;
      message: string;
      signature: ReturnType<typeof signatureOf>;
    },
  ): Promise<string> {
    const { git } = this.#forge;
    const sha = await git.writeCommit({
      tree: await git.editTree(start ? (await git.commit(start)).tree : undefined, changes),
      parents: start ? [start] : [],
      author: signature,
      committer: signature,
      message,
    });
    await git.forceRef(`refs/heads/${branch}`, sha);
    return sha;
  }

  #hook(id: number): Hook {
    const found = this.#forge.store.state.hooks.find((hook) => hook.id === id);
    if (!found) throw new Error(`there is no webhook ${id}; addHook returns the id of each`);
    return found;
  }

  async #review(number: number, user: string, state: GivenReview['state'], body: string): Promise<number> {
    return this.#changing(async () => {
      const { pulls, reviews } = this.#forge;
      const pull = pulls.find(number);
      return reviews.add(pull, { user, state, body, commitId: pull.headSha }).id;
    });
  }

  async #changing<T>(change: () => Promise<T>): Promise<T> {
    const result = await this.#forge.lock.run(change);
    await this.#forge.store.save();
    return result;
  }
}
