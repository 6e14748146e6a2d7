/**
 * One GitOps repository on GitHub: its base branch and files, branches, pull requests and checks, in the terms of this
 * product. Every method throws the failures of the client for whatever it does not name as an outcome.
 */
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { ObjectCache } from './cache.ts';
import { failure } from '../../kernel/failure.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { GitHubClient } from './client.ts';
import { commitOnBranch, readBlobTexts, readDefaultBranch } from './graphql.ts';

type Responses = RestEndpointMethodTypes;
type PullData = Responses['pulls']['get']['response']['data'];
type ListedPullData = Responses['pulls']['list']['response']['data'][number];

/** The base branch at one commit. */
export interface BaseBranch {
  readonly kind: 'branch';
  readonly name: string;
  readonly sha: string;
  readonly treeSha: string;
}

export interface MissingBase {
  readonly kind: 'missing';
  /** A repository may be there and not be shown; one without any commit has no branch. */
  readonly what: 'repository' | 'branch' | 'commit';
  /** A sentence: what is missing, and what would be right. */
  readonly message: string;
}

export interface TreeEntry {
  readonly path: string;
  /** Six digits: 100644 for a file. */
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  /** In bytes; absent for folders. */
  readonly size?: number | undefined;
}

export type BlobEntry = Pick<TreeEntry, 'sha' | 'size'>;

export interface Commit {
  readonly sha: string;
  readonly message: string;
  readonly parents: readonly string[];
  readonly treeSha: string;
  readonly committedAt: EpochMs;
  /** The committer's GitHub account, where there is one. */
  readonly committer: string | null;
  /** The paths that it changes against its first parent (GitHub gives 300 at most). */
  readonly files: readonly string[];
}

/** A file as a commit is to have it. */
export interface FileChange {
  readonly path: string;
  /** Six digits, as the tree has it; a new file: 100644. */
  readonly mode: string;
  /** The file as it is; null: it is new. */
  readonly blobSha: string | null;
  readonly text: string;
}

export type CommitAnswer =
  | { readonly kind: 'committed'; readonly sha: string; readonly at: EpochMs }
  /** The branch is not what it was taken for. */
  | { readonly kind: 'conflict'; readonly message: string };

export interface PullRequest {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly draft: boolean;
  readonly title: string;
  readonly body: string;
  readonly user: string | null;
  readonly headSha: string;
  readonly headRef: string;
  readonly baseRef: string;
  readonly createdAt: EpochMs;
  readonly mergedAt: EpochMs | null;
  readonly mergedBy: string | null;
  readonly mergeSha: string | null;
  /** Null while GitHub computes it. */
  readonly mergeable: boolean | null;
  readonly mergeableState: string;
  /** How many commits it has. */
  readonly commits: number;
  readonly labels: readonly string[];
  /** Who was asked to review and has not answered yet, teams by their slug. */
  readonly requestedReviewers: readonly string[];
}

export interface Checks {
  readonly total: number;
  readonly pending: readonly string[];
  readonly failing: readonly string[];
}

/** How the branch stands to a base commit. */
export interface Comparison {
  /** Commits that the base has and the branch has not. */
  readonly behind: number;
  /** Commits that the branch has and the base has not, oldest first (GitHub gives 250 at most). */
  readonly ahead: readonly { readonly sha: string; readonly message: string; readonly committedAt: EpochMs }[];
}

export type MergeAnswer =
  | { readonly kind: 'merged'; readonly sha: string }
  /** 409: the head is another one, or GitHub is in the middle of something. */
  | { readonly kind: 'moved' }
  /** 405, with GitHub's reason. */
  | { readonly kind: 'refused'; readonly message: string };

/** Entries of trees kept: a handful of repositories states of 20,000 files. */
const KEPT_TREE_ENTRIES = 400_000;
/** Characters of files kept. */
const KEPT_FILE_CHARACTERS = 64 * 1024 * 1024;
const KEPT_COMMITS = 2000;
/** An entry of a cache costs something even when its value is empty. */
const ENTRY_WEIGHT = 200;

/** Blobs in one query of GraphQL: far below its limits of nodes and of time. */
const MAX_QUERY_BLOBS = 100;
const MAX_QUERY_BYTES = 2_000_000;
/** GraphQL cuts off what is longer. */
const MAX_GRAPHQL_BLOB_BYTES = 500_000;
/** Files read at the same time; GitHub allows 100 requests at once for a whole account. */
const BLOBS_AT_ONCE = 8;

