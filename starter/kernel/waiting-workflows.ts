/** Which workflows wait for a person or a limit, why and since when, for the metrics and the overview page. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';

export interface WaitingWorkflow {
  readonly workflowId: string;
  readonly controller: string;
  readonly target: string;
  readonly phase: string;
  /** `UNKNOWN` where no worker has answered for it. */
  readonly reason: string;
  /** Since when it has waited for this reason; without an answer, since when it runs. */
  readonly since: EpochMs;
}

export interface WaitingWorkflowsOptions {
  readonly client: Client;
  readonly cluster: string;
  /** Those in which a workflow waits so. */
  readonly phases: readonly string[];
  /** Whose workflows; null: those of all. */
  readonly controllers: readonly ControllerName[] | null;
  readonly log: Pick<Log, 'warn' | 'info'>;
  readonly now?: () => EpochMs;
}

/** Milliseconds for which a list is new enough: Prometheus asks every 15 to 60 s, and a page is read again after a while. */
const FRESH_MS = 10_000;
/** The reason of a workflow that no worker has answered for. */
export const UNKNOWN = 'Unknown';

/** Milliseconds after which what was found last is no answer any more. */
const STALE_MS = 300_000;
/** A list that takes longer does not come, in milliseconds: Temporal is asked again. */
const LIST_MS = 15_000;
/** Of an answer that a worker gives from its memory, or after a replay, in milliseconds. */
const ANSWER_MS = 5_000;
/** Questions at once: workers have other things to do. */
const AT_ONCE = 5;
/**
 * Questions in one round. A wrong token blocks every quota at once, and the reason of the first hundred is that of the others: those are
 * asked in later rounds.
 */
const QUESTIONS = 100;
/** A workflow in the same phase is not asked again for so many milliseconds: it seldom has another reason then. */
const ANSWERED_MS = 60_000;

/** As of a moment. */
interface Found {
  readonly at: EpochMs;
  readonly workflows: readonly WaitingWorkflow[];
}

/**
 * Looks when somebody asks, and answers with what it found the last time: a scrape never waits for Temporal, and where nobody asks,
 * nothing is looked for. The phase is in the list of workflows; the reason only the workflow knows, and it is asked after that.
 */
export class WaitingWorkflows {
  readonly #options: WaitingWorkflowsOptions;
  readonly #now: () => EpochMs;
  #listed: Found | null = null;
  /** The last list whose workflows were asked for their reasons. */
  #found: Found | null = null;
  /** What the workflows of the last list answered, by their ids. */
  #answers: ReadonlyMap<string, WaitingWorkflow> = new Map();
  /** When those of the last list were asked last, by their ids. */
  #askedAt: ReadonlyMap<string, EpochMs> = new Map();
  #attemptedAt = -Infinity;
  #listing: Promise<void> | null = null;
  #isAsking = false;
  #trouble: string | null = null;

