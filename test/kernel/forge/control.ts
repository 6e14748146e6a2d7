import { addReview } from './routes/pulls.ts';
import { ApiError } from './api-error.ts';
import { finishRun } from './checks.ts';
import { commitFiles } from './commit-files.ts';
import type { ForgeContext } from './context.ts';
import { isoSeconds } from './git/objects.ts';
import type { TreeChange } from './git/repository.ts';
import type { CheckConclusion, CheckMode, CheckRun, CommitState, MergeMethod, Protection } from './model.ts';
import { signatureOf } from './people.ts';

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
      const run = checks.latestRuns(sha).find((one) => one.name === name) ?? checks.addRun({ name, headSha: sha });
      if (status === 'completed' || conclusion) {
        if (!conclusion) throw new Error(`the completed check run ${name} needs a conclusion, such as "success"`);
        finishRun(run, conclusion);
      } else {
        Object.assign(run, { status, conclusion: null, completedAt: null });
      }
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
          mergeQueue: false,
          as: 'protection',
          ...wanted,
        };
      }
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

  async approveReview(number: number, by: string): Promise<void> {
    await this.#review(number, by, 'APPROVED');
  }

  async requestChanges(number: number, by: string): Promise<void> {
    await this.#review(number, by, 'CHANGES_REQUESTED');
  }

  async comment(number: number, by: string, body: string): Promise<void> {
    await this.#changing(async () => {
      const now = isoSeconds(new Date());
      const { store, pulls } = this.#forge;
      const issue = pulls.find(number).number;
      store.state.comments.push({ id: store.nextId(), issue, user: by, body, createdAt: now, updatedAt: now });
    });
  }

  /** Turns a pull request into a draft, or makes it ready for review. */
  async setDraft(number: number, draft: boolean): Promise<void> {
    await this.#changing(async () => {
      this.#forge.pulls.find(number).draft = draft;
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
      await pulls.branchMoved(name);
      return sha;
    });
  }

  /** Deletes a branch, as a person may after a merge. */
  async deleteBranch(branch: string): Promise<void> {
    const { git, pulls } = this.#forge;
    await this.#changing(async () => {
      const tip = await git.branchTip(branch);
      if (!tip) throw new ApiError(404, `Branch ${branch} not found`);
      await git.deleteRef(`refs/heads/${branch}`, tip);
      await pulls.branchMoved(branch);
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

  async #review(number: number, user: string, state: 'APPROVED' | 'CHANGES_REQUESTED'): Promise<void> {
    await this.#changing(async () => {
      const pull = this.#forge.pulls.find(number);
      addReview(this.#forge, pull, { user, state, body: '', commitId: pull.headSha });
    });
  }

  async #changing<T>(change: () => Promise<T>): Promise<T> {
    const result = await this.#forge.lock.run(change);
    await this.#forge.store.save();
    return result;
  }
}