export const PLAIN_FILE = '100644';
const EXECUTABLE = '100755';

const ENDED_WELL: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

/** Trees and files by their SHA, which is the same in every repository. */
export class GitObjects {
  /** Null for a tree that GitHub cut off. */
  readonly trees = new ObjectCache<readonly TreeEntry[] | null>(KEPT_TREE_ENTRIES, (tree) => (tree?.length ?? 0) + 1);
  /** Null for a file that is not UTF-8. */
  readonly blobs = new ObjectCache<string | null>(KEPT_FILE_CHARACTERS, (text) => (text?.length ?? 0) + ENTRY_WEIGHT);
}

export interface GitHubRepositoryOptions {
  /** Of this repository. */
  readonly client: GitHubClient;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | null | undefined;
}

export class GitHub {
  readonly #client: GitHubClient;
  readonly #where: { readonly owner: string; readonly repo: string };
  readonly #configuredBase: string | null;
  readonly #objects: GitObjects;
  readonly #commits = new ObjectCache<Commit>(KEPT_COMMITS, () => 1);
  readonly #bases = new Map<string, { readonly at: EpochMs; readonly branch: BaseBranch }>();
  #defaultBranch: string | undefined;

  /** @param shared those of another repository of the same credential. */
  constructor(options: GitHubRepositoryOptions, shared?: GitObjects) {
    const { client, baseBranch } = options;
    this.#client = client;
    this.#where = { owner: client.owner, repo: client.repo };
    this.#configuredBase = baseBranch ?? null;
    this.#objects = shared ?? new GitObjects();
  }

  /** `owner/repo`. */
  get repository(): string {
    return this.#client.repository;
  }

  // The base branch and its files