  constructor(options: WaitingWorkflowsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** As of the last look; null where there is none that is new enough to be believed. */
  latest(): readonly WaitingWorkflow[] | null {
    this.#lookIfOld();
    return this.#found !== null && this.#now() - this.#found.at < STALE_MS ? this.#found.workflows : null;
  }

  /** Lists them again where the list is old, and waits for that for so many milliseconds at most. Never rejects. */
  async refresh(patienceMs: number): Promise<void> {
    this.#lookIfOld();
    if (this.#listing !== null) await Promise.race([this.#listing, sleep(patienceMs, undefined, { ref: false })]);
  }

  /** As of the last list, however old, with the reasons that are known so far; null where there is none. */
  listed(): readonly WaitingWorkflow[] | null {
    return this.#listed === null ? null : this.#withAnswers(this.#listed.workflows);
  }

  /** How old the last list is, in milliseconds; null where there is none. */
  get listedAgo(): number | null {
    return this.#listed === null ? null : this.#now() - this.#listed.at;
  }

  /** Why the last list failed; null where it did not. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Looks now; never rejects. */
  async look(): Promise<void> {
    this.#attemptedAt = this.#now();
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
    });
    await this.#listing;
    // Where no worker answers, the questions may take longer than until the next list.
    if (this.#trouble !== null || this.#listed === null || this.#isAsking) return;
    const { at, workflows } = this.#listed;
    this.#isAsking = true;
    await this.#askNext(workflows);
    this.#isAsking = false;
    this.#found = { at, workflows: this.#withAnswers(workflows) };
  }

  #lookIfOld(): void {
    if (this.#listing === null && this.#now() - this.#attemptedAt >= FRESH_MS) void this.look();
  }

  async #list(): Promise<void> {
    const { client, log } = this.#options;
    const at = this.#now();
    try {
      const workflows = await client.withDeadline(Date.now() + LIST_MS, async () => await this.#ofTemporal());
      const phases = new Map(workflows.map(({ workflowId, phase }) => [workflowId, phase]));
      this.#answers = new Map([...this.#answers].filter(([id, { phase }]) => phases.get(id) === phase));
      this.#listed = { at, workflows };
      if (this.#trouble !== null) log.info('Temporal lists again which workflows wait');
      this.#trouble = null;
    } catch (error) {
      if (this.#trouble === null) log.warn({ err: error }, 'Temporal does not list which workflows wait');
      this.#trouble = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    }
  }

  async #ofTemporal(): Promise<readonly WaitingWorkflow[]> {
    const { client, cluster, phases, controllers } = this.#options;
    // The workflows of no cluster in particular have `*`.
    const clusters = textsOf([cluster, '*']);
    const ofWhom = controllers === null ? '' : ` AND HeadroomController IN (${textsOf(controllers)})`;
    const query = `HeadroomCluster IN (${clusters}) AND ExecutionStatus = 'Running' AND HeadroomPhase IN (${textsOf(phases)})${ofWhom}`;
    const listed: WaitingWorkflow[] = [];
    for await (const { workflowId, searchAttributes, startTime } of client.workflow.list({ query })) {
      const attribute = (name: string): string => String(searchAttributes?.[name]?.[0] ?? '');
      listed.push({
        workflowId,
        controller: attribute('HeadroomController'),
        target: attribute('HeadroomTarget'),
        phase: attribute('HeadroomPhase'),
        reason: UNKNOWN,
        since: startTime.getTime(),
      });
    }
    return listed.toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
  }

  #withAnswers(workflows: readonly WaitingWorkflow[]): readonly WaitingWorkflow[] {
    return workflows.map((workflow) => {
      const answer = this.#answers.get(workflow.workflowId);
      return answer?.phase === workflow.phase ? answer : workflow;
    });
  }

  /** Asks those that were asked longest ago, of which no answer is new enough. */
  async #askNext(workflows: readonly WaitingWorkflow[]): Promise<void> {
    const now = this.#now();
    const askedAt = new Map(
      workflows.map(({ workflowId }) => [workflowId, this.#askedAt.get(workflowId) ?? -Infinity]),
    );
    const lastAsked = ({ workflowId }: WaitingWorkflow): number => askedAt.get(workflowId) ?? -Infinity;
    const isOpen = (workflow: WaitingWorkflow): boolean =>
      now - lastAsked(workflow) >= ANSWERED_MS || !this.#answers.has(workflow.workflowId);
    const toAsk = workflows
      .filter(isOpen)
      .toSorted((a, b) => lastAsked(a) - lastAsked(b))
      .slice(0, QUESTIONS);
    for (const { workflowId } of toAsk) askedAt.set(workflowId, now);
    this.#askedAt = askedAt;
    const answers = new Map<string, WaitingWorkflow>();
    const ask = async (): Promise<void> => {
      for (let next = toAsk.shift(); next !== undefined; next = toAsk.shift()) {
        const answer = await this.#ask(next);
        if (answer !== null) answers.set(next.workflowId, answer);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    this.#answers = new Map([...this.#answers, ...answers]);
  }

  /** Null where it does not answer, or has gone on since it was listed: then the next list has it elsewhere. */
  async #ask(workflow: WaitingWorkflow): Promise<WaitingWorkflow | null> {
    const { client } = this.#options;
    try {
      const answer = await client.withDeadline(
        Date.now() + ANSWER_MS,
        async () => await client.workflow.getHandle(workflow.workflowId).query<StatusAnswer>('status'),
      );
      const since = Date.parse(answer.since);
      if (answer.phase !== workflow.phase) return null;
      return { ...workflow, reason: answer.reason, since: Number.isNaN(since) ? workflow.since : since };
    } catch {
      return null;
    }
  }
}

/** What the query `status` of every workflow has. */
interface StatusAnswer {
  readonly phase: string;
  readonly reason: string;
  readonly since: string;
}

function textsOf(texts: readonly string[]): string {
  return texts.map((text) => `'${text.replaceAll("'", '')}'`).join(', ');
}
