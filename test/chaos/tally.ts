/** There is nothing just now that the action could be done to; the message says what is missing. */
export class NothingToDo extends Error {}

type Outcome = 'done' | 'nothing to do' | 'in vain';

/** How often each kind of action came about, so that a run in which one never did is not taken for a proof of anything. */
export class Tally {
  readonly #counts = new Map<string, Record<Outcome, number>>();

  constructor(kinds: Iterable<string>) {
    for (const kind of kinds) this.#counts.set(kind, { done: 0, 'nothing to do': 0, 'in vain': 0 });
  }

  /** Counts an action, and returns what the log shows of it beside its name. Never rejects. */
  async count(kind: string, action: Promise<string | void>): Promise<string> {
    const [outcome, detail] = await action.then(
      (message): [Outcome, string] => ['done', message ?? ''],
      (error: unknown): [Outcome, string] => {
        const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
        return error instanceof NothingToDo ? ['nothing to do', message] : ['in vain', `in vain: ${message}`];
      },
    );
    const counts = this.#counts.get(kind);
    if (counts === undefined) throw new Error(`there is no kind "${kind}"`);
    counts[outcome] += 1;
    return detail;
  }

  /** The kinds of which none has succeeded yet. */
  get missing(): readonly string[] {
    return [...this.#counts].filter(([, { done }]) => done === 0).map(([kind]) => kind);
  }

  lines(): readonly string[] {
    return [...this.#counts].map(
      ([kind, counts]) =>
        `${kind}: ${counts.done} done, ${counts['nothing to do']} with nothing to do, ${counts['in vain']} in vain`,
    );
  }
}
