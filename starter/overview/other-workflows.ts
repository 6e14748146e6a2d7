/** Workflows that wait for a person, as Temporal lists them: what nothing in the cluster says. */
import { PERSON } from '../../domain/kernel/awaited.ts';
import { formatSpan } from '../../domain/kernel/time.ts';
import type { NamedWorkflows } from '../controller.ts';
import { UNKNOWN, type WaitingWorkflow, type WaitingWorkflows } from '../kernel/waiting-workflows.ts';
import type { Waiting } from './part.ts';

/** So many are shown at most; a page for people is not the place for more. */
const MOST = 500;
/** Milliseconds for which a page waits for Temporal; it is then shown with what is known. */
const PATIENCE_MS = 100;

/** A list that is older is said to be so, in milliseconds: it is asked for again every ten seconds. */
const OLD_MS = 30_000;

type ListedWorkflows = Pick<WaitingWorkflows, 'refresh' | 'listed' | 'listedAgo' | 'trouble'>;

/** By the name of the controller. */
export type NamedControllers = Readonly<Record<string, NamedWorkflows | undefined>>;

export class OtherWorkflows {
  readonly #listed: ListedWorkflows;
  readonly #controllers: NamedControllers;
  readonly #phases: ReadonlySet<string>;

  constructor(listed: ListedWorkflows, controllers: NamedControllers) {
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
    if (this.#phases.size > 0) await this.#listed.refresh(PATIENCE_MS);
  }

  /** All, or those about something in a namespace, and those about something in none. */
  waiting(namespace: string | null): readonly Waiting[] {
    return this.#forPeople()
      .slice(0, MOST)
      .filter(({ target }) => isShown(namespace, target))
      .map((workflow) => this.#waitingOf(workflow));
  }

  /** A sentence where the list is older than it looks, or not all of it. */
  get trouble(): string | null {
    if (this.#phases.size === 0) return null;
    const { trouble, listedAgo } = this.#listed;
    const why = trouble === null ? '' : `: ${trouble}`;
    if (listedAgo === null) return `Temporal has not said yet which workflows wait${why}.`;
    if (listedAgo >= OLD_MS)
      return `Temporal said ${formatSpan(listedAgo)} ago which workflows wait, and not since${why}.`;
    const isCut = this.#forPeople().length > MOST;
    return isCut ? `More than ${MOST} workflows wait for a person: only the first ones are here.` : null;
  }

  #forPeople(): readonly WaitingWorkflow[] {
    return (this.#listed.listed() ?? []).filter(({ phase }) => this.#phases.has(phase));
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

function isShown(namespace: string | null, target: string): boolean {
  return namespace === null || !target.includes('/') || target.startsWith(`${namespace}/`);
}
