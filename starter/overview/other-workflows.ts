/** Workflows that wait for a person, as Temporal lists them: what nothing in the cluster says. */
import { PERSON } from '../../domain/kernel/awaited.ts';
import type { NamedWorkflows } from '../controller.ts';
import { UNKNOWN, type WaitingWorkflow, type WaitingWorkflows } from '../kernel/waiting-workflows.ts';
import type { Waiting } from './part.ts';

/** So many are shown at most; a page for people is not the place for more. */
const MOST = 500;
/** Milliseconds for which a page waits for Temporal; it is then shown with what is known. */
const PATIENCE_MS = 100;

/** By the name of the controller. */
export type NamedControllers = Readonly<Record<string, NamedWorkflows | undefined>>;

export class OtherWorkflows {
  readonly #listed: Pick<WaitingWorkflows, 'refresh' | 'listed' | 'trouble'>;
  readonly #controllers: NamedControllers;
  readonly #phases: ReadonlySet<string>;

  constructor(listed: Pick<WaitingWorkflows, 'refresh' | 'listed' | 'trouble'>, controllers: NamedControllers) {
    this.#listed = listed;
    this.#controllers = controllers;
    const awaits = Object.values(controllers).flatMap((named) => Object.entries(named?.awaits ?? {}));
    // What is paused is shown as a pause.
    this.#phases = new Set(
      awaits.flatMap(([phase, awaited]) => (awaited?.whom === PERSON && phase !== 'Paused' ? [phase] : [])),
    );
  }

  /** Asks Temporal again where the list is old, and waits for the answer for a moment only. Never throws. */
  async refresh(): Promise<void> {
    await this.#listed.refresh(PATIENCE_MS);
  }

  /** Those about something in a namespace, or all. */
  waiting(namespace: string | null): readonly Waiting[] {
    return (this.#listed.listed() ?? [])
      .filter(({ phase, target }) => this.#phases.has(phase) && isIn(namespace, target))
      .slice(0, MOST)
      .map((workflow) => this.#waitingOf(workflow));
  }

  /** A sentence where the list is older than it looks. */
  get trouble(): string | null {
    const { trouble } = this.#listed;
    if (trouble === null && this.#listed.listed() !== null) return null;
    return `Temporal has not said which workflows wait${trouble === null ? ' yet' : `: ${trouble}`}.`;
  }

  #waitingOf({ workflowId, controller, target, phase, reason, since }: WaitingWorkflow): Waiting {
    const known = Object.hasOwn(this.#controllers, controller) ? this.#controllers[controller] : undefined;
    const isKnown = reason !== UNKNOWN;
    return {
      what: `${known?.noun ?? controller} ${target}`,
      whom: PERSON,
      isForPeople: true,
      since: isKnown ? since : null,
      why: `It is ${phase}${isKnown ? ` (${reason})` : ''}, until ${known?.awaits[phase]?.until ?? 'somebody acts'}; its details say more.`,
      links: [],
      workflow: workflowId,
      command: known === undefined ? null : `${known.statusCommand} ${target}`,
    };
  }
}

function isIn(namespace: string | null, target: string): boolean {
  return namespace === null || target.startsWith(`${namespace}/`);
}
