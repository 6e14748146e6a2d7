import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { CatFile, type GitObject } from './cat-file.ts';
import { git } from './command.ts';
import { DIFF_ARGUMENTS, type FileChange, parseDiff } from './diff.ts';
import {
  type Commit,
  decodeCommit,
  decodeTree,
  encodeCommit,
  encodeTree,
  entryType,
  type TreeEntry,
} from './objects.ts';
import { type StraightRelation, straightRelation } from './linear-history.ts';
import { LruCache } from './lru-cache.ts';
import { RefUpdater } from './ref-updater.ts';

const compress = promisify(deflate);

/** The old value of a ref that must not exist yet. */
export const NO_OBJECT = '0'.repeat(40);
/** The tree without entries; git knows it even when it was never written. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** One line of a recursive listing. */
export interface ListedEntry {
  readonly path: string;
  /** Six digits. */
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly sha: string;
  /** Bytes; only blobs have one. */
  readonly size?: number;
}

/** What a path becomes: another blob, or nothing. */
export type TreeChange = { readonly mode: string; readonly sha: string } | null;

export type MergeOutcome = { readonly clean: true; readonly tree: string } | { readonly clean: false };

export interface Ref {
  readonly ref: string;
  readonly sha: string;
  readonly type: string;
}

/**
 * A bare git repository. Objects are read by two long-lived `git cat-file` processes and written as loose objects; refs
 * are moved by a `git update-ref` with the old value, so that two writers never overwrite each other; merges, diffs and
 * history are git's own.
 */
export class GitRepository {
  readonly gitDir: string;
  readonly #objects: CatFile;
  readonly #names: CatFile;
  readonly #refUpdater: RefUpdater;
  readonly #commits = new LruCache<string, Commit>(20_000);
  readonly #listings = new LruCache<string, readonly ListedEntry[]>(4);
  readonly #diffs = new LruCache<string, readonly FileChange[]>(500);
  readonly #merges = new LruCache<string, MergeOutcome>(2000);
  readonly #bases = new LruCache<string, string>(2000);
  readonly #ancestry = new LruCache<string, boolean>(5000);
  readonly #between = new LruCache<string, readonly string[]>(2000);
  readonly #counts = new LruCache<string, { ahead: number; behind: number }>(2000);

  private constructor(gitDir: string) {
    this.gitDir = gitDir;
    this.#objects = new CatFile(gitDir, '--batch');
    this.#names = new CatFile(gitDir, '--batch-check');
    this.#refUpdater = new RefUpdater(gitDir);
  }

  /** Opens a bare repository. @throws Error with one sentence that says what is wrong with the path */
  static async open(gitDir: string): Promise<GitRepository> {
    try {
      await access(gitDir);
    } catch {
      throw new Error(`${gitDir} does not exist; give the path of a bare git repository (git init --bare makes one)`);
    }
    const asked = await git(gitDir, ['rev-parse', '--is-bare-repository', '--show-object-format'], {
      allowed: [0, 128],
    });
    const [bare, format] = asked.stdout.toString().trim().split('\n');
    if (asked.code !== 0) throw new Error(`${gitDir} is not a git repository: ${asked.stderr.trim()}`);
    if (bare !== 'true') throw new Error(`${gitDir} is not a bare git repository; clone it with git clone --bare`);
    if (format !== 'sha1') throw new Error(`${gitDir} uses ${format} object names; GitHub's API knows SHA-1 only`);
    return new GitRepository(gitDir);
  }

