/** A repository at one commit of its base branch, read lazily, with edits in memory on top. */
import type {
  FileEdit,
  TreeSnapshot,
  MissingFiles,
} from '../../../domain/quota-resize/git/locate/location/location.ts';
import { type BaseBranch, type FileChange, type Forge, PLAIN_FILE, type TreeEntry } from '../../forge/forge.ts';
import { readAhead } from './read-ahead.ts';

interface Files {
  readonly entries: ReadonlyMap<string, TreeEntry>;
  readonly paths: readonly string[];
}

/** Cached by the tree's listing: a tree of 25,000 files is indexed once. */
const filesOfListing = new WeakMap<readonly TreeEntry[], Files>();

function filesOf(listing: readonly TreeEntry[]): Files {
  const snapshot = filesOfListing.get(listing);
  if (snapshot !== undefined) return snapshot;
  const entries = new Map(listing.filter(({ type }) => type === 'blob').map((entry) => [entry.path, entry]));
  const files = { entries, paths: [...entries.keys()].toSorted() };
  filesOfListing.set(listing, files);
  return files;
}

export class GitTree {
  readonly forge: Forge;
  readonly base: BaseBranch;
  readonly #entries: ReadonlyMap<string, TreeEntry>;
  // Both objects are replaced as rarely as possible: callers cache parsed results by their identity.
  #paths: readonly string[];
  readonly #texts = new Map<string, string | null>();
  /** New texts of edited files, by path. */
  readonly #edited = new Map<string, string>();

  private constructor(forge: Forge, base: BaseBranch, { entries, paths }: Files) {
    this.forge = forge;
    this.base = base;
    this.#entries = entries;
    this.#paths = paths;
  }

  static async open(forge: Forge, base: BaseBranch): Promise<GitTree> {
    return new GitTree(forge, base, filesOf(await forge.files.entriesBelow(base.treeSha, '')));
  }

  /** `acme/gitops at main` */
  get name(): string {
    return `${this.forge.repository} at ${this.base.name}`;
  }

  get snapshot(): TreeSnapshot {
    return { paths: this.#paths, texts: this.#texts };
  }

  /**
   * Repeats a question, reading the files that it needs, until it needs no more.
   *
   * @param ask must be deterministic for the same files.
   */
  async answer<T extends { readonly kind: string }>(
    ask: (tree: TreeSnapshot) => T | MissingFiles,
  ): Promise<Exclude<T, MissingFiles>> {
    const asked = new Set<string>();
    for (;;) {
      const answer = ask(this.snapshot);
      if (!isMissingFiles(answer)) return answer as Exclude<T, MissingFiles>;
      const missing = answer.paths.filter((path) => !asked.has(path));
      if (missing.length === 0) throw new Error(`asked twice for ${answer.paths.join(', ')} of ${this.name}`);
      for (const path of missing) asked.add(path);
      await this.#read(missing);
    }
  }

  /** Adds edits: later questions see them. */
  apply(edits: readonly FileEdit[]): void {
    for (const { path, after } of edits) {
      this.#edited.set(path, after);
      this.#texts.set(path, after);
    }
    const added = edits.map(({ path }) => path).filter((path) => !this.#paths.includes(path));
    if (added.length > 0) this.#paths = [...this.#paths, ...added].toSorted();
  }

  /** All files that differ from Git. */
  changes(): readonly FileChange[] {
    return [...this.#edited].map(([path, text]) => {
      const entry = this.#entries.get(path);
      return { path, text, mode: entry?.mode ?? PLAIN_FILE, blobSha: entry?.sha ?? null };
    });
  }

  async #read(paths: readonly string[]): Promise<void> {
    const entriesOf = (some: readonly string[]) => some.flatMap((path) => this.#entries.get(path) ?? []);
    const texts = await this.forge.files.fileTexts(entriesOf(paths), entriesOf(readAhead(this.#paths, paths)));
    for (const path of paths) {
      const entry = this.#entries.get(path);
      this.#texts.set(path, entry === undefined ? null : (texts.get(entry.sha) ?? null));
    }
  }
}

function isMissingFiles(answer: { readonly kind: string }): answer is MissingFiles {
  return answer.kind === 'missingFiles';
}

/** The trees opened by one observation, so that all of it sees the same commits. */
export class GitTrees {
  readonly #opened = new Map<string, Promise<GitTree>>();

  /** The tree of a base; later calls for the same branch return the same tree. */
  async at(forge: Forge, base: BaseBranch): Promise<GitTree> {
    const key = `${forge.repository} ${base.name}`;
    const opened = this.#opened.get(key) ?? GitTree.open(forge, base);
    this.#opened.set(key, opened);
    return await opened;
  }
}