  /**
   * @param maxAgeMs how old an answer of before may be; 0 asks again (for nothing of the limit when nothing changed).
   * @param ref the branch; absent: the configured one, or the repository's default.
   */
  async base(maxAgeMs = 0, ref?: string): Promise<BaseBranch | MissingBase> {
    const asked = ref ?? this.#configuredBase ?? '';
    const known = this.#bases.get(asked);
    if (known !== undefined && Date.now() - known.at <= maxAgeMs) return known.branch;
    const name = asked === '' ? this.#defaultBranch : asked;
    const at = Date.now();
    const branch = name === undefined ? await this.#readDefaultBranch() : await this.#readBranch(name, ref);
    // Of two that asked at the same time, the one that asked later knows better, whichever is answered first.
    if (branch.kind === 'branch' && at >= (this.#bases.get(asked)?.at ?? 0)) this.#bases.set(asked, { at, branch });
    return branch;
  }

  /** @param ref the same where somebody asked for this branch. */
  async #readBranch(name: string, ref: string | undefined): Promise<BaseBranch | MissingBase> {
    const answer = await this.#client.answer([404], (octokit) =>
      octokit.rest.repos.getBranch({ ...this.#where, branch: name }),
    );
    if (answer.ok) {
      const { sha, commit } = answer.data.commit;
      return { kind: 'branch', name: answer.data.name, sha, treeSha: commit.tree.sha };
    }
    this.#defaultBranch = undefined;
    if (!/branch/i.test(answer.message)) return this.#missingRepository();
    const remedy =
      ref === undefined
        ? 'name the branch to change with GITHUB_BASE_BRANCH, or leave it unset for the default branch'
        : 'a pull request can only change a branch, no tag and no commit';
    return { kind: 'missing', what: 'branch', message: `${this.repository} has no branch "${name}"; ${remedy}` };
  }

  async #readDefaultBranch(): Promise<BaseBranch | MissingBase> {
    const answer = await readDefaultBranch(this.#client);
    if (!answer.ok) return this.#missingRepository();
    const found = answer.data.repository.defaultBranchRef;
    if (found === null) {
      const message = `${this.repository} has no commit yet; push the manifests of its quotas`;
      return { kind: 'missing', what: 'commit', message };
    }
    this.#defaultBranch = found.name;
    return { kind: 'branch', name: found.name, sha: found.target.oid, treeSha: found.target.tree.oid };
  }

  /** The base branches are known to have moved (by a merge) or to be gone. */
  forgetBase(): void {
    this.#bases.clear();
  }

  #missingRepository(): MissingBase {
    return {
      kind: 'missing',
      what: 'repository',
      message: `GitHub shows no repository ${this.repository} to this token; check GITHUB_OWNER, GITHUB_REPO, GITHUB_REPOSITORIES and GITHUB_API_URL, and that the token may read it`,
    };
  }

  /** Every entry at and below a path of a tree, with whole paths; folders too big for one answer are walked. */
  async entriesBelow(treeSha: string, path: string): Promise<readonly TreeEntry[]> {
    const whole = await this.#tree(treeSha, true);
    if (whole !== null) {
      return path === '' ? whole : whole.filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
    }
    // The tree is truncated: step down to the path first, so that only what is below it is listed.
    let sha = treeSha;
    let prefix = '';
    for (const segment of path.split('/').filter((part) => part !== '')) {
      const entry = (await this.#children(sha, prefix)).find((child) => child.path === segment);
      if (entry === undefined) return [];
      prefix = `${prefix}${segment}`;
      if (entry.type !== 'tree') return prefix === path ? [{ ...entry, path }] : [];
      prefix += '/';
      sha = entry.sha;
    }
    return this.#walk(sha, prefix);
  }

  async #walk(sha: string, prefix: string): Promise<readonly TreeEntry[]> {
    const whole = await this.#tree(sha, true);
    if (whole !== null) return whole.map((entry) => ({ ...entry, path: `${prefix}${entry.path}` }));
    const found: TreeEntry[] = [];
    for (const child of await this.#children(sha, prefix)) {
      const path = `${prefix}${child.path}`;
      found.push({ ...child, path });
      if (child.type === 'tree') found.push(...(await this.#walk(child.sha, `${path}/`)));
    }
    return found;
  }

  /** @throws {ApplicationFailure} GitHubRefused for a folder of which GitHub does not list everything. */
  async #children(sha: string, folder: string): Promise<readonly TreeEntry[]> {
    const children = await this.#tree(sha, false);
    if (children !== null) return children;
    throw failure({
      type: 'GitHubRefused',
      message: `GitHub does not list all entries of ${folder === '' ? 'the root' : `the folder "${folder}"`} of ${this.repository}: it has too many for one answer, and what is in it cannot be told with certainty; spread them over several folders`,
      nonRetryable: true,
    });
  }

  /** Null when GitHub had to leave entries out of the listing. */
  async #tree(sha: string, recursive: boolean): Promise<readonly TreeEntry[] | null> {
    return this.#objects.trees.get(`${sha} ${recursive}`, async () => {
      const data = await this.#client.data((octokit) =>
        octokit.rest.git.getTree({ ...this.#where, tree_sha: sha, ...(recursive ? { recursive: '1' } : {}) }),
      );
      if (data.truncated) return null;
      return data.tree.map(({ path, mode, type, sha, size }) => ({ path, mode, type, sha, size }));
    });
  }

  /** The text of a file by its blob; null when it is not UTF-8. A byte order mark stays in the text. */
  async fileText(sha: string): Promise<string | null> {
    return this.#objects.blobs.get(sha, () => this.#readBlob(sha));
  }

  async #readBlob(sha: string): Promise<string | null> {
    const { content } = await this.#client.data((octokit) =>
      octokit.rest.git.getBlob({ ...this.#where, file_sha: sha }),
    );
    return decodeText(content);
  }