  async close(): Promise<void> {
    await Promise.all([this.#objects.close(), this.#names.close(), this.#refUpdater.close()]);
  }

  /** The branch that HEAD names, without `refs/heads/`. */
  async defaultBranch(): Promise<string> {
    const { stdout } = await git(this.gitDir, ['symbolic-ref', '--short', 'HEAD']);
    return stdout.toString().trim();
  }

  /** The object that a revision names (`refs/heads/main`, a SHA, `<sha>^{commit}`), without its content. */
  resolve(revision: string): Promise<GitObject | undefined> {
    return this.#names.read(revision);
  }

  /** The commit that a branch points to. */
  async branchTip(branch: string): Promise<string | undefined> {
    return (await this.resolve(`refs/heads/${branch}`))?.sha;
  }

  /** The commit SHA that a branch, a tag, a full ref or a (short) SHA stands for. */
  async commitSha(name: string): Promise<string | undefined> {
    // A name such as `--help` or `main~3` is a revision to git but not a ref to GitHub.
    if (/[\s~^:?*[\\]|^-|\.\.|@\{/.test(name)) return undefined;
    const candidates = [`refs/heads/${name}`, `refs/tags/${name}`];
    if (name.startsWith('heads/') || name.startsWith('tags/')) candidates.unshift(`refs/${name}`);
    if (name.startsWith('refs/') || name === 'HEAD' || /^[0-9a-f]{4,40}$/i.test(name)) candidates.push(name);
    for (const candidate of candidates) {
      const found = await this.resolve(`${candidate}^{commit}`);
      if (found) return found.sha;
    }
    return undefined;
  }

  object(sha: string): Promise<GitObject | undefined> {
    return this.#objects.read(sha);
  }

  /** @throws Error when there is no such commit */
  async commit(sha: string): Promise<Commit> {
    const existing = this.#commits.get(sha);
    if (existing) return existing;
    const found = await this.#objects.read(sha);
    if (found?.type !== 'commit') throw new Error(`there is no commit ${sha} in ${this.gitDir}`);
    const commit = decodeCommit(sha, found.content);
    this.#commits.set(sha, commit);
    return commit;
  }

  /** The entries of one tree. @throws Error when there is no such tree */
  async tree(sha: string): Promise<TreeEntry[]> {
    if (sha === EMPTY_TREE) return [];
    const found = await this.#objects.read(sha);
    if (found?.type !== 'tree') throw new Error(`there is no tree ${sha} in ${this.gitDir}`);
    return decodeTree(found.content);
  }

  /** The entry at a path below a tree; undefined when nothing is there. The empty path is the tree itself. */
  async entryAt(treeSha: string, path: string): Promise<TreeEntry | undefined> {
    let entry: TreeEntry | undefined = { mode: '40000', name: '', sha: treeSha };
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (!entry || entryType(entry.mode) !== 'tree') return undefined;
      entry = (await this.tree(entry.sha)).find((candidate) => candidate.name === name);
    }
    return entry;
  }

  /** Everything below a tree, folders included, in git's order; one process however many files there are. */
  async listTree(treeSha: string): Promise<readonly ListedEntry[]> {
    const existing = this.#listings.get(treeSha);
    if (existing) return existing;
    const { stdout } = await git(this.gitDir, ['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', treeSha]);
    const entries: ListedEntry[] = [];
    for (const line of stdout.toString().split('\0')) {
      const tab = line.indexOf('\t');
      if (tab < 0) continue;
      const [mode = '', type = '', sha = '', size = '-'] = line.slice(0, tab).split(/ +/);
      entries.push({
        path: line.slice(tab + 1),
        mode,
        type: type as ListedEntry['type'],
        sha,
        ...(size === '-' ? {} : { size: Number(size) }),
      });
    }
    this.#listings.set(treeSha, entries);
    return entries;
  }

  writeBlob(content: Buffer): Promise<string> {
    return this.#write('blob', content);
  }

  writeTree(entries: Iterable<TreeEntry>): Promise<string> {
    return this.#write('tree', encodeTree(entries));
  }

  writeCommit(commit: Omit<Commit, 'sha'>): Promise<string> {
    return this.#write('commit', encodeCommit(commit));
  }

  /** A tree with some paths changed; folders appear and vanish with their files. Returns the new tree's SHA. */
  async editTree(base: string | undefined, changes: ReadonlyMap<string, TreeChange>): Promise<string> {
    const entries = new Map((base ? await this.tree(base) : []).map((entry) => [entry.name, entry]));
    const below = new Map<string, Map<string, TreeChange>>();
    for (const [path, change] of changes) {
      const slash = path.indexOf('/');
      if (slash < 0) {
        if (change === null) entries.delete(path);
        else entries.set(path, { name: path, mode: change.mode.replace(/^0/, ''), sha: change.sha });
      } else {
        const folder = path.slice(0, slash);
        const inside = below.get(folder) ?? new Map<string, TreeChange>();
        inside.set(path.slice(slash + 1), change);
        below.set(folder, inside);
      }
    }
    for (const [folder, inside] of below) {
      const old = entries.get(folder);
      const sha = await this.editTree(old && entryType(old.mode) === 'tree' ? old.sha : undefined, inside);
      if (sha === EMPTY_TREE) entries.delete(folder);
      else entries.set(folder, { name: folder, mode: '40000', sha });
    }
    return this.writeTree(entries.values());
  }

  /** The refs below a prefix, `refs/heads/`, in order of their names. */
  async refs(prefix: string): Promise<Ref[]> {
    const { stdout } = await git(this.gitDir, ['for-each-ref', '--format=%(refname) %(objectname) %(objecttype)']);
    return stdout
      .toString()
      .split('\n')
      .filter((line) => line.startsWith(prefix))
      .map((line) => {
        const [ref = '', sha = '', type = ''] = line.split(' ');
        return { ref, sha, type };
      });
  }

  /**
   * Moves a ref, or makes it when `old` is `NO_OBJECT`.
   * @throws RefMovedError when the ref does not have the old value
   */
  async updateRef(ref: string, sha: string, old: string): Promise<void> {
    await this.#refUpdater.run(`update ${ref} ${sha} ${old}`);
  }

  /** Points a ref to an object whatever it had before. */
  async forceRef(ref: string, sha: string): Promise<void> {
    await this.#refUpdater.run(`update ${ref} ${sha}`);
  }

  /** @throws RefMovedError when the ref does not have the old value */
  async deleteRef(ref: string, old: string): Promise<void> {
    await this.#refUpdater.run(`delete ${ref} ${old}`);
  }

  /** Git's three-way merge of two commits; `clean: false` when they conflict. */
  async mergeTrees(ours: string, theirs: string): Promise<MergeOutcome> {
    return this.#remember(this.#merges, `${ours} ${theirs}`, async () => {
      const { code, stdout } = await git(
        this.gitDir,
        ['merge-tree', '--write-tree', '--name-only', '--no-messages', ours, theirs],
        { allowed: [0, 1] },
      );
      if (code === 1) return { clean: false };
      return { clean: true, tree: stdout.toString().trim() };
    });
  }

  /** The best common ancestor; undefined for histories that share nothing. */
  async mergeBase(first: string, second: string): Promise<string | undefined> {
    const found = await this.#remember(this.#bases, `${first} ${second}`, async () => {
      const straight = await this.#straight(first, second);
      if (straight) return straight.mergeBase;
      const { stdout } = await git(this.gitDir, ['merge-base', first, second], { allowed: [0, 1] });
      return stdout.toString().trim();
    });
    return found === '' ? undefined : found;
  }

  async isAncestor(ancestor: string, descendant: string): Promise<boolean> {
    if (ancestor === descendant) return true;
    return this.#remember(this.#ancestry, `${ancestor} ${descendant}`, async () => {
      const straight = await this.#straight(ancestor, descendant);
      if (straight) return straight.mergeBase === ancestor;
      const { code } = await git(this.gitDir, ['merge-base', '--is-ancestor', ancestor, descendant], {
        allowed: [0, 1],
      });
      return code === 0;
    });
  }

  /** How many commits only the head has (`ahead`) and only the base has (`behind`). */
  async distance(base: string, head: string): Promise<{ ahead: number; behind: number }> {
    return this.#remember(this.#counts, `${base} ${head}`, async () => {
      const straight = await this.#straight(base, head);
      if (straight) return { ahead: straight.ahead.length, behind: straight.behind };
      const { stdout } = await git(this.gitDir, ['rev-list', '--left-right', '--count', `${base}...${head}`]);
      const [behind = '0', ahead = '0'] = stdout.toString().trim().split('\t');
      return { ahead: Number(ahead), behind: Number(behind) };
    });
  }

  /** The commits that the head has and the base has not, oldest first. */
  async commitsBetween(base: string, head: string): Promise<readonly string[]> {
    return this.#remember(this.#between, `${base} ${head}`, async () => {
      const straight = await this.#straight(base, head);
      return straight?.ahead ?? this.log(head, { from: base, oldestFirst: true });
    });
  }

  /** The commits that `to` has and `from` has not (all of `to` without `from`), newest first unless `oldestFirst`. */
  async log(
    to: string,
    {
      from,
      path,
      skip = 0,
      limit,
      oldestFirst = false,
    }: { from?: string; path?: string; skip?: number; limit?: number; oldestFirst?: boolean } = {},
  ): Promise<string[]> {
    const { stdout } = await git(this.gitDir, [
      'rev-list',
      '--topo-order',
      ...(oldestFirst ? ['--reverse'] : []),
      `--skip=${skip}`,
      ...(limit === undefined ? [] : [`--max-count=${limit}`]),
      to,
      ...(from ? [`^${from}`] : []),
      '--',
      ...(path ? [path] : []),
    ]);
    return stdout.toString().split('\n').filter(Boolean);
  }

  /** The files that differ from one commit (or, without one, the empty tree) to another, renames found. */
  async diff(from: string | undefined, to: string): Promise<readonly FileChange[]> {
    return this.#remember(this.#diffs, `${from} ${to}`, async () => {
      const { stdout } = await git(this.gitDir, [...DIFF_ARGUMENTS, from ?? EMPTY_TREE, to]);
      return parseDiff(stdout);
    });
  }

  /** The same difference as one patch text. */
  async diffText(from: string | undefined, to: string): Promise<string> {
    const { stdout } = await git(this.gitDir, ['diff-tree', '-r', '-M', '-p', from ?? EMPTY_TREE, to]);
    return stdout.toString();
  }

  #straight(base: string, head: string): Promise<StraightRelation | undefined> {
    return straightRelation(base, head, (sha) => this.commit(sha));
  }

  async #remember<V>(cache: LruCache<string, V>, key: string, compute: () => Promise<V>): Promise<V> {
    const existing = cache.get(key);
    if (existing !== undefined) return existing;
    const value = await compute();
    cache.set(key, value);
    return value;
  }

  async #write(type: string, content: Buffer): Promise<string> {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const sha = createHash('sha1').update(whole).digest('hex');
    if (await this.resolve(sha)) return sha;
    const folder = join(this.gitDir, 'objects', sha.slice(0, 2));
    await mkdir(folder, { recursive: true });
    // Written aside and renamed, so that a reader never sees half an object.
    const aside = join(folder, `tmp_obj_${randomUUID()}`);
    await writeFile(aside, await compress(whole), { mode: 0o444 });
    await rename(aside, join(folder, sha.slice(2)));
    return sha;
  }
}
