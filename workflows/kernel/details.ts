import type { Awaited } from '../../domain/kernel/awaited.ts';
import { sentence, visibleText } from '../../domain/kernel/sentence.ts';
import { type EpochMs, formatInstant, withRelativeTimes } from '../../domain/kernel/time.ts';

/** What people see of a workflow. */
export interface ShownState {
  readonly phase: string;
  readonly reason: string;
  /** One sentence or more, Markdown links allowed. */
  readonly detail: string;
  readonly since: EpochMs;
  /** Further lines, each a Markdown list item without the dash. */
  readonly facts: readonly string[];
}

/** Whose details these are: `CONTROLLER of team-a/compute`. */
export interface ShownSubject {
  readonly controller: string;
  readonly target: string;
}

/**
 * Markdown for the Temporal UI. Its first line has the same form for every workflow: the phase and its reason, since when,
 * what it is about, for whom it waits, and what ends that. Then the detail, and the facts with their links. Temporal shows the
 * text unchanged until the workflow writes it again, so the text says when it was written.
 */
export function detailsText(
  { controller, target }: ShownSubject,
  { phase, reason, detail, since, facts }: ShownState,
  awaited: Awaited | null,
  now: EpochMs,
): string {
  const relative = (text: string): string => withRelativeTimes(text, now);
  const ending = awaited === null ? 'is over' : `waits for ${awaited.whom}, until ${awaited.until}`;
  return [
    `**${phase}** (${reason}) since ${formatInstant(since)}: ${controller} of ${target} ${ending}.`,
    relative(sentence(detail)),
    ...(facts.length === 0 ? [] : [facts.map((fact) => `- ${relative(fact)}`).join('\n')]),
    `As of ${formatInstant(now)}.`,
  ].join('\n\n');
}

/** A status in which people see every character. */
export function shownStatus(status: Omit<ShownState, 'since'>): Omit<ShownState, 'since'> {
  return { ...status, detail: visibleText(status.detail), facts: status.facts.map(visibleText) };
}
