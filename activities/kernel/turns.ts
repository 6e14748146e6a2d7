import { AsyncLocalStorage } from 'node:async_hooks';
import type { MonotonicMs } from '../../domain/kernel/time.ts';

export interface TurnsOptions {
  /** How many workflows are worked on at once. */
  readonly most: number;
  /** So many at first, and one more for each turn that ends: while many begin, the machine has much else to do. */
  readonly first: number;
  /**
   * Milliseconds without an activity of its own after which a workflow loses its turn: its next step comes within that time, or it has
   * come to rest.
   */
  readonly graceMs: number;
  /** Milliseconds after which a turn ends whatever its workflow does: one with much to read must not hold up the others. */
  readonly longestMs: number;
  /** Milliseconds after which a workflow does not wait for a turn any longer. */
  readonly patienceMs: number;
  /** So many activities may wait, as each occupies one of the worker's slots. The next ones do not wait. */
  readonly mostWaiting: number;
}

/** The turn of the workflow that the activity belongs to. */
interface Turn {
  readonly take: () => Promise<void>;
  readonly end: () => void;
}

const current = new AsyncLocalStorage<Turn>();

/** An activity that waits for the turn of its workflow. */
interface Waiting {
  readonly workflow: string;
  readonly go: () => void;
}

/** Waits until it is the turn of the activity's workflow; at once where the worker gives no turns. */
export async function takeTurn(): Promise<void> {
  await current.getStore()?.take();
}

/** What the workflow does next can wait until others have had their turn. */
export function endTurn(): void {
  current.getStore()?.end();
}

/**
 * Lets a process finish what it has begun before it begins more. Where many workflows start at once, each step of each would
 * wait for a step of all others, and all would come to an end together, when all the work is done.
 */
export class Turns {
  readonly #options: TurnsOptions;
  /** The workflows that have a turn, with the end of the grace of those that run no activity, and the end of the turn. */
  readonly #held = new Map<string, { readonly grace: NodeJS.Timeout | undefined; readonly limit: NodeJS.Timeout }>();
  /** How many activities each workflow runs. */
  readonly #running = new Map<string, number>();
  /** Those that had a turn before and lost it, and the others; of each the longest waiting first. */
  readonly #waiting = { interrupted: new Set<Waiting>(), others: new Set<Waiting>() };
  /** When a workflow lost its turn because its next step was late. It has begun, and gets the next turn before those that have not. */
  readonly #interrupted = new Map<string, MonotonicMs>();
  /** How many have a turn at once by now. */
  #width: number;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#width = Math.min(options.first, options.most);
  }

  /** Runs an activity of a workflow, in which `takeTurn` waits for its turn. The turn stays as long as activities follow each other. */
  async during<T>(workflow: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    this.#running.set(workflow, (this.#running.get(workflow) ?? 0) + 1);
    if (this.#held.has(workflow)) this.#keep(workflow);
    try {
      const turn = { take: async () => await this.#take(workflow, signal), end: () => this.#end(workflow) };
      return await current.run(turn, run);
    } finally {
      const running = (this.#running.get(workflow) ?? 1) - 1;
      if (running > 0) this.#running.set(workflow, running);
      else this.#running.delete(workflow);
      if (this.#held.has(workflow)) this.#keep(workflow);
    }
  }

  async #take(workflow: string, signal: AbortSignal): Promise<void> {
    const { mostWaiting, patienceMs } = this.#options;
    if (this.#held.has(workflow) || signal.aborted || this.#allWaiting().length >= mostWaiting) return;
    if (this.#held.size < this.#width) return this.#keep(workflow);
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(patience);
        signal.removeEventListener('abort', go);
        queue.delete(waiting);
        resolve();
      };
      const waiting = { workflow, go };
      const patience = setTimeout(go, patienceMs);
      signal.addEventListener('abort', go);
      const queue = this.#interrupted.has(workflow) ? this.#waiting.interrupted : this.#waiting.others;
      queue.add(waiting);
    });
  }

  /** In the order in which they get a turn. */
  #allWaiting(): readonly Waiting[] {
    return [...this.#waiting.interrupted, ...this.#waiting.others];
  }

  /** Holds the turn while activities run, and for the grace afterwards. */
  #keep(workflow: string): void {
    const { graceMs, longestMs } = this.#options;
    const after = (ms: number, end: () => void) => setTimeout(end, ms).unref();
    const held = this.#held.get(workflow);
    clearTimeout(held?.grace);
    const grace = this.#running.has(workflow) ? undefined : after(graceMs, () => this.#interrupt(workflow));
    this.#held.set(workflow, { grace, limit: held?.limit ?? after(longestMs, () => this.#end(workflow)) });
    this.#interrupted.delete(workflow);
  }

  /** On a busy machine the next step may only be late. */
  #interrupt(workflow: string): void {
    const now = performance.now();
    this.#interrupted.set(workflow, now);
    for (const [late, since] of this.#interrupted) {
      if (now - since < this.#options.longestMs) break;
      this.#interrupted.delete(late);
    }
    this.#end(workflow);
  }

  #end(workflow: string): void {
    const held = this.#held.get(workflow);
    if (held === undefined) return;
    clearTimeout(held.grace);
    clearTimeout(held.limit);
    this.#held.delete(workflow);
    const { first, most } = this.#options;
    const isOver = this.#held.size === 0 && this.#allWaiting().length === 0;
    this.#width = Math.min(isOver ? first : this.#width + 1, most);
    while (this.#held.size < this.#width && this.#allWaiting().length > 0) this.#next();
  }

  /** Gives a turn to one that waits. */
  #next(): void {
    const waiting = this.#allWaiting();
    const [next] = waiting;
    if (next === undefined) return;
    this.#keep(next.workflow);
    for (const { workflow: other, go } of waiting) if (other === next.workflow) go();
  }
}
