import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { log, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ControllerName } from '../../domain/kernel/controllers.ts';
import type { AwaitedIn } from '../../domain/kernel/awaited.ts';
import { sharedMetrics } from '../../domain/kernel/monitoring/shared-metrics.ts';
import { oneLine, truncate } from '../../domain/kernel/sentence.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { detailsText, type ShownState, shownStatus } from './details.ts';
import { count } from './metrics.ts';

/** The four search attributes of every Headroom workflow, all of type Keyword. */
const controllerKey = defineSearchAttributeKey('HeadroomController', 'KEYWORD');
const targetKey = defineSearchAttributeKey('HeadroomTarget', 'KEYWORD');
export const phaseKey = defineSearchAttributeKey('HeadroomPhase', 'KEYWORD');
const clusterKey = defineSearchAttributeKey('HeadroomCluster', 'KEYWORD');

let published: ((isResting: boolean) => void) | null = null;

/** Hears of every publication, and whether nothing is under way since; one listener for each run. */
export function onPublished(listener: (isResting: boolean) => void): void {
  published = listener;
}

/** What an operator sees of a workflow without opening its history. */
export type PublishedStatus = ShownState;

/**
 * Publishes the status of a workflow in one place: search attributes, current details, the worker's metrics and the audit log.
 * Search attributes are written only when they change, because each write is a billed action and an empty write fails the
 * workflow task.
 */
export function createPublisher<Phase extends string>(
  identity: { controller: ControllerName; target: string; cluster: string },
  /** For whom it waits in each phase. */
  awaits: AwaitedIn<Phase>,
  before?: PublishedStatus,
  /** The phase that the client wrote into the search attributes when it started the workflow. */
  startedAs: string | null = null,
) {
  let publishedPhase = startedAs;
  let since: EpochMs = before?.since ?? 0;
  let last = before === undefined ? '' : `${before.phase}/${before.reason}`;
  return function publish(
    toShow: Omit<PublishedStatus, 'since'> & { readonly phase: Phase },
    now: EpochMs,
  ): PublishedStatus {
    const status = shownStatus(toShow);
    const current = `${status.phase}/${status.reason}`;
    if (current !== last) {
      last = current;
      since = now;
      count(sharedMetrics.phaseChanges, {
        controller: identity.controller,
        phase: status.phase,
        reason: status.reason,
      });
      const { phase, reason, detail } = status;
      log.info(`${identity.controller} of ${identity.target}: ${phase}`, {
        audit: 'status',
        ...identity,
        phase,
        reason,
        detail,
      });
    }
    const shown = { ...status, since };
    if (status.phase !== publishedPhase) {
      const pairs: SearchAttributePair[] = [{ key: phaseKey, value: status.phase }];
      if (publishedPhase === null) {
        pairs.push(
          { key: controllerKey, value: identity.controller },
          { key: targetKey, value: identity.target },
          { key: clusterKey, value: identity.cluster },
        );
      }
      publishedPhase = status.phase;
      upsertSearchAttributes(pairs);
    }
    const awaited = awaits[toShow.phase];
    setCurrentDetails(detailsText(identity, shown, awaited, now));
    published?.(awaited === null || awaited.isRest === true);
    return shown;
  };
}

/** Characters of a summary: Temporal shows a summary on one line and guarantees to keep 200 bytes. */
const SUMMARY_LENGTH = 100;

/** Shortens a text to the one-line summary of a timer or an activity. */
export function brief(text: string): string {
  return truncate(oneLine(text), SUMMARY_LENGTH);
}
