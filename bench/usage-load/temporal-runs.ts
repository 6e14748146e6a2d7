import type { Client, WorkflowHandle } from '@temporalio/client';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { type Distribution, distributionOf } from './percentiles.ts';
import { type ActionCount, actionsOf, type BilledEvent, scaledActions } from './temporal-actions.ts';
import { stepsOf, type TimedEvent } from './temporal-steps.ts';

/** What the usage workflows that began in a span of time cost in Temporal. */
export interface TemporalUse {
  readonly runs: number;
  /** By the status that they have now: COMPLETED, RUNNING, … */
  readonly byStatus: Readonly<Record<string, number>>;
  /** How many of their histories were read; the actions are scaled from those to all. */
  readonly histories: number;
  readonly actions: ActionCount;
  /** History events of the runs that were read. */
  readonly events: Distribution | null;
  /** Milliseconds of the parts of the runs that were read. */
  readonly steps: Readonly<Record<string, Distribution>>;
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** Histories that are read at the same time. */
const AT_ONCE = 16;

/**
 * Counts the runs that began between two moments, and what those are billed, from at most so many of their histories,
 * taken evenly over the span.
 */
export async function temporalUse(
  client: Client,
  { from, to, histories }: { readonly from: Date; readonly to: Date; readonly histories: number },
): Promise<TemporalUse> {
  const span = `StartTime >= '${from.toISOString()}' AND StartTime <= '${to.toISOString()}'`;
  const runs: { readonly workflowId: string; readonly runId: string }[] = [];
  const byStatus: Record<string, number> = {};
  for await (const run of client.workflow.list({ query: `WorkflowType = 'quotaUsage' AND ${span}` })) {
    runs.push({ workflowId: run.workflowId, runId: run.runId });
    byStatus[run.status.name] = (byStatus[run.status.name] ?? 0) + 1;
  }
  const sample = evenly(runs, histories);
  const read = await inParallel(AT_ONCE, sample, async ({ workflowId, runId }) => {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    return (events ?? []).map(readEvent);
  });
  const factor = sample.length === 0 ? 0 : runs.length / sample.length;
  return {
    runs: runs.length,
    byStatus,
    histories: sample.length,
    actions: scaledActions(read.map(actionsOf), factor),
    events: distributionOf(read.map((events) => events.length)),
    steps: stepDistributions(read),
  };
}

/** At most so many of the items, at even distances. */
export function evenly<T>(items: readonly T[], atMost: number): readonly T[] {
  if (items.length <= atMost) return items;
  return items.filter(
    (_, at) => Math.floor((at * atMost) / items.length) !== Math.floor(((at - 1) * atMost) / items.length),
  );
}

function stepDistributions(histories: readonly (readonly TimedEvent[])[]): TemporalUse['steps'] {
  const spans = new Map<string, number[]>();
  for (const { name, ms } of histories.flatMap(stepsOf)) spans.set(name, [...(spans.get(name) ?? []), ms]);
  return Object.fromEntries(
    [...spans].flatMap(([name, values]) => {
      const distribution = distributionOf(values);
      return distribution === null ? [] : [[name, distribution]];
    }),
  );
}

const ATTRIBUTES = 'EventAttributes';

/** The parts of an event of a history that the counting needs. */
export function readEvent(event: HistoryEvent): BilledEvent & TimedEvent {
  const attempt = event.activityTaskStartedEventAttributes?.attempt;
  const before = event.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
  const marker = event.markerRecordedEventAttributes?.markerName;
  const activity = event.activityTaskScheduledEventAttributes?.activityType?.name;
  const scheduled = (
    event.activityTaskStartedEventAttributes ??
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.workflowTaskStartedEventAttributes ??
    event.workflowTaskCompletedEventAttributes
  )?.scheduledEventId;
  const attributes = Object.keys(event).find((key) => key.endsWith(ATTRIBUTES)) ?? ATTRIBUTES;
  return {
    id: Number(event.eventId),
    type: attributes.slice(0, -ATTRIBUTES.length),
    at: Number(event.eventTime?.seconds ?? 0) * 1000 + (event.eventTime?.nanos ?? 0) / 1e6,
    ...(attempt == null ? {} : { attempt }),
    ...(before ? { continued: true } : {}),
    ...(marker == null ? {} : { marker }),
    ...(activity == null ? {} : { activity }),
    ...(scheduled == null ? {} : { scheduled: Number(scheduled) }),
  };
}
