/** Workflows that wait for a person, as Temporal lists them: what nothing in the cluster says. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { PERSON } from '../../domain/kernel/awaited.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';
import type { NamedWorkflows } from '../controller.ts';
import type { Waiting } from './part.ts';

/** So many are shown at most; a page for people is not the place for more. */
const MOST = 500;
/** A list of this age is asked for again. */
const OLD_MS = 10_000;
/** A page waits for Temporal for so long, and is then shown with what is known. */
const PATIENCE_MS = 100;

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
  #known: { readonly waiting: readonly Listed[]; readonly at: MonotonicMs } | null = null;
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
    if (this.#known !== null && performance.now() - this.#known.at < OLD_MS) return;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    await Promise.race([this.#asking, sleep(PATIENCE_MS, undefined, { ref: false })]);
  }

  /** Those about something in a namespace, or all. */
  waiting(namespace: string | null): readonly Waiting[] {
    const all = this.#known?.waiting ?? [];
    return all.flatMap(({ target, line }) => (namespace === null || target.startsWith(`${namespace}/`) ? [line] : []));
  }

  /** A sentence where the list is older than it looks. */
  get trouble(): string | null {
    if (this.#trouble === null && this.#known !== null) return null;
    return `Temporal has not said which workflows wait${this.#trouble === null ? ' yet' : `: ${this.#trouble}`}.`;
  }

  async #ask(): Promise<void> {
    const { client, cluster, log } = this.#options;
    const phases = [...this.#phases].map((phase) => `'${phase}'`);
    const query = `HeadroomCluster = '${cluster}' AND ExecutionStatus = 'Running' AND HeadroomPhase IN (${phases.join(', ')})`;
    try {
      const waiting: Listed[] = [];
      for await (const { workflowId, searchAttributes } of client.workflow.list({ query })) {
        const attribute = (name: string): string => String(searchAttributes?.[name]?.[0] ?? '');
        const [controller, target] = [attribute('HeadroomController'), attribute('HeadroomTarget')];
        waiting.push({
          target,
          line: this.#waitingOf(workflowId, { controller, target, phase: attribute('HeadroomPhase') }),
        });
        if (waiting.length === MOST) break;
      }
      this.#known = { waiting, at: performance.now() };
      this.#trouble = null;
    } catch (error) {
      this.#trouble = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
      log.debug({ err: error }, 'the workflows that wait could not be listed');
    }
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
