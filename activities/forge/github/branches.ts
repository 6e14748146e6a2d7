/** Branches and commits of a repository on GitHub. */
import { mergeMethods } from '../../../domain/kernel/forge.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { failure } from '../../kernel/failure.ts';
import {
  type BranchRules,
  type Commit,
  type CommitOutcome,
  type Comparison,
  type FileChange,
  type ForgeBranches,
  type NewCommit,
  PLAIN_FILE,
} from '../forge.ts';
import { methodsLeftBy } from './merge-methods.ts';
import { loginOf, moment, type Responses } from './responses.ts';
import { commitInput, commitOnBranch } from './graphql.ts';
import type { GitHubRepository } from './repository.ts';

const EXECUTABLE = '100755';

export class GitHubBranches implements ForgeBranches {
  readonly #repository: GitHubRepository;
  readonly #forgetBase: () => void;

  /** @param forgetBase called when GitHub shows that the cached base branch is out of date. */
  constructor(repository: GitHubRepository, forgetBase: () => void) {
    this.#repository = repository;
    this.#forgetBase = forgetBase;
  }

  /**
   * Whether changes of the branch require passed checks or reviews, by its protection or a ruleset, and whether they require
   * a merge queue, which the rules contain however it was enabled. That a branch protection requires reviews is told only to
   * who administers the repository, as Headroom does not.
   */
  async rules(branch: string): Promise<BranchRules> {
    const [protection, rules] = await Promise.all([
      this.#repository.client.answer([404], (octokit) =>
        octokit.rest.repos.getBranch({ ...this.#repository.where, branch }),
      ),
      // Forges without rulesets respond with 404, and so does GitHub for a private repository on a plan without them.
      this.#repository.client.answer([403, 404], (octokit) =>
        octokit.rest.repos.getBranchRules({ ...this.#repository.where, branch, per_page: 100 }),
      ),
    ]);
    const inForce = rules.ok ? rules.data : [];
    const checked = (protection.ok && requiresChecks(protection.data)) || inForce.some(asksForChecks);
    return {
      requiresChecks: checked,
      mergeQueue: inForce.some(({ type }) => type === 'merge_queue'),
      isProtected: checked || inForce.some(asksForReviews),
      mergeMethods: methodsLeftBy({
        linear: inForce.some(({ type }) => type === 'required_linear_history'),
        allowed: inForce.flatMap((rule) =>
          rule.type === 'pull_request' ? [rule.parameters?.allowed_merge_methods ?? mergeMethods] : [],
        ),
      }),
    };
  }

  async create(branch: string, sha: string): Promise<'created' | 'exists'> {
    const answer = await this.#repository.client.answer([422], (octokit) =>
      octokit.rest.git.createRef({ ...this.#repository.where, ref: `refs/heads/${branch}`, sha }),
    );
    if (answer.ok) return 'created';
    if (/already exists/i.test(answer.message)) return 'exists';
    // The base commit may have been deleted since it was read; a retry sees the new one. A rule against the branch name
    // remains a failure.
    this.#forgetBase();
    const gone = /object does not exist/i.test(answer.message);
    throw failure({
      type: gone ? 'ForgeUnavailable' : 'ForgeRejected',
      message: `GitHub did not make the branch ${branch} at ${sha} in ${this.#repository.name}: ${answer.message}`,
      nonRetryable: !gone,
    });
  }

  /** The commit that a branch points to; null when there is no such branch. */
  async head(branch: string): Promise<string | null> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.git.getRef({ ...this.#repository.where, ref: `heads/${branch}` }),
    );
    return answer.ok ? answer.data.object.sha : null;
  }

  async move(branch: string, sha: string, force: boolean): Promise<'moved' | { readonly rejected: string }> {
    const answer = await this.#repository.client.answer([422], (octokit) =>
      octokit.rest.git.updateRef({ ...this.#repository.where, ref: `heads/${branch}`, sha, force }),
    );
    return answer.ok ? 'moved' : { rejected: answer.message };
  }

  /** True when this call deleted it; false when there was nothing to delete. */
  async delete(branch: string): Promise<boolean> {
    const answer = await this.#repository.client.answer([404, 422], (octokit) =>
      octokit.rest.git.deleteRef({ ...this.#repository.where, ref: `heads/${branch}` }),
    );
    return answer.ok;
  }

  /** How a branch or commit stands to a base commit; null when either does not exist. */
  async compare(base: string, head: string): Promise<Comparison | null> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.repos.compareCommitsWithBasehead({ ...this.#repository.where, basehead: `${base}...${head}` }),
    );
    if (!answer.ok) return null;
    return {
      behind: answer.data.behind_by,
      ahead: answer.data.commits.map(({ sha, commit }) => ({
        sha,
        message: commit.message,
        committedAt: moment(commit.committer?.date),
      })),
    };
  }

  async commit(sha: string): Promise<Commit> {
    return this.#repository.commits.get(sha, async () => {
      const data = await this.#repository.client.data((octokit) =>
        octokit.rest.repos.getCommit({ ...this.#repository.where, ref: sha }),
      );
      return {
        sha: data.sha,
        message: data.commit.message,
        parents: data.parents.map((parent) => parent.sha),
        treeSha: data.commit.tree.sha,
        committedAt: moment(data.commit.committer?.date),
        committer: loginOf(data.committer),
      };
    });
  }

  /**
   * Commits changed files to a branch whose tip is `parent`, in one commit; `conflict` when the tip is another commit.
   */
  async commitFiles(input: NewCommit): Promise<CommitOutcome> {
    const { files } = input;
    const [first, ...others] = files;
    if (first === undefined) throw new Error('a commit without a file');
    if (others.length === 0) return this.#commitFile(input, first);
    if (files.every(({ mode }) => mode === PLAIN_FILE)) return this.#commitAtOnce(input);
    // GraphQL does not support file modes.
    return await this.#commitByTree(input);
  }

  async #commitByTree({ branch, parent, files, message }: NewCommit): Promise<CommitOutcome> {
    const commit = await this.commitOnto({ parent: parent.sha, parentTree: parent.treeSha, files, message });
    const moved = await this.move(branch, commit.sha, false);
    return moved === 'moved'
      ? { kind: 'committed', sha: commit.sha, at: commit.at }
      : { kind: 'conflict', message: moved.rejected };
  }

  async #commitFile(
    { branch, message }: { readonly branch: string; readonly message: string },
    { path, blobSha, text }: FileChange,
  ): Promise<CommitOutcome> {
    const answer = await this.#repository.client.answer([409, 422], (octokit) =>
      octokit.rest.repos.createOrUpdateFileContents({
        ...this.#repository.where,
        branch,
        path,
        ...(blobSha === null ? {} : { sha: blobSha }),
        message,
        content: base64(text),
      }),
    );
    if (!answer.ok) return { kind: 'conflict', message: answer.message };
    const { sha, committer } = answer.data.commit;
    return { kind: 'committed', sha: sha ?? '', at: moment(committer?.date) };
  }

  /**
   * Commits all files with one GraphQL request. REST would need one commit per file, or separate requests for tree,
   * commit and branch.
   */
  async #commitAtOnce(input: NewCommit): Promise<CommitOutcome> {
    const answer = await commitOnBranch(this.#repository.client, commitInput(this.#repository.name, input));
    if (!answer.ok && answer.type === 'ABSENT') return await this.#commitByTree(input);
    if (!answer.ok) return { kind: 'conflict', message: answer.message };
    const { oid, committedDate } = answer.data.createCommitOnBranch.commit;
    return { kind: 'committed', sha: oid, at: moment(committedDate) };
  }

  /** Creates a commit with changed files on top of another commit, without a branch. */
  async commitOnto(input: {
    readonly parent: string;
    readonly parentTree: string;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly treeSha: string; readonly at: EpochMs }> {
    const { parent, parentTree, files, message } = input;
    const tree = await this.#repository.client.data((octokit) =>
      octokit.rest.git.createTree({
        ...this.#repository.where,
        base_tree: parentTree,
        tree: files.map(({ path, mode, text }) => ({
          path,
          mode: mode === EXECUTABLE ? EXECUTABLE : PLAIN_FILE,
          type: 'blob' as const,
          content: text,
        })),
      }),
    );
    const commit = await this.#repository.client.data((octokit) =>
      octokit.rest.git.createCommit({ ...this.#repository.where, message, tree: tree.sha, parents: [parent] }),
    );
    return { sha: commit.sha, treeSha: tree.sha, at: moment(commit.committer.date) };
  }
}

function requiresChecks(branch: Responses['repos']['getBranch']['response']['data']): boolean {
  const required = branch.protection?.required_status_checks;
  return (required?.contexts?.length ?? 0) > 0 || (required?.checks?.length ?? 0) > 0;
}

type RuleData = Responses['repos']['getBranchRules']['response']['data'][number];

function asksForChecks(rule: RuleData): boolean {
  return rule.type === 'required_status_checks' && (rule.parameters?.required_status_checks.length ?? 0) > 0;
}

function asksForReviews(rule: RuleData): boolean {
  return rule.type === 'pull_request' && (rule.parameters?.required_approving_review_count ?? 0) > 0;
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