  /**
   * The texts of files by their blobs, as `fileText`: those that are not known in as few requests as possible.
   *
   * @param ahead files that may be asked for next: read along where there is something to read, and where they fit in.
   */
  async fileTexts(
    files: readonly BlobEntry[],
    ahead: readonly BlobEntry[] = [],
  ): Promise<ReadonlyMap<string, string | null>> {
    const sizes = new Map(files.map(({ sha, size }) => [sha, size]));
    return await this.#objects.blobs.getAll([...sizes.keys()], async (missing) => {
      const asked = missing.map((sha) => ({ sha, size: sizes.get(sha) }));
      const more = ahead.filter(({ sha }) => !sizes.has(sha) && !this.#objects.blobs.has(sha));
      const texts = new Map<string, string | null>(await this.#textsAtOnce(asked, more));
      const left = missing.filter((sha) => !texts.has(sha));
      const single = await inParallel(BLOBS_AT_ONCE, left, (sha) => this.#readBlob(sha));
      left.forEach((sha, index) => texts.set(sha, single[index] ?? null));
      return texts;
    });
  }

  /** What GraphQL gives of these blobs; nothing where a request for a single one is as good. */
  async #textsAtOnce(asked: readonly BlobEntry[], more: readonly BlobEntry[]): Promise<ReadonlyMap<string, string>> {
    const whole = asked.filter(({ size }) => (size ?? 0) <= MAX_GRAPHQL_BLOB_BYTES);
    if (whole.length === 0 || whole.length + more.length < 2) return new Map();
    const texts = new Map<string, string>();
    for (const shas of blobQueries(whole, more)) {
      const answer = await readBlobTexts(this.#client, shas);
      // A credential that GraphQL shows nothing to may still read by REST.
      if (!answer.ok) break;
      for (const [sha, text] of answer.data) texts.set(sha, text);
    }
    return texts;
  }

  /** A file at a branch or commit; null when there is none. */
  async fileAt(path: string, ref: string): Promise<{ readonly sha: string; readonly text: string | null } | null> {
    const answer = await this.#client.answer([404], (octokit) =>
      octokit.rest.repos.getContent({ ...this.#where, path, ref }),
    );
    if (!answer.ok || Array.isArray(answer.data) || answer.data.type !== 'file') return null;
    const { sha, content, encoding, size } = answer.data;
    // GitHub leaves the content of a file above 1 MB out of this answer.
    const here = encoding === 'base64' && (content !== '' || size === 0);
    return { sha, text: here ? decodeText(content) : await this.fileText(sha) };
  }

  /**
   * Whether the branch may only be changed after checks have passed, by its protection or by a ruleset, and whether only
   * through a merge queue, which shows in the rules however it was switched on.
   */
  async branchRules(branch: string): Promise<{ readonly requiresChecks: boolean; readonly mergeQueue: boolean }> {
    const [protection, rules] = await Promise.all([
      this.#client.answer([404], (octokit) => octokit.rest.repos.getBranch({ ...this.#where, branch })),
      // Forges without rulesets answer 404, and so does GitHub for a private repository on a plan without them.
      this.#client.answer([403, 404], (octokit) =>
        octokit.rest.repos.getBranchRules({ ...this.#where, branch, per_page: 100 }),
      ),
    ]);
    const types: readonly string[] = rules.ok ? rules.data.map(({ type }) => type) : [];
    return {
      requiresChecks: (protection.ok && requiresChecks(protection.data)) || types.includes('required_status_checks'),
      mergeQueue: types.includes('merge_queue'),
    };
  }

  // Branches and commits

  async createBranch(branch: string, sha: string): Promise<'created' | 'exists'> {
    const answer = await this.#client.answer([422], (octokit) =>
      octokit.rest.git.createRef({ ...this.#where, ref: `refs/heads/${branch}`, sha }),
    );
    if (answer.ok) return 'created';
    if (/already exists/i.test(answer.message)) return 'exists';
    // The base commit may be gone since it was seen: whoever tries again sees the new one. A rule against the branch stays.
    this.forgetBase();
    const gone = /object does not exist/i.test(answer.message);
    throw failure({
      type: gone ? 'GitHubUnavailable' : 'GitHubRefused',
      message: `GitHub did not make the branch ${branch} at ${sha} in ${this.repository}: ${answer.message}`,
      nonRetryable: !gone,
    });
  }

  /** The commit that a branch points to; null when there is no such branch. */
  async branchHead(branch: string): Promise<string | null> {
    const answer = await this.#client.answer([404], (octokit) =>
      octokit.rest.git.getRef({ ...this.#where, ref: `heads/${branch}` }),
    );
    return answer.ok ? answer.data.object.sha : null;
  }

  async moveBranch(branch: string, sha: string, force: boolean): Promise<'moved' | { readonly refused: string }> {
    const answer = await this.#client.answer([422], (octokit) =>
      octokit.rest.git.updateRef({ ...this.#where, ref: `heads/${branch}`, sha, force }),
    );
    return answer.ok ? 'moved' : { refused: answer.message };
  }

  /** True when this call deleted it; false when there was nothing to delete. */
  async deleteBranch(branch: string): Promise<boolean> {
    const answer = await this.#client.answer([404, 422], (octokit) =>
      octokit.rest.git.deleteRef({ ...this.#where, ref: `heads/${branch}` }),
    );
    return answer.ok;
  }

  /** How a branch or commit stands to a base commit; null when either does not exist. */
  async compare(base: string, head: string): Promise<Comparison | null> {
    const answer = await this.#client.answer([404], (octokit) =>
      octokit.rest.repos.compareCommitsWithBasehead({ ...this.#where, basehead: `${base}...${head}` }),
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
    return this.#commits.get(sha, async () => {
      const data = await this.#client.data((octokit) => octokit.rest.repos.getCommit({ ...this.#where, ref: sha }));
      return {
        sha: data.sha,
        message: data.commit.message,
        parents: data.parents.map((parent) => parent.sha),
        treeSha: data.commit.tree.sha,
        committedAt: moment(data.commit.committer?.date),
        committer: loginOf(data.committer),
        files: (data.files ?? []).map(({ filename }) => filename),
      };
    });
  }

  /** Changed files on a branch whose tip is `parent`, in one commit; `conflict` when the branch is somewhere else. */
  async commitFiles(input: {
    readonly branch: string;
    readonly parent: Pick<BaseBranch, 'sha' | 'treeSha'>;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<CommitAnswer> {
    const { branch, parent, files, message } = input;
    const [first, ...others] = files;
    if (first === undefined) throw new Error('a commit without a file');
    if (others.length === 0) return this.#commitFile(input, first);
    if (files.every(({ mode }) => mode === PLAIN_FILE)) return this.#commitAtOnce(input);
    // GraphQL knows no file modes.
    const commit = await this.commitOnto({ parent: parent.sha, parentTree: parent.treeSha, files, message });
    const moved = await this.moveBranch(branch, commit.sha, false);
    return moved === 'moved' ? { kind: 'committed', ...commit } : { kind: 'conflict', message: moved.refused };
  }

  async #commitFile(
    { branch, message }: { readonly branch: string; readonly message: string },
    { path, blobSha, text }: FileChange,
  ): Promise<CommitAnswer> {
    const answer = await this.#client.answer([409, 422], (octokit) =>
      octokit.rest.repos.createOrUpdateFileContents({
        ...this.#where,
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

  /** REST takes one file a commit, or a request each for tree, commit and branch; GraphQL takes them all at once. */
  async #commitAtOnce({ branch, parent, files, message }: Parameters<GitHub['commitFiles']>[0]): Promise<CommitAnswer> {
    const [headline = '', ...body] = message.split('\n');
    const answer = await commitOnBranch(this.#client, {
      branch: { repositoryNameWithOwner: this.repository, branchName: branch },
      expectedHeadOid: parent.sha,
      message: { headline, body: body.join('\n').trim() },
      fileChanges: { additions: files.map(({ path, text }) => ({ path, contents: base64(text) })) },
    });
    if (!answer.ok) return { kind: 'conflict', message: answer.message };
    const { oid, committedDate } = answer.data.createCommitOnBranch.commit;
    return { kind: 'committed', sha: oid, at: moment(committedDate) };
  }

  /** A commit with changed files on top of another commit, on no branch yet. */
  async commitOnto(input: {
    readonly parent: string;
    readonly parentTree: string;
    readonly files: readonly FileChange[];
    readonly message: string;
  }): Promise<{ readonly sha: string; readonly at: EpochMs }> {
    const { parent, parentTree, files, message } = input;
    const tree = await this.#client.data((octokit) =>
      octokit.rest.git.createTree({
        ...this.#where,
        base_tree: parentTree,
        tree: files.map(({ path, mode, text }) => ({
          path,
          mode: mode === EXECUTABLE ? EXECUTABLE : PLAIN_FILE,
          type: 'blob' as const,
          content: text,
        })),
      }),
    );
    const commit = await this.#client.data((octokit) =>
      octokit.rest.git.createCommit({ ...this.#where, message, tree: tree.sha, parents: [parent] }),
    );
    return { sha: commit.sha, at: moment(commit.committer.date) };
  }

  // Pull requests

  async pullRequest(number: number): Promise<PullRequest> {
    return pullRequestOf(
      await this.#client.data((octokit) => octokit.rest.pulls.get({ ...this.#where, pull_number: number })),
    );
  }

  /** The number of the pull request of a branch of this repository, an open one first; null when there never was one. */
  async pullRequestOfBranch(branch: string): Promise<number | null> {
    const found = await this.#client.data((octokit) =>
      octokit.rest.pulls.list({ ...this.#where, head: `${this.#where.owner}:${branch}`, state: 'all', per_page: 100 }),
    );
    const ours = found.filter((pull: ListedPullData) => pull.head.ref === branch);
    return (ours.find((pull) => pull.state === 'open') ?? ours[0])?.number ?? null;
  }

  async openPullRequest(input: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
  }): Promise<
    | { readonly kind: 'opened'; readonly pull: PullRequest }
    | { readonly kind: 'exists' }
    | { readonly kind: 'refused'; readonly message: string }
  > {
    const { branch, base, title, body } = input;
    const answer = await this.#client.answer([422], (octokit) =>
      octokit.rest.pulls.create({ ...this.#where, head: branch, base, title, body }),
    );
    if (answer.ok) return { kind: 'opened', pull: pullRequestOf(answer.data) };
    return /already exists/i.test(answer.message) ? { kind: 'exists' } : { kind: 'refused', message: answer.message };
  }

  async editPullRequest(number: number, change: { title?: string; body?: string; state?: 'closed' }): Promise<void> {
    await this.#client.data((octokit) => octokit.rest.pulls.update({ ...this.#where, pull_number: number, ...change }));
  }

  async addLabels(number: number, labels: readonly string[]): Promise<void> {
    await this.#client.data((octokit) =>
      octokit.rest.issues.addLabels({ ...this.#where, issue_number: number, labels: [...labels] }),
    );
  }

  /**
   * Asks people, and teams (`org/team`), to review.
   *
   * @returns GitHub's words where it refuses them: nobody of the list is asked then.
   */
  async requestReviewers(
    number: number,
    names: readonly string[],
  ): Promise<'requested' | { readonly refused: string }> {
    const answer = await this.#client.answer([422], (octokit) =>
      octokit.rest.pulls.requestReviewers({
        ...this.#where,
        pull_number: number,
        reviewers: names.filter((name) => !name.includes('/')),
        team_reviewers: names.filter((name) => name.includes('/')).map(teamSlug),
      }),
    );
    return answer.ok ? 'requested' : { refused: answer.message };
  }

  /** Who has reviewed a pull request. */
  async reviewersOf(number: number): Promise<readonly string[]> {
    const pages = await this.#client.pages(
      (octokit, page) => octokit.rest.pulls.listReviews({ ...this.#where, pull_number: number, ...page }),
      (reviews) => reviews.length,
    );
    return [...new Set(pages.flat().flatMap(({ user }) => loginOf(user) ?? []))];
  }

  /** The commits of a pull request, oldest first. */
  async commitsOf(number: number): Promise<Comparison['ahead']> {
    const pages = await this.#client.pages(
      (octokit, page) => octokit.rest.pulls.listCommits({ ...this.#where, pull_number: number, ...page }),
      (commits) => commits.length,
    );
    return pages
      .flat()
      .map(({ sha, commit }) => ({ sha, message: commit.message, committedAt: moment(commit.committer?.date) }));
  }

  /** The paths that a pull request changes (the first hundred). */
  async filesOf(number: number): Promise<readonly string[]> {
    const files = await this.#client.data((octokit) =>
      octokit.rest.pulls.listFiles({ ...this.#where, pull_number: number, per_page: 100 }),
    );
    return files.map(({ filename }) => filename);
  }

  async commentsOf(number: number): Promise<readonly string[]> {
    const pages = await this.#client.pages(
      (octokit, page) => octokit.rest.issues.listComments({ ...this.#where, issue_number: number, ...page }),
      (comments) => comments.length,
    );
    return pages.flat().map(({ body }) => body ?? '');
  }

  async comment(number: number, body: string): Promise<void> {
    await this.#client.data((octokit) =>
      octokit.rest.issues.createComment({ ...this.#where, issue_number: number, body }),
    );
  }

  /** Who closed a pull request; null where GitHub does not say. */
  async closedBy(number: number): Promise<string | null> {
    const answer = await this.#client.answer([404], (octokit) =>
      octokit.rest.issues.get({ ...this.#where, issue_number: number }),
    );
    return answer.ok ? loginOf(answer.data.closed_by) : null;
  }

  /** Check runs and commit statuses of a commit: GitHub keeps them apart, and a repository may have either. */
  async checks(sha: string): Promise<Checks> {
    const [runs, statuses] = await Promise.all([
      this.#client.pages(
        (octokit, page) => octokit.rest.checks.listForRef({ ...this.#where, ref: sha, ...page }),
        (data) => data.check_runs.length,
      ),
      this.#client.pages(
        (octokit, page) => octokit.rest.repos.getCombinedStatusForRef({ ...this.#where, ref: sha, ...page }),
        (data) => data.statuses.length,
      ),
    ]);
    const seen = [
      ...runs
        .flatMap((data) => data.check_runs)
        .map(({ name, status, conclusion }) => ({
          name,
          pending: status !== 'completed',
          failing: status === 'completed' && !ENDED_WELL.has(conclusion ?? ''),
        })),
      ...statuses
        .flatMap((data) => data.statuses)
        .map(({ context, state }) => ({
          name: context,
          pending: state === 'pending',
          failing: state !== 'pending' && state !== 'success',
        })),
    ];
    const names = (which: 'pending' | 'failing') =>
      [...new Set(seen.filter((check) => check[which]).map(({ name }) => name))].toSorted();
    return { total: seen.length, pending: names('pending'), failing: names('failing') };
  }

  /** Squash merge, only if the head still is `headSha`. */
  async merge(input: { number: number; headSha: string; title: string; message: string }): Promise<MergeAnswer> {
    const { number, headSha, title, message } = input;
    const answer = await this.#client.answer([405, 409], (octokit) =>
      octokit.rest.pulls.merge({
        ...this.#where,
        pull_number: number,
        sha: headSha,
        merge_method: 'squash',
        commit_title: title,
        commit_message: message,
      }),
    );
    this.forgetBase();
    if (answer.ok) return { kind: 'merged', sha: answer.data.sha };
    return answer.status === 409 ? { kind: 'moved' } : { kind: 'refused', message: answer.message };
  }
}

/** The blobs of each query; `more` only fills up the last one. */
function blobQueries(asked: readonly BlobEntry[], more: readonly BlobEntry[]): readonly (readonly string[])[] {
  const queries: string[][] = [];
  let current: string[] = [];
  let bytes = 0;
  for (const { sha, size = 0 } of asked) {
    if (current.length === 0 || current.length === MAX_QUERY_BLOBS || bytes + size > MAX_QUERY_BYTES) {
      current = [];
      queries.push(current);
      bytes = 0;
    }
    current.push(sha);
    bytes += size;
  }
  for (const { sha, size = MAX_GRAPHQL_BLOB_BYTES } of more) {
    if (current.length === 0 || current.length === MAX_QUERY_BLOBS || bytes + size > MAX_QUERY_BYTES) break;
    current.push(sha);
    bytes += size;
  }
  return queries;
}

function requiresChecks(branch: Responses['repos']['getBranch']['response']['data']): boolean {
  const required = branch.protection?.required_status_checks;
  return (required?.contexts?.length ?? 0) > 0 || (required?.checks?.length ?? 0) > 0;
}

function pullRequestOf(data: PullData): PullRequest {
  return {
    number: data.number,
    url: data.html_url,
    state: data.state,
    draft: data.draft ?? false,
    title: data.title,
    body: data.body ?? '',
    user: loginOf(data.user),
    headSha: data.head.sha,
    headRef: data.head.ref,
    baseRef: data.base.ref,
    createdAt: moment(data.created_at),
    mergedAt: data.merged_at === null ? null : moment(data.merged_at),
    mergedBy: loginOf(data.merged_by),
    mergeSha: data.merged ? data.merge_commit_sha : null,
    mergeable: data.mergeable,
    mergeableState: data.mergeable_state,
    commits: data.commits,
    labels: data.labels.map(({ name }) => name),
    requestedReviewers: [
      ...(data.requested_reviewers ?? []).map(({ login }) => login),
      ...(data.requested_teams ?? []).map(({ slug }) => slug),
    ],
  };
}

/** `quota-owners` of `platform/quota-owners`: GitHub takes a team of the repository's own organisation only. */
export function teamSlug(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function loginOf(account: object | null | undefined): string | null {
  const login = account !== null && account !== undefined && 'login' in account ? account.login : undefined;
  return typeof login === 'string' ? login : null;
}

function moment(date: string | undefined): EpochMs {
  const parsed = Date.parse(date ?? '');
  return Number.isNaN(parsed) ? Date.now() : parsed;
}

function decodeText(base64: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return null;
  }
}
