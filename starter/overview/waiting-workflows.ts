/** Workflows that wait for a person, as Temporal lists them: what nothing in the cluster says. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { PERSON } from '../../domain/kernel/awaited.ts';
import { formatSpan, type MonotonicMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';
import type { NamedWorkflows } from '../controller.ts';
import type { Waiting } from './part.ts';

/** So many are shown at most; a page for people is not the place for more. */
const MOST = 500;
/** A list of this age is asked for again. */
const OLD_MS = 10_000;
/** A page waits for Temporal for so long, and is then shown with what is known. */
const PATIENCE_MS = 100;
/** An answer that takes longer does not come: Temporal is asked again. */
const ANSWER_MS = 15_000;

export interface WaitingWorkflowsOptions {
  readonly client: Client;
  readonly cluster: string;
  /** By the name of the controller. */
  readonly controllers: Readonly<Record<string, NamedWorkflows | undefined>>;
  readonly log: Log;
}

interface Listed {
  readonly target: string;
  readonly line: Waiting;
}

export class WaitingWorkflows {
  readonly #options: WaitingWorkflowsOptions;
  readonly #phases: ReadonlySet<string>;
  #known: { readonly waiting: readonly Listed[]; readonly isCut: boolean; readonly at: MonotonicMs } | null = null;
  #asking: Promise<void> | null = null;
  #trouble: string | null = null;

  constructor(options: WaitingWorkflowsOptions) {
    this.#options = options;
    const awaits = Object.values(options.controllers).flatMap((named) => Object.entries(named?.awaits ?? {}));
    // What is paused is shown as a pause.
    this.#phases = new Set(
      awaits.flatMap(([phase, awaited]) => (awaited?.whom === PERSON && phase !== 'Paused' ? [phase] : [])),
    );
  }

  /** Asks Temporal again where the list is old, and waits for the answer for a moment only. Never throws. */
  async refresh(): Promise<void> {
    if (this.#phases.size === 0 || !this.#isOld()) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    await Promise.race([this.#asking, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }

  /** All, or those about something in a namespace, and those about something in none. */
  waiting(namespace: string | null): readonly Waiting[] {
    const isShown = (target: string): boolean =>
      namespace === null || !target.includes('/') || target.startsWith(`${namespace}/`);
    return (this.#known?.waiting ?? []).flatMap(({ target, line }) => (isShown(target) ? [line] : []));
  }

  /** A sentence where the list is older than it looks, or not all of it. */
  get trouble(): string | null {
    if (this.#phases.size === 0) return null;
    const why = this.#trouble === null ? '' : `: ${this.#trouble}`;
    if (this.#known === null) return `Temporal has not said yet which workflows wait${why}.`;
    const { at, isCut } = this.#known;
    if (this.#isOld()) {
      return `Temporal said ${formatSpan(performance.now() - at)} ago which workflows wait, and not since${why}.`;
    }
    return isCut ? `More than ${MOST} workflows wait for a person: only the first that Temporal lists are here.` : null;
  }

  #isOld(): boolean {
    return this.#known === null || performance.now() - this.#known.at >= OLD_MS;
  }

  async #ask(): Promise<void> {
    const { client, cluster, log } = this.#options;
    const phases = [...this.#phases].map((phase) => `'${phase}'`);
    const query = `HeadroomCluster = '${cluster}' AND ExecutionStatus = 'Running' AND HeadroomPhase IN (${phases.join(', ')})`;
    try {
      const waiting = await client.withDeadline(Date.now() + ANSWER_MS, async () => await this.#list(query));
      this.#known = { waiting: waiting.slice(0, MOST), isCut: waiting.length > MOST, at: performance.now() };
      this.#trouble = null;
    } catch (error) {
      this.#trouble = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
      log.debug({ err: error }, 'the workflows that wait could not be listed');
    }
  }

  /** One more than are shown, where there are more. */
  async #list(query: string): Promise<readonly Listed[]> {
    const waiting: Listed[] = [];
    for await (const { workflowId, searchAttributes } of this.#options.client.workflow.list({ query })) {
      const attribute = (name: string): string => String(searchAttributes?.[name]?.[0] ?? '');
      const [controller, target] = [attribute('HeadroomController'), attribute('HeadroomTarget')];
      const line = this.#waitingOf(workflowId, { controller, target, phase: attribute('HeadroomPhase') });
      waiting.push({ target, line });
      if (waiting.length > MOST) break;
    }
    return waiting;
  }

  #waitingOf(
    workflow: string,
    { controller, target, phase }: { readonly controller: string; readonly target: string; readonly phase: string },
  ): Waiting {
    const known = Object.hasOwn(this.#options.controllers, controller)
      ? this.#options.controllers[controller]
      : undefined;
    return {
      what: `${known?.noun ?? controller} ${target}`,
      whom: PERSON,
      isForPeople: true,
      since: null,
      why: `It is ${phase}, until ${known?.awaits[phase]?.until ?? 'somebody acts'}; its details say more.`,
      links: [],
      workflow,
      command: known === undefined ? null : `${known.statusCommand} ${target}`,
    };
  }
}
