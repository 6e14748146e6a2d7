import { allHandlersFinished, CancellationScope, condition, log, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AwaitedIn } from '../../domain/kernel/awaited.ts';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import { type PauseTarget, writesNothingSentence } from '../../domain/kernel/pause.ts';
import type { PauseState } from '../../domain/kernel/pause-state.ts';
import { requireVersion } from '../../domain/kernel/carried-version.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { type CommandAnswer, type CommandDefinitions, type Evaluate, handleCommands } from './commands.ts';
import { isCancelled } from './failure.ts';
import { pauseChanged } from './messages.ts';
import { PauseControl } from './pause.ts';
import { ReconcileRequests, type Urgency } from './reconcile-requests.ts';
import { brief, createPublisher, type PublishedStatus } from './visibility.ts';

/** Phase and reason of a workflow, as its state machine names them. */
export interface RunStatus {
  readonly phase: string;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
  /** The latest moment of the next pass, where the controller shows it. */
  readonly until?: EpochMs | undefined;
  /** Further sentences below the detail. */
  readonly facts?: readonly string[];
}

/** State that a run passes to the next run through continue-as-new. */
export interface Carried<Memory> {
  readonly version: 2;
  readonly memory: Memory;
  readonly published: PublishedStatus;
  readonly lastCommand: string | null;
  /** What the run knew of the pause of its target; absent when it had read none. */
  readonly pause?: PauseState;
}

/**
 * Reads the state that the run before carried.
 *
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
 */
export function readCarried<Memory>(carried: Carried<Memory> | undefined): Carried<Memory> | undefined {
  if (carried !== undefined) requireVersion('the carried state', carried, 2);
  return carried;
}

export interface ControllerRunOptions<Status extends RunStatus, Memory> {
  readonly identity: {
    readonly controller: ControllerName;
    readonly target: string;
    readonly cluster: string;
    /** The namespace of the target; absent for a target of the whole cluster. */
    readonly namespace?: string;
  };
  /** For whom it waits in each phase, as people read it. */
  readonly awaits: AwaitedIn<Status['phase']>;
  /** State of the previous run. */
  readonly carried: Pick<Carried<unknown>, 'published' | 'lastCommand' | 'pause'> | undefined;
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
  /** Further lines below the detail, computed at every publication; absent: the facts of the status. */
  readonly facts?: (status: Status, memory: Memory) => readonly string[];
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

/** Backoff in milliseconds after a pause or resume could not be saved, before it is tried again. */
const UNKEPT_REST_MS = 30_000;

/**
 * One run of a controller's workflow, with what all controllers have in common: pending reconcile requests, publishing,
 * waiting, interruption, pauses, operator commands and the length of the history. The decisions are made by the controller.
 */
export class ControllerRun<Status extends RunStatus, Memory> {
  readonly requests = new ReconcileRequests();
  /** The pause of the target. The pause of a controller that keeps none in the ConfigMaps is never known here. */
  readonly pauses: PauseControl;
  readonly #options: ControllerRunOptions<Status, Memory>;
  readonly #publish: ReturnType<typeof createPublisher<Status['phase']>>;
  #shown: { readonly status: Status; readonly published: PublishedStatus };
  #lastCommand: string | null;
  #interruption: CancellationScope | null = null;

  #memory: Memory;

