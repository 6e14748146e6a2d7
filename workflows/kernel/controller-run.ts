import { allHandlersFinished, CancellationScope, condition, log, workflowInfo } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { PauseState } from '../../domain/kernel/pause-state.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { type CommandAnswer, type CommandDefinitions, handleCommands } from './commands.ts';
import { isCancelled } from './failure.ts';
import { ReconcileRequests, type Urgency } from './reconcile-requests.ts';
import { brief, createPublisher, type PublishedStatus } from './visibility.ts';

/** Phase and reason of a workflow, as its state machine names them. */
export interface RunStatus {
  readonly phase: string;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
}

/** State that a run passes to the next run through continue-as-new. */
export interface Carried<Memory> {
  readonly version: 2;
  readonly memory: Memory;
  readonly published: PublishedStatus;
  readonly lastCommand: string | null;
  /** What it knows of the pause of its target; absent where it has none. */
  readonly pause?: PauseState;
}

/** Version 1 called the field `published` `standing`. */
interface CarriedV1<Memory> extends Pick<Carried<Memory>, 'memory' | 'lastCommand'> {
  readonly version: 1;
  readonly standing: PublishedStatus;
}

/**
 * Reads the carried state of any earlier version of this code.
 *
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
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
  /** State of the previous run. */
  readonly carried: Pick<Carried<unknown>, 'published' | 'lastCommand'> | undefined;
  /** The previous run's memory, or the initial memory. */
  readonly memory: Memory;
  /**
   * The phase that the client already wrote into the search attributes when it started the workflow; null where the
   * client writes none.
   */
  readonly startedAs: string | null;
  /** The status until the first pass has finished. */
  readonly first: Status;
  /** History length, in events, after which a run continues as new. */
  readonly historyEvents: number;
  /** Further lines below the detail; computed at every publication. */
  readonly facts: (status: Status, memory: Memory) => readonly string[];
}

/** What ends a wait, besides an immediate reconcile request. */
export interface WaitOptions {
  /** Null: no time limit. */
  readonly until: EpochMs | null;
  /** Deferrable requests do not end the wait before this moment. Default: they end the wait at once. */
  readonly deferUntil?: EpochMs;
  readonly summary: string;
  /** Also ends the wait when true. */
  readonly isOver?: () => boolean;
}

/**
 * An observation or an act during which the history grew by so many events (mostly signals) is interrupted; the next
 * run starts it again. Reason: the server rejects the 10,000th signal of a run.
 */
const STEP_EVENTS = 4_000;

/**
 * One run of a controller's workflow, with what all controllers have in common: pending reconcile requests, publishing,
 * waiting, interruption, operator commands and the length of the history. The decisions are made by the controller.
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

  /** What the controller remembers across passes and runs. */
  get memory(): Memory {
    return this.#memory;
  }

  remember(memory: Memory): void {
    this.#memory = memory;
  }

  get status(): Status {
    return this.#shown.status;
  }

  /** The moment at which the current phase and reason began. */
  get since(): EpochMs {
    return this.#shown.published.since;
  }

  /** The last operator command and what it did. */
  get lastCommand(): string | null {
    return this.#lastCommand;
  }

  /** Signals make the history longer too, so a run that only waits has to continue as new as well. */
  get isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > this.#options.historyEvents;
  }

  /**
   * Begins a reconcile pass. Requests are cleared before the observation: a request that arrives during the observation
   * then still ends the following wait.
   */
  beginPass(): void {
    this.requests.clear();
  }

  publish(status: Status): void {
    this.#shown = { status, published: this.#published(status) };
  }

  /** Publishes the same status with recomputed facts. */
  refresh(): void {
    this.publish(this.status);
  }

  /** Handles operator commands. An accepted command changes the memory and counts as an immediate reconcile request. */
  handleCommands<Name extends string, Input>(
    commands: CommandDefinitions<Name, Input>,
    evaluate: (name: Name, raw: unknown) => CommandAnswer<Memory>,
  ): void {
    handleCommands(commands, evaluate, (name, answer) => {
      const { message } = answer;
      // A signal returns no answer, so its sender reads in the status what the command did or why it was rejected.
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

  /** Waits for a moment, a request, or `isOver`. Returns false when the moment was reached, true otherwise. */
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
   * Runs something that only waits, such as an activity that polls. It is cancelled by a reconcile request (only by an
   * immediate one if `endedBy` says so) or by a long history, and the result is then null.
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
   * Runs an observation or an act that `interrupt()` or a fast-growing history cancels. The result of a cancelled call
   * is null; the next pass observes what it left behind.
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

  /** Cancels the running `interruptible` call, so that a queued write is not made after a person has said no. */
  interrupt(): void {
    this.#interruption?.cancel();
  }

  get areHandlersFinished(): boolean {
    return allHandlersFinished();
  }

  /**
   * Must be awaited before a run ends or continues as new. The caller has to check for new requests afterwards without
   * another await.
   */
  async handlersFinished(): Promise<void> {
    await condition(allHandlersFinished);
  }

  /** What the next run of this workflow begins with. */
  carry(pause?: PauseState): Carried<Memory> {
    const { published } = this.#shown;
    const lastCommand = this.#lastCommand;
    return { version: 2, memory: this.#memory, published, lastCommand, ...(pause === undefined ? {} : { pause }) };
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

/** Null when this scope was cancelled; a cancellation of the whole workflow is rethrown. */
async function cancellable<T>(scope: CancellationScope, run: () => Promise<T>): Promise<T | null> {
  try {
    return await scope.run(run);
  } catch (error) {
    if (!isCancelled(error) || CancellationScope.current().consideredCancelled) throw error;
    return null;
  }
}
