import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { metricMeter, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';

/** The four search attributes of every Headroom workflow, all of type Keyword. */
const controllerKey = defineSearchAttributeKey('HeadroomController', 'KEYWORD');
const targetKey = defineSearchAttributeKey('HeadroomTarget', 'KEYWORD');
const phaseKey = defineSearchAttributeKey('HeadroomPhase', 'KEYWORD');
const clusterKey = defineSearchAttributeKey('HeadroomCluster', 'KEYWORD');

/** What an operator sees of a workflow without opening its history. */
export interface Standing {
  readonly phase: string;
  readonly reason: string;
  /** One sentence, Markdown links allowed. */
  readonly detail: string;
  readonly since: EpochMs;
  /** Further lines, each a Markdown list item without the dash. */
  readonly facts: readonly string[];
}

/**
 * Publishes where a workflow stands, in one place: search attributes (written only when they change, because each write is
 * a billed action and an empty one fails the workflow task), current details, and the worker's metrics.
 */
export function createPublisher(
  identity: { controller: string; target: string; cluster: string },
  before?: Standing,
  /** The phase that whoever started the run has put into its search attributes, with all the others. */
  startedAs: string | null = null,
) {
  let publishedPhase = startedAs;
  let since: EpochMs = before?.since ?? 0;
  let last = before === undefined ? '' : `${before.phase}/${before.reason}`;
  const standings = metricMeter.createCounter(
    'headroom_standings',
    '1',
    'How often a workflow came to stand in a phase for a reason.',
  );
  return function publish(standing: Omit<Standing, 'since'>, now: EpochMs): Standing {
    const said = `${standing.phase}/${standing.reason}`;
    if (said !== last) {
      last = said;
      since = now;
      standings.add(1, { controller: identity.controller, phase: standing.phase, reason: standing.reason });
    }
    const published = { ...standing, since };
    if (standing.phase !== publishedPhase) {
      const pairs: SearchAttributePair[] = [{ key: phaseKey, value: standing.phase }];
      if (publishedPhase === null) {
        pairs.push(
          { key: controllerKey, value: identity.controller },
          { key: targetKey, value: identity.target },
          { key: clusterKey, value: identity.cluster },
        );
      }
      publishedPhase = standing.phase;
      upsertSearchAttributes(pairs);
    }
    setCurrentDetails(renderDetails(published));
    return published;
  };
}

/** Characters of a summary; Temporal shows it on one line and keeps 200 bytes for sure. */
const SUMMARY_LENGTH = 100;

/** A text as the summary of a timer or an activity: cut where it is too long for one line. */
export function brief(text: string): string {
  return text.length <= SUMMARY_LENGTH ? text : `${text.slice(0, SUMMARY_LENGTH - 1)}…`;
}

/** Markdown for the Temporal UI: the phase and why, in words, since when, and the facts with their links. */
function renderDetails(standing: Standing): string {
  const head = `**${standing.phase}** (${standing.reason}) since ${formatInstant(standing.since)}`;
  const facts = standing.facts.map((fact) => `- ${fact}`).join('\n');
  return facts === '' ? `${head}\n\n${standing.detail}` : `${head}\n\n${standing.detail}\n\n${facts}`;
}