  constructor(options: ControllerRunOptions<Status, Memory>) {
    const { identity, awaits, carried, startedAs, first, memory } = options;
    this.#options = options;
    this.#memory = memory;
    this.pauses = new PauseControl(pauseTarget(identity), carried?.pause);
    this.#publish = createPublisher(identity, awaits, carried?.published, carried?.published.phase ?? startedAs);
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

  /**
   * Makes passes until one of them ends the workflow, and continues as new when the history is long. A command to pause
   * or resume is saved before anything else is done.
   *
   * @param pass returns the result of the workflow when it is over, null for a further pass.
   * @param next continues as new with what `carry` returns.
   */
  async reconcile<Result>(pass: () => Promise<Result | null>, next: () => Promise<never>): Promise<Result> {
    for (let passes = 0; ; passes += 1) {
      // A run makes at least one pass, so that a short limit cannot end in runs that do nothing.
      if (passes > 0 && this.isHistoryLong) {
        await this.handlersFinished();
        // Pending requests are not carried over: the next run observes everything again anyway.
        return await next();
      }
      this.beginPass();
      if (!(await this.#keepPause())) continue;
      await this.pauses.readChange();
      const result = await pass();
      if (result !== null) return result;
    }
  }

  /** Whether nothing is left to save; if not, the backoff is over. */
  async #keepPause(): Promise<boolean> {
    const detail = await this.pauses.keep();
    if (detail !== null) {
      const until = Date.now() + UNKEPT_REST_MS;
      this.publish({ ...this.status, phase: 'Paused', reason: 'Paused', detail, until });
      await this.wait({ until, deferUntil: Number.POSITIVE_INFINITY, summary: detail });
    }
    return !this.pauses.isUnkept;
  }

  /** Waits until nothing is paused for the target, or for a request of this urgency. */
  async awaitResume(endedBy: Urgency): Promise<void> {
    await this.waitFor(async () => await this.pauses.awaitResume(), endedBy);
  }

  /**
   * Handles the commands to a target whose pauses are in the ConfigMaps: `pause` and `resume` are the frame's, the others
   * the controller's. The answer to an accepted command says when a pause holds back what it asks for.
   */
  handleTargetCommands<Name extends string, Input>(
    commands: CommandDefinitions<Name | PauseCommandName, Input>,
    evaluate: Evaluate<Exclude<Name, PauseCommandName>, Memory>,
  ): void {
    this.handleCommands(commands, (name, raw, step) => {
      if (isPauseCommand(name)) return this.#evaluatePause(name, raw);
      const answer = evaluate(name as Exclude<Name, PauseCommandName>, raw, step);
      const { inForce } = this.pauses;
      return answer.kind === 'rejected' || inForce === null
        ? answer
        : { ...answer, message: `${answer.message}. ${writesNothingSentence(inForce, this.pauses.target)}` };
    });
    // A pause was written, or ended, outside of the run. The ConfigMaps say what holds.
    setHandler(
      pauseChanged,
      () => {
        this.pauses.changed();
        this.requests.add('immediate');
        this.interrupt();
      },
      { description: 'a pause that concerns it was written, or ended' },
    );
  }

  #evaluatePause(name: PauseCommandName, raw: unknown): CommandAnswer<Memory> {
    const answer = this.pauses.evaluate(name, raw);
    if (answer.kind === 'rejected') return answer;
    // A write that waits must not be made after a pause, and an observation during a pause is out of date after it.
    const apply = (): void => {
      this.pauses.accept(answer.state);
      this.interrupt();
    };
    return { kind: 'accepted', message: answer.message, memory: this.#memory, apply };
  }

  /** Handles operator commands. An accepted command changes the memory and counts as an immediate reconcile request. */
  handleCommands<Name extends string, Input>(
    commands: CommandDefinitions<Name, Input>,
    evaluate: Evaluate<Name, Memory>,
  ): void {
    handleCommands(commands, evaluate, (name, answer, raw) => {
      const { message } = answer;
      // A signal returns no answer, so its sender reads in the status what the command did or why it was rejected.
      this.#lastCommand = `${formatInstant(Date.now())} ${name}: ${message}`;
      // Whoever sends one names himself: nobody has verified the name.
      const fields = { command: name, outcome: answer.kind, did: message, claimedBy: readCommandInput(raw).by };
      log.info('operator command', { audit: 'command', ...this.#options.identity, ...fields });
      if (answer.kind === 'accepted') {
        this.#memory = answer.memory;
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
  carry(): Carried<Memory> {
    const { published } = this.#shown;
    const { state } = this.pauses;
    const pause = state.kind === 'Unread' ? {} : { pause: state };
    return { version: 2, memory: this.#memory, published, lastCommand: this.#lastCommand, ...pause };
  }

  #published(status: Status): PublishedStatus {
    const { phase, reason, detail } = status;
    const facts = this.#options.facts?.(status, this.#memory) ?? status.facts ?? [];
    const last = this.#lastCommand === null ? [] : [`last command: ${this.#lastCommand}`];
    return this.#publish({ phase, reason, detail, facts: [...facts, ...last] }, Date.now());
  }
}

type PauseCommandName = 'pause' | 'resume';

function isPauseCommand(name: string): name is PauseCommandName {
  return name === 'pause' || name === 'resume';
}

function pauseTarget({
  controller,
  namespace,
  target,
}: ControllerRunOptions<RunStatus, unknown>['identity']): PauseTarget {
  return { controller, name: target, ...(namespace === undefined ? {} : { namespace }) };
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
