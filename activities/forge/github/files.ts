/** The base branch of a repository on GitHub, and its files. */
import type { ReadLimits } from '../../../domain/kernel/forge.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { failure } from '../../kernel/failure.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import type { Alongside, BaseBranch, BlobEntry, ForgeFiles, MissingBase, OpenBranch, TreeEntry } from '../forge.ts';
import { type BranchTip, readBaseAlongside, readBlobTexts, readDefaultBranch } from './graphql.ts';
import { listOwnOpen } from './own-by-rest.ts';
import { type GitHubRepository, wholeTreeKey } from './repository.ts';

/** Blobs per GraphQL query: far below the limits for nodes and time. */
const MAX_QUERY_BLOBS = 100;
const MAX_QUERY_BYTES = 2_000_000;
/** GraphQL truncates longer texts. */
const MAX_GRAPHQL_BLOB_BYTES = 500_000;
/** Files read in parallel; GitHub allows 100 concurrent requests per account. */
const BLOBS_AT_ONCE = 8;

/** Files of a namespace that are read together with the base branch. */
const MAX_EXPECTED = 20;
const MAX_EXPECTED_BYTES = 200_000;

/** How long open pull requests are stored that were read with a base, in milliseconds. */
const KEPT_MS = 60_000;

export class GitHubFiles implements ForgeFiles {
  readonly limits: ReadLimits;
  readonly #repository: GitHubRepository;
  readonly #bases = new Map<string, { readonly at: EpochMs; readonly branch: BaseBranch }>();
  /** By the beginning of the branches' names. */
  readonly #ownOpen = new Map<
    string,
    { readonly at: EpochMs; readonly branches: readonly OpenBranch[]; readonly names: ReadonlySet<string> | null }
  >();
  /** The tree of each base branch when it was last read. */
  readonly #lastTrees = new Map<string, string>();
  #defaultBranch: string | undefined;
  /** The whole tree that was listed last. */
  #listed = '';

  constructor(repository: GitHubRepository) {
    this.#repository = repository;
    this.limits = repository.limits;
  }

