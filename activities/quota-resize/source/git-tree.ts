/** A repository at one commit of its base branch, read lazily, with edits in memory on top. */
import type { FileEdit, TreeSnapshot } from '../../../domain/quota-resize/git/locate/location/location.ts';
import type {
  QuestionKind,
  TreeAnswer,
  TreeQuestion,
} from '../../../domain/quota-resize/git/locate/question/question.ts';
import { chooseFiles, LEAST_FILE_BYTES, type UnreadFile } from '../../../domain/quota-resize/git/locate/tree/unread.ts';
import { type BaseBranch, type FileChange, type Forge, PLAIN_FILE } from '../../forge/forge.ts';
import { type ContentReader, contentReader, isMissingFiles } from './content/content-reader.ts';
import type { TookTooMuch } from './content/content-thread.ts';
import { ContentTooCostlyError, Lookup } from './content/lookup.ts';
import { filesOf, type GitFiles } from './git-files.ts';
import { readAhead } from './read-ahead.ts';

export class GitTree {
  readonly forge: Forge;
  readonly base: BaseBranch;
  readonly #entries: GitFiles['entries'];
  readonly #lookup: Lookup;
  // Both objects are replaced as rarely as possible: callers cache parsed results by their identity.
  #paths: readonly string[];
  readonly #texts = new Map<string, string | null>();
  readonly #unread: Map<string, UnreadFile>;
  /** New texts of edited files, by path. */
  readonly #edited = new Map<string, string>();

  private constructor(forge: Forge, base: BaseBranch, { files, lookup }: { files: GitFiles; lookup: Lookup }) {
    this.forge = forge;
    this.base = base;
    this.#entries = files.entries;
    this.#paths = files.paths;
    this.#unread = new Map(files.unread);
    this.#lookup = lookup;
  }

  static async open(forge: Forge, base: BaseBranch, lookup: Lookup): Promise<GitTree> {
    const files = filesOf(await forge.files.entriesBelow(base.treeSha, ''));
    return new GitTree(forge, base, { files, lookup });
  }

  /** `acme/gitops at main` */
  get name(): string {
    return `${this.forge.repository} at ${this.base.name}`;
  }

  get snapshot(): TreeSnapshot {
    return { paths: this.#paths, texts: this.#texts, unread: this.#unread };
  }

  /**
   * Has a question answered in a thread, reading the files that it needs. A file that takes too much is left out from
   * then on; an edit cannot do without its files.
   *
   * @throws {ContentTooCostlyError} when too much was taken for any answer.
   */
  async ask<Kind extends QuestionKind>(question: TreeQuestion<Kind>): Promise<TreeAnswer<Kind>> {
    const asked = new Set<string>();
    for (;;) {
      const outcome = await this.#lookup.ask(this.snapshot, question as TreeQuestion);
      if (outcome.kind === 'tooMuch') {
        this.#leaveOut(outcome, question.kind !== 'edit');
        continue;
      }
      const { answer } = outcome;
      if (!isMissingFiles(answer)) return answer as TreeAnswer<Kind>;
      const missing = answer.paths.filter((path) => !asked.has(path));
      if (missing.length === 0) throw new Error(`asked twice for ${answer.paths.join(', ')} of ${this.name}`);
      for (const path of missing) asked.add(path);
      await this.#read(missing);
    }
  }

  #leaveOut(outcome: TookTooMuch, mayBeLeftOut: boolean): void {
    const { path } = outcome;
    const why = this.#lookup.reader.reasonOf(outcome);
    const blobSha = path === null ? undefined : this.#entries.get(path)?.sha;
    if (path === null || !this.#lookup.hasCulprit(outcome) || blobSha === undefined) {
      throw new ContentTooCostlyError(path ?? this.name, why, 'together with other files');
    }
    this.#lookup.reader.remember(blobSha, why);
    if (!mayBeLeftOut || !this.#lookup.mayGoOn) throw new ContentTooCostlyError(path, why);
    this.#unread.set(path, why);
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
    const { limits } = this.forge.files;
    const affordable = paths.filter((path) => {
      const why = this.#lookup.reader.costOf(this.#entries.get(path)?.sha ?? '');
      if (why !== undefined) this.#unread.set(path, why);
      return why === undefined;
    });
    const { read, unread, bytes } = chooseFiles(
      affordable.map((path) => ({ path, size: this.#entries.get(path)?.size })),
      this.#lookup.bytes,
      limits,
      LEAST_FILE_BYTES,
    );
    this.#lookup.bytes = bytes;
    for (const [path, why] of unread) this.#unread.set(path, why);
    const ahead = entriesOf(readAhead(this.#paths, read)).filter(({ size = 0 }) => size <= limits.fileBytes);
    const texts = await this.forge.files.fileTexts(entriesOf(read), ahead);
    for (const path of read) {
      const entry = this.#entries.get(path);
      this.#texts.set(path, entry === undefined ? null : (texts.get(entry.sha) ?? null));
    }
  }
}

/** The trees opened by one observation, so that all of it sees the same commits. */
export class GitTrees {
  readonly #opened = new Map<string, Promise<GitTree>>();
  readonly #lookup: Lookup;

  constructor(reader: ContentReader = contentReader) {
    this.#lookup = new Lookup(reader);
  }

  /** The tree of a base; later calls for the same branch return the same tree. */
  async at(forge: Forge, base: BaseBranch): Promise<GitTree> {
    const key = `${forge.repository} ${base.name}`;
    const opened = this.#opened.get(key) ?? GitTree.open(forge, base, this.#lookup);
    this.#opened.set(key, opened);
    return await opened;
  }
}
