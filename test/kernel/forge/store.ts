import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isoSeconds } from './git/objects.ts';
import type { ForgeState } from './model.ts';

const FILE = 'headroom-forge.json';
const FIRST_ID = 1001;

/**
 * The forge's own state, in memory and in a JSON file inside the bare repository. `save()` resolves once everything
 * changed before it is on disk; calls that come while a write is under way share the next one.
 */
export class Store {
  readonly state: ForgeState;
  readonly #path: string;
  readonly #signed: Set<string>;
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  private constructor(path: string, state: ForgeState) {
    this.#path = path;
    this.state = state;
    this.#signed = new Set(state.signedCommits);
  }

  /**
   * @param idsFrom what the ids of a repository that is new to the forge begin after
   * @throws Error when the file is there but cannot be understood
   */
  static async open(gitDir: string, idsFrom = 0): Promise<Store> {
    const path = join(gitDir, FILE);
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch {
      return new Store(path, { ...emptyState(), nextId: idsFrom + FIRST_ID });
    }
    let state: Partial<ForgeState>;
    try {
      state = JSON.parse(text) as Partial<ForgeState>;
    } catch (cause) {
      throw new Error(`${path} is not JSON; move it away to start without its pull requests`, { cause });
    }
    if (state.version !== 1) {
      throw new Error(
        `${path} has version ${state.version}, and this forge reads version 1; move it away to start anew`,
      );
    }
    const whole = { ...emptyState(), ...state };
    for (const pull of whole.pulls) pull.requestedTeams ??= [];
    return new Store(path, whole);
  }

  /** A new id, unique among everything of this repository. */
  nextId(): number {
    return this.state.nextId++;
  }

  /** Remembers a commit that GitHub itself made, and signs. */
  sign(sha: string): void {
    if (this.isSigned(sha)) return;
    this.state.signedCommits.push(sha);
    this.#signed.add(sha);
  }

  isSigned(sha: string): boolean {
    return this.#signed.has(sha);
  }

  async save(): Promise<void> {
    if (!this.#writing) {
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined;
      });
      return this.#writing;
    }
    this.#next ??= this.#writing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.save();
      });
    return this.#next;
  }

  async #write(): Promise<void> {
    const aside = `${this.#path}.new`;
    await writeFile(aside, JSON.stringify(this.state));
    await rename(aside, this.#path);
  }
}

function emptyState(): ForgeState {
  const now = isoSeconds(new Date());
  return {
    version: 1,
    createdAt: now,
    pushedAt: now,
    nextNumber: 1,
    nextId: FIRST_ID,
    pulls: [],
    reviews: [],
    comments: [],
    labels: [],
    checkRuns: [],
    statuses: [],
    protections: {},
    mergeSettings: { methods: ['merge', 'squash', 'rebase'] },
    hooks: [],
    signedCommits: [],
  };
}
