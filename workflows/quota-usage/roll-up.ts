import { condition, continueAsNew, setHandler, workflowInfo } from '@temporalio/workflow';
import { addMinutes, emptyRollUp, type RollUp, rollUpText } from '../../domain/quota-usage/roll-up.ts';
import { pauseChanged } from '../kernel/messages.ts';
import { createPublisher } from '../kernel/visibility.ts';
import { ROLL_UP_PHASE, rollUpStatus, usageWritten } from './messages.ts';

export interface QuotaUsageRollUpInput {
  readonly cluster: string;
  /** What the previous run knew, through continue-as-new. */
  readonly carried?: RollUp;
  /** Overrides the time without writes after which it ends, in milliseconds; for recordings. */
  readonly quietMs?: number;
}

/** It ends when nothing was written for so long; one timer for each such time, however much is written. */
const QUIET_MS = 15 * 60_000;
/** A minute is a signal of five events: a day with writes in every minute fits in a run. */
const HISTORY_EVENTS = 8_000;

/**
 * What operators read of the owner's writes in a cluster: how many in which namespaces, and how late. It decides nothing
 * and does nothing; what it shows is lost with nothing but itself.
 */
export async function quotaUsageRollUp({
  cluster,
  carried,
  quietMs = QUIET_MS,
}: QuotaUsageRollUpInput): Promise<RollUp> {
  const publish = createPublisher(
    { controller: 'quota-usage', target: cluster, cluster },
    { [ROLL_UP_PHASE]: { whom: 'the clock', until: 'nothing was written for 15 minutes' } },
    undefined,
    ROLL_UP_PHASE,
  );
  let rollUp = carried ?? emptyRollUp;
  let heardAt = Date.now();
  setHandler(rollUpStatus, () => rollUp);
  // A pause concerns the writes, which the roll-up only counts.
  setHandler(pauseChanged, () => {});
  setHandler(
    usageWritten,
    (minutes) => {
      rollUp = addMinutes(rollUp, minutes);
      heardAt = Date.now();
      publish({ phase: ROLL_UP_PHASE, reason: 'UsageWritten', ...rollUpText(rollUp) }, heardAt);
    },
    { description: "the starter's: what it has written in these minutes" },
  );
  while (Date.now() - heardAt < quietMs) {
    const isLong = () => workflowInfo().historyLength > HISTORY_EVENTS;
    const left = quietMs - (Date.now() - heardAt);
    if (await condition(isLong, left, { summary: 'it ends when nothing was written for so long' })) {
      return await continueAsNew<typeof quotaUsageRollUp>({ cluster, carried: rollUp, quietMs });
    }
  }
  return rollUp;
}