  async base(maxAgeMs = 0, ref?: string, alongside?: Alongside): Promise<BaseBranch | MissingBase> {
    const asked = ref ?? this.#repository.configuredBase ?? '';
    const cached = this.#bases.get(asked);
    if (cached !== undefined && Date.now() - cached.at <= maxAgeMs) return cached.branch;
    const name = asked === '' ? this.#defaultBranch : asked;
    const at = Date.now();
    const found = alongside === undefined ? null : await this.#readAlongside(name, asked, alongside);
    const branch = found ?? (name === undefined ? await this.#readDefaultBranch() : await this.#readBranch(name, ref));
    // Of two concurrent reads, the one that was sent later is more recent, whichever response arrives first.
    if (branch.kind === 'branch' && at >= (this.#bases.get(asked)?.at ?? 0)) {
      this.#bases.set(asked, { at, branch });
      this.#lastTrees.set(asked, branch.treeSha);
    }
    return branch;
  }

  /** @param ref equal to `name` if the caller asked for this branch. */
  async #readBranch(name: string, ref: string | undefined): Promise<BaseBranch | MissingBase> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.repos.getBranch({ ...this.#repository.where, branch: name }),
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
    return { kind: 'missing', what: 'branch', message: `${this.#repository.name} has no branch "${name}"; ${remedy}` };
  }

  async ownOpen(beginning: string, maxAgeMs: number): Promise<readonly OpenBranch[]> {
    const cached = this.#ownOpen.get(beginning);
    if (cached !== undefined && Date.now() - cached.at <= maxAgeMs) return cached.branches;
    const asked = this.#repository.configuredBase ?? '';
    await this.#readAlongside(asked === '' ? this.#defaultBranch : asked, asked, { beginning });
    if (!this.#repository.client.hasGraphQl) {
      const at = Date.now();
      this.#ownOpen.set(beginning, { at, branches: await listOwnOpen(this.#repository, beginning), names: null });
    }
    return this.#ownOpen.get(beginning)?.branches ?? [];
  }

  /** Whether a list of a moment ago has all branches of this beginning, and not this one. */
  isAbsent(branch: string, beginning: string, maxAgeMs: number): boolean {
    const listed = beginning === '' ? undefined : this.#ownOpen.get(beginning);
    return listed?.names?.has(branch) === false && Date.now() - listed.at <= maxAgeMs;
  }

  /** Must be called when a branch is made that may be in a list. */
  forgetBranches(branch: string): void {
    for (const beginning of this.#ownOpen.keys()) if (branch.startsWith(beginning)) this.#ownOpen.delete(beginning);
  }

  /**
   * A base branch, the default branch without a name, while the open pull requests from branches of that beginning are
   * stored; null where the base has to be read by itself, which says what is wrong.
   */
  async #readAlongside(
    name: string | undefined,
    asked: string,
    { beginning, path }: Alongside,
  ): Promise<BaseBranch | null> {
    const at = Date.now();
    const blobs = path === undefined ? [] : this.#expectedBelow(asked, path);
    const answer = await readBaseAlongside(this.#repository.client, name, { beginning, blobs });
    // Only for a moment, and for each quota that is written about: those of earlier ones are not needed any more.
    for (const [key, stored] of this.#ownOpen) if (at - stored.at > KEPT_MS) this.#ownOpen.delete(key);
    this.#ownOpen.delete(beginning);
    if (!answer.ok) return null;
    const { base, id, texts, ownOpen, branches: names } = answer.data;
    this.#ownOpen.set(beginning, { at, branches: ownOpen, names });
    this.#repository.nodeId = id;
    for (const text of texts) this.#repository.objects.noteText(text);
    if (base === null) return null;
    if (name === undefined) this.#defaultBranch = base.name;
    return branchOf(base);
  }

  /** The files below a path that were not read yet, as the branch was last; none where they are too many. */
  #expectedBelow(asked: string, path: string): readonly string[] {
    const { objects } = this.#repository;
    const entries = objects.wholeTree(this.#lastTrees.get(asked) ?? '') ?? [];
    const unread = entries.filter(
      (entry) =>
        entry.type === 'blob' &&
        (entry.path === path || entry.path.startsWith(`${path}/`)) &&
        /\.ya?ml$/.test(entry.path) &&
        !objects.blobs.has(entry.sha),
    );
    const bytes = unread.reduce((sum, { size = MAX_EXPECTED_BYTES }) => sum + size, 0);
    return unread.length > MAX_EXPECTED || bytes > MAX_EXPECTED_BYTES ? [] : unread.map(({ sha }) => sha);
  }

  async #readDefaultBranch(): Promise<BaseBranch | MissingBase> {
    const answer = await readDefaultBranch(this.#repository.client);
    if (!answer.ok) return answer.type === 'ABSENT' ? await this.#defaultBranchByRest() : this.#missingRepository();
    const found = answer.data.repository.base;
    if (found === null) return this.#missingCommit();
    this.#defaultBranch = found.name;
    return branchOf(found);
  }

  async #defaultBranchByRest(): Promise<BaseBranch | MissingBase> {
    const { client, where } = this.#repository;
    const answer = await client.answer([404], (octokit) => octokit.rest.repos.get(where));
    if (!answer.ok) return this.#missingRepository();
    const name = answer.data.default_branch;
    const found = await this.#readBranch(name, undefined);
    if (found.kind === 'missing') return found.what === 'branch' ? this.#missingCommit() : found;
    this.#defaultBranch = name;
    return found;
  }

  #missingCommit(): MissingBase {
    const message = `${this.#repository.name} has no commit yet; push the manifests of its quotas`;
    return { kind: 'missing', what: 'commit', message };
  }

  /** Must be called when the base branches have moved (by a merge) or were deleted. */
  forgetBase(): void {
    this.#bases.clear();
  }

  #missingRepository(): MissingBase {
    return {
      kind: 'missing',
      what: 'repository',
      message: `GitHub shows no repository ${this.#repository.name} to this token; check GITHUB_OWNER, GITHUB_REPO, GITHUB_REPOSITORIES and GITHUB_API_URL, and that the token may read it`,
    };
  }

  /** All entries at and below a path of a tree, with full paths; folders too big for one response are walked. */
  async entriesBelow(treeSha: string, path: string): Promise<readonly TreeEntry[]> {
    const whole = await this.#tree(treeSha, true);
    if (whole !== null) {
      return path === '' ? whole : whole.filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
    }
    // The tree is truncated: go down to the path first, so that only entries below it are listed.
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

  /** @throws {ApplicationFailure} ForgeRejected for a folder that GitHub does not list completely. */
  async #children(sha: string, folder: string): Promise<readonly TreeEntry[]> {
    const children = await this.#tree(sha, false);
    if (children !== null) return children;
    throw failure({
      type: 'ForgeRejected',
      message: `GitHub does not list all entries of ${folder === '' ? 'the root' : `the folder "${folder}"`} of ${this.#repository.name}: it has too many for one answer, and what is in it cannot be told with certainty; spread them over several folders`,
      nonRetryable: true,
    });
  }

