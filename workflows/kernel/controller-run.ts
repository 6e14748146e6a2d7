import { allHandlersFinished, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { type CommandAnswer, type CommandDefinitions, handleCommands } from './commands.ts';
import { isCancelled } from './failure.ts';
import { ReconcileRequests, type Urgency } from './reconcile-requests.ts';
import { brief, createPublisher, type PublishedStatus } from './visibility.ts';

/** Where a workflow stands, as its state machine says it. */
export interface RunStatus {
  readonly phase: string;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
}

/** What a run gives to the next one through continue-as-new. */
export interface Carried<Memory> {
  readonly version: 2;
  readonly memory: Memory;
  readonly published: PublishedStatus;
  readonly lastCommand: string | null;
}

/** Version 1 called what was published `standing`. */
interface CarriedV1<Memory> extends Pick<Carried<Memory>, 'memory' | 'lastCommand'> {
  readonly version: 1;
  readonly standing: PublishedStatus;
}

/**
 * Reads what any earlier version of this code carried.
 *
 * @throws Error when it is of a version that this code does not know, which is a deployment going backwards.
 */
export function upgradeCarried<Memory>(
  carried: Carried<Memory> | CarriedV1<Memory> | undefined,
): Carried<Memory> | undefined {
  if (carried === undefined || carried.version === 2) return carried;
  if (carried.version === 1) {
    const { memory, standing, lastCommand } = carried;
    return { version: 2, memory, published: standing, lastCommand };
  }
  const { version } = carried as { readonly version: unknown };
  throw new Error(`the carried state has version ${String(version)}: run a worker of the newer release`);
}

export interface ControllerRunOptions<Status extends RunStatus, Memory> {
  readonly identity: { readonly controller: ControllerName; readonly target: string; readonly cluster: string };
  /** Of the run before. */
  readonly carried: Pick<Carried<unknown>, 'published' | 'lastCommand'> | undefined;
  /** What the run before remembered, or nothing yet. */
  readonly memory: Memory;
  /** The phase that whoever starts a run writes into its search attributes, with all the others; null where nobody does. */
  readonly startedAs: string | null;
  /** What is shown until the first pass is over. */
  readonly first: Status;
  /** After so many events in its history a run continues as new. */
  readonly historyEvents: number;
  /** Further lines below the detail, asked for whenever something is shown. */
  readonly facts: (status: Status, memory: Memory) => readonly string[];
}

/** What a wait ends by, besides an immediate request. */
export interface WaitOptions {
  /** Null: for as long as nothing happens. */
  readonly until: EpochMs | null;
  /** Deferrable requests do not end it before. Default: they end it at once. */
  readonly deferUntil?: EpochMs;
  readonly summary: string;
  /** Ends it as well. */
  readonly isOver?: () => boolean;
}

/**
 * An observation or an act that has added so many events (signals, mostly) is interrupted, so that the next run begins it
 * anew: the server refuses the 10,000th signal of a run.
 */
const STEP_EVENTS = 4_000;

/**
 * One run of a controller's workflow: what all of them do in the same way. It holds the requests to reconcile, publishes,
 * waits, interrupts, handles the operators' commands, and knows when the history is long. What is decided is the
 * controller's.
 */
export class ControllerRun<Status extends RunStatus, Memory> {
  readonly requests = new ReconcileRequests();
  readonly #options: ControllerRunOptions<Status, Memory>;
  readonly #publish: ReturnType<typeof createPublisher>;
  #shown: { readonly status: Status; readonly published: PublishedStatus };
  #lastCommand: string | null;
  #interruption: CancellationScope | null = null;

  #memory: Memory;

  constructor(options: ControllerRunOptions<Status, Memory>) {
    const { identity, carried, startedAs, first, memory } = options;
    this.#options = options;
    this.#memory = memory;
    this.#publish = createPublisher(identity, carried?.published, carried?.published.phase ?? startedAs);
    this.#lastCommand = carried?.lastCommand ?? null;
    this.#shown = { status: first, published: this.#published(first) };
  }

  /** What the controller remembers from pass to pass, and from run to run. */
  get memory(): Memory {
    return this.#memory;
  }

  remember(memory: Memory): void {
    this.#memory = memory;
  }

  get status(): Status {
    return this.#shown.status;
  }

  /** Since when it has been in this phase for this reason. */
  get since(): EpochMs {
    return this.#shown.published.since;
  }

  /** The last operator command and what it did. */
  get lastCommand(): string | null {
    return this.#lastCommand;
  }

  /** Signals count as well, so a run that only waits must be renewed too. */
  get isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > this.#options.historyEvents;
  }

  /** Begins a reconcile pass. Requests are cleared before observing, so that none falls between the observation and the wait. */
  beginPass(): void {
    this.requests.clear();
  }

  publish(status: Status): void {
    this.#shown = { status, published: this.#published(status) };
  }

  /** Shows the same status with the facts as they are now. */
  refresh(): void {
    this.publish(this.status);
  }

  /** Handles operator commands: an accepted one is remembered, and an immediate request. */
  handleCommands<Name extends string, Input>(
    commands: CommandDefinitions<Name, Input>,
    evaluate: (name: Name, raw: unknown) => CommandAnswer<Memory>,
  ): void {
    handleCommands(commands, evaluate, (name, answer) => {
      const { message } = answer;
      // A signal has no answer: who sent it reads here what it did, or why nothing happens.
      this.#lastCommand = `${formatInstant(Date.now())} ${name}: ${message}`;
      if (answer.kind === 'accepted') {
        this.#memory = answer.memory;
        log.info('operator command', { command: name, did: message, target: this.#options.identity.target });
        answer.apply?.();
        this.requests.add('immediate');
      }
      this.refresh();
    });
  }

  /** Waits for a moment, a request, or the end of the run. False where the moment has come. */
  async wait({ until, deferUntil = 0, summary, isOver = () => false }: WaitOptions): Promise<boolean> {
    for (;;) {
      const now = Date.now();
      const { isPending } = this.requests;
      const servedAt = isPending ? Math.max(now, deferUntil) : Number.POSITIVE_INFINITY;
      const wakeAt = Math.min(until ?? Number.POSITIVE_INFINITY, servedAt);
      const isEnded = (): boolean => this.requests.isImmediate || isOver() || this.isHistoryLong;
      if (isEnded() || servedAt <= now) return true;
      if (wakeAt <= now) return false;
      const hasMoved = (): boolean => isEnded() || this.requests.isPending !== isPending;
      if (Number.isFinite(wakeAt)) {
        const isDue = !(await condition(hasMoved, wakeAt - now, { summary: brief(summary) }));
        if (isDue) return wakeAt === servedAt;
      } else await condition(hasMoved);
    }
  }

  /**
   * Runs what only waits, such as an activity that polls. A request cancels it, or only an immediate one, and a long
   * history; then the answer is null.
   */
  async waitFor<T>(wait: () => Promise<T>, endedBy: Urgency = 'deferrable'): Promise<T | null> {
    const isOver = (): boolean =>
      this.requests.isImmediate || (endedBy === 'deferrable' && this.requests.isPending) || this.isHistoryLong;
    if (isOver()) return null;
    const scope = new CancellationScope();
    const stop = this.requests.onRequest(() => {
      if (isOver()) scope.cancel();
    });
    try {
      return await cancellable(scope, wait);
    } finally {
      stop();
    }
  }

  /**
   * Runs an observation or an act that `interrupt()` cancels, and a history that grows without an end. Null where it was
   * cancelled: the next pass observes what it left.
   */
  async interruptible<T>(run: () => Promise<T>): Promise<T | null> {
    const scope = new CancellationScope();
    this.#interruption = scope;
    const longest = workflowInfo().historyLength + STEP_EVENTS;
    const stop = this.requests.onRequest(() => {
      if (workflowInfo().historyLength > longest) scope.cancel();
    });
    try {
      return await cancellable(scope, run);
    } finally {
      stop();
      this.#interruption = null;
    }
  }

  /** Cancels what runs in `interruptible`, so that nothing that waits for its turn is done after a no. */
  interrupt(): void {
    this.#interruption?.cancel();
  }

  get areHandlersFinished(): boolean {
    return allHandlersFinished();
  }

  /** Before a run ends or continues as new. What the caller checks next is synchronous with the end. */
  async handlersFinished(): Promise<void> {
    await condition(allHandlersFinished);
  }

  /** What the next run of this workflow begins with. */
  carry(): Carried<Memory> {
    return { version: 2, memory: this.#memory, published: this.#shown.published, lastCommand: this.#lastCommand };
  }

  #published(status: Status): PublishedStatus {
    const { phase, reason, detail } = status;
    const last = this.#lastCommand === null ? [] : [`last command: ${this.#lastCommand}`];
    return this.#publish(
      { phase, reason, detail, facts: [...this.#options.facts(status, this.#memory), ...last] },
      Date.now(),
    );
  }
}

/** Null where the scope was cancelled, and not the workflow around it. */
async function cancellable<T>(scope: CancellationScope, run: () => Promise<T>): Promise<T | null> {
  try {
    return await scope.run(run);
  } catch (error) {
    if (!isCancelled(error) || CancellationScope.current().consideredCancelled) throw error;
    return null;
  }
}
