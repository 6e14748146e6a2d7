import type { Client } from '@temporalio/client';
import { priorities } from '../../domain/kernel/priority.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import { boundedMinute, noteWrite, type WrittenMinute } from '../../domain/quota-usage/roll-up.ts';
import { quotaUsageRollUpId } from '../../domain/quota-usage/target.ts';
import { ROLL_UP_PHASE, usageWritten } from '../../workflows/quota-usage/messages.ts';
import type { quotaUsageRollUp } from '../../workflows/quota-usage/roll-up.ts';
import type { StarterContext } from '../controller.ts';
import { firstAttributes } from '../../workflows/kernel/first-attributes.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

const MINUTE_MS = 60_000;
/** So many minutes are kept while Temporal is away. */
const KEPT_MINUTES = 60;

/**
 * Tells the roll-up of the cluster what this starter has written: one request for each minute with writes, none for
 * others. A minute that is not told before the process ends is lost; the metrics have it.
 *
 * @returns notes a write.
 */
export function startRollUp(
  context: Pick<StarterContext, 'headroom' | 'requestMetrics' | 'client'>,
): (write: { readonly namespace: string; readonly quota: string; readonly lagMs: number }) => void {
  const { client, headroom } = context;
  const { cluster, onStop } = headroom;
  let open: WrittenMinute | null = null;
  let closed: readonly WrittenMinute[] = [];
  const queue = startWorkQueue<QueuedRequest>(context, 'usage roll-up', {
    send: async () => {
      const minutes = closed;
      await sendMinutes(client, cluster, minutes);
      closed = closed.filter((minute) => !minutes.includes(minute));
    },
    kindOf: () => 'usage roll-up',
    gapMs: 0,
  });
  const timer = setInterval(() => {
    if (open === null) return;
    closed = [...closed, boundedMinute(open)].slice(-KEPT_MINUTES);
    open = null;
    queue.add({ coalescingKey: quotaUsageRollUpId(cluster), starts: true, cause: 'statuses were written' });
  }, MINUTE_MS);
  onStop('minutes of the usage roll-up', () => clearInterval(timer));
  return (write) => {
    open = noteWrite(open, { ...write, at: Date.now() });
  };
}

async function sendMinutes(client: Client, cluster: string, minutes: readonly WrittenMinute[]): Promise<void> {
  await client.workflow.signalWithStart<typeof quotaUsageRollUp, [readonly WrittenMinute[]]>('quotaUsageRollUp', {
    workflowId: quotaUsageRollUpId(cluster),
    taskQueue: taskQueue(cluster),
    args: [{ cluster }],
    signal: usageWritten,
    signalArgs: [minutes],
    staticSummary: `statuses of quotas written in ${cluster}`,
    staticDetails: `What the starter that holds the Lease quota-usage-owner has written in ${cluster}: how many statuses of which namespaces, and how late. A minute with writes is one signal. It ends when nothing was written for a quarter of an hour, and decides nothing: to end it does no harm.`,
    typedSearchAttributes: firstAttributes({
      controller: 'quota-usage',
      target: cluster,
      phase: ROLL_UP_PHASE,
      cluster,
    }),
    priority: { priorityKey: priorities.resync },
  });
}