  /** Null when GitHub truncated the listing. */
  async #tree(sha: string, recursive: boolean): Promise<readonly TreeEntry[] | null> {
    return this.#repository.objects.trees.get(recursive ? wholeTreeKey(sha) : sha, async () => {
      const data = await this.#repository.client.data((octokit) =>
        octokit.rest.git.getTree({
          ...this.#repository.where,
          tree_sha: sha,
          ...(recursive ? { recursive: '1' } : {}),
        }),
      );
      if (data.truncated) return null;
      const entries = data.tree.map(({ path, mode, type, sha, size }) => ({ path, mode, type, sha, size }));
      if (!recursive) return entries;
      const shared = this.#repository.objects.sharing(entries, this.#listed);
      this.#listed = sha;
      return shared;
    });
  }

  /** The text of a file by its blob; null when it is not UTF-8. A byte order mark stays in the text. */
  async fileText(sha: string): Promise<string | null> {
    return this.#repository.objects.blobs.get(sha, () => this.#readBlob(sha));
  }

  async #readBlob(sha: string): Promise<string | null> {
    const { content } = await this.#repository.client.data((octokit) =>
      octokit.rest.git.getBlob({ ...this.#repository.where, file_sha: sha }),
    );
    return decodeText(content);
  }

  /**
   * The texts of files by their blobs, as `fileText`; blobs that are not cached are read with as few requests as
   * possible.
   *
   * @param ahead files that may be needed next: they fill up a request that is made anyway.
   */
  async fileTexts(
    files: readonly BlobEntry[],
    ahead: readonly BlobEntry[] = [],
  ): Promise<ReadonlyMap<string, string | null>> {
    const sizes = new Map(files.map(({ sha, size }) => [sha, size]));
    return await this.#repository.objects.blobs.getAll([...sizes.keys()], async (missing) => {
      const asked = missing.map((sha) => ({ sha, size: sizes.get(sha) }));
      const more = ahead.filter(({ sha }) => !sizes.has(sha) && !this.#repository.objects.blobs.has(sha));
      const texts = new Map<string, string | null>(await this.#textsAtOnce(asked, more));
      const left = missing.filter((sha) => !texts.has(sha));
      const single = await inParallel(BLOBS_AT_ONCE, left, (sha) => this.#readBlob(sha));
      left.forEach((sha, index) => texts.set(sha, single[index] ?? null));
      return texts;
    });
  }

  /** The texts that GraphQL returns for these blobs; none when a REST request for a single blob does as well. */
  async #textsAtOnce(asked: readonly BlobEntry[], more: readonly BlobEntry[]): Promise<ReadonlyMap<string, string>> {
    const whole = asked.filter(({ size }) => (size ?? 0) <= MAX_GRAPHQL_BLOB_BYTES);
    if (whole.length === 0 || whole.length + more.length < 2) return new Map();
    const texts = new Map<string, string>();
    for (const shas of blobQueries(whole, more)) {
      const answer = await readBlobTexts(this.#repository.client, shas);
      // A credential without access to GraphQL may still read by REST.
      if (!answer.ok) break;
      for (const [sha, text] of answer.data) texts.set(sha, text);
    }
    return texts;
  }

  /** A file at a branch or commit; null when there is none. Its text is also null when it is too large. */
  async fileAt(path: string, ref: string): Promise<{ readonly sha: string; readonly text: string | null } | null> {
    const answer = await this.#repository.client.answer([404], (octokit) =>
      octokit.rest.repos.getContent({ ...this.#repository.where, path, ref }),
    );
    if (!answer.ok || Array.isArray(answer.data) || answer.data.type !== 'file') return null;
    const { sha, content, encoding, size } = answer.data;
    if (size > this.limits.fileBytes) return { sha, text: null };
    // GitHub omits the content of files above 1 MB.
    const here = encoding === 'base64' && (content !== '' || size === 0);
    return { sha, text: here ? decodeText(content) : await this.fileText(sha) };
  }
}

function branchOf({ name, target: { oid, tree } }: BranchTip): BaseBranch {
  return { kind: 'branch', name, sha: oid, treeSha: tree.oid };
}

/** Splits the blobs into queries; `more` only fills up the last one. */
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

function decodeText(base64: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return null;
  }
}
