/** Which workflows wait for a person or a limit, why and since when, for the metrics and whoever else shows it. */
import type { Client } from '@temporalio/client';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';

export interface WaitingWorkflow {
  readonly workflowId: string;
  readonly controller: string;
  readonly target: string;
  readonly phase: string;
  /** `Unknown` where no worker has answered for it. */
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

/** Milliseconds for which what was found is new enough: Prometheus asks every 15 to 60 s. */
const FRESH_MS = 15_000;
/** Milliseconds after which what was found last is no answer any more. */
const STALE_MS = 300_000;
/** Of an answer that a worker gives from its memory, or after a replay, in milliseconds. */
const ANSWER_MS = 5_000;
/** Questions at once: workers have other things to do. */
const AT_ONCE = 5;
/**
 * Questions in one round. A wrong token blocks every quota at once, and the reason of the first hundred is that of the others: those are
 * asked in later rounds, as each keeps its reason for as long as it is in its phase.
 */
const QUESTIONS = 100;

/**
 * Looks when somebody asks, and answers with what it found the last time: a scrape never waits for Temporal, and where nobody asks,
 * nothing is looked for. The phase is in the list of workflows; the reason only the workflow knows.
 */
export class WaitingWorkflows {
  readonly #options: WaitingWorkflowsOptions;
  readonly #now: () => EpochMs;
  #found: { readonly at: EpochMs; readonly workflows: readonly WaitingWorkflow[] } | null = null;
  #attemptedAt = -Infinity;
  #isLooking = false;
  #isFailing = false;
  /** Where the questions of the next round begin. */
  #next = 0;

  constructor(options: WaitingWorkflowsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** As of the last look; null where there is none that is new enough to be believed. */
  latest(): readonly WaitingWorkflow[] | null {
    const now = this.#now();
    if (!this.#isLooking && now - this.#attemptedAt >= FRESH_MS) void this.look();
    return this.#found !== null && now - this.#found.at < STALE_MS ? this.#found.workflows : null;
  }

  /** Looks now; never rejects. */
  async look(): Promise<void> {
    const { log } = this.#options;
    this.#isLooking = true;
    this.#attemptedAt = this.#now();
    try {
      const listed = await this.#list();
      this.#found = { at: this.#attemptedAt, workflows: await this.#withReasons(listed) };
      if (this.#isFailing) log.info('Temporal lists again which workflows wait');
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn({ err: error }, 'Temporal does not list which workflows wait');
      this.#isFailing = true;
    } finally {
      this.#isLooking = false;
    }
  }

  async #list(): Promise<readonly WaitingWorkflow[]> {
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
        reason: 'Unknown',
        since: startTime.getTime(),
      });
    }
    return listed.toSorted((a, b) => (a.workflowId < b.workflowId ? -1 : 1));
  }

  async #withReasons(listed: readonly WaitingWorkflow[]): Promise<readonly WaitingWorkflow[]> {
    const before = new Map(this.#found?.workflows.map((workflow) => [workflow.workflowId, workflow]));
    const known = listed.map((workflow) => {
      const last = before.get(workflow.workflowId);
      return last?.phase === workflow.phase ? last : workflow;
    });
    const from = this.#next % Math.max(1, known.length);
    const asked = Array.from(
      { length: Math.min(QUESTIONS, known.length) },
      (_, index) => (from + index) % known.length,
    );
    this.#next = from + asked.length;
    const waiting = [...asked];
    const answers = new Map<number, WaitingWorkflow>();
    const ask = async (): Promise<void> => {
      for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
        const workflow = known[index];
        if (workflow !== undefined) answers.set(index, await this.#ask(workflow));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    return known.map((workflow, index) => answers.get(index) ?? workflow);
  }

  async #ask(workflow: WaitingWorkflow): Promise<WaitingWorkflow> {
    const { client } = this.#options;
    try {
      const answer = await client.withDeadline(
        Date.now() + ANSWER_MS,
        async () => await client.workflow.getHandle(workflow.workflowId).query<StatusAnswer>('status'),
      );
      const since = Date.parse(answer.since);
      // It may have gone on since it was listed; then the next round has it elsewhere.
      if (answer.phase !== workflow.phase) return workflow;
      return { ...workflow, reason: answer.reason, since: Number.isNaN(since) ? workflow.since : since };
    } catch {
      return workflow;
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
