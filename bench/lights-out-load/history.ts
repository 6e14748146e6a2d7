/** What the workflow of one schedule cost in Temporal, counted from the histories of all its runs. */
import type { Client } from '@temporalio/client';
import { type ActionCount, actionsOf, type BilledEvent, scaledActions } from '../usage-load/temporal-actions.ts';
import { readEvent } from '../usage-load/temporal-runs.ts';
import { stepsOf, type TimedEvent } from '../usage-load/temporal-steps.ts';

type HistoryEvent = BilledEvent &
  TimedEvent & {
    /** Bytes of the state that the run before handed over, as Temporal stores it; of the start of a workflow. */
    readonly carried?: number;
  };

/** The events of each run of a workflow, the oldest run first. */
export type Histories = readonly (readonly HistoryEvent[])[];

export interface TemporalShare {
  readonly actions: ActionCount;
  /** By activity: how often it was scheduled. */
  readonly activities: Readonly<Record<string, number>>;
  /** Heartbeats of long activities, at most: a history does not show them, so they are computed from the durations. */
  readonly heartbeats: number;
  readonly events: number;
}

/** The interval of an activity's heartbeats, in milliseconds. */
const HEARTBEAT_MS = 3_000;

export async function historiesOf(client: Client, workflowId: string): Promise<Histories> {
  const runs: { readonly runId: string; readonly startTime: Date }[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(run);
  const histories: HistoryEvent[][] = [];
  for (const { runId } of runs.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime())) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    histories.push((events ?? []).map((event) => ({ ...readEvent(event), ...carriedIn(event) })));
  }
  return histories;
}

function carriedIn({
  workflowExecutionStartedEventAttributes: start,
}: Parameters<typeof readEvent>[0]): Pick<HistoryEvent, 'carried'> {
  if (!start?.continuedExecutionRunId) return {};
  return { carried: (start.input?.payloads ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0) };
}

/** What was done between two moments (milliseconds since 1970). */
export function shareOf(
  histories: Histories,
  { from, to }: { readonly from: number; readonly to: number },
): TemporalShare {
  const parts = histories.map((events) => events.filter(({ at }) => at >= from && at < to));
  const whole = parts.flat();
  const activities: Record<string, number> = {};
  for (const { activity } of whole) if (activity !== undefined) activities[activity] = (activities[activity] ?? 0) + 1;
  const work = parts
    .flatMap(stepsOf)
    .filter(({ name }) => name.endsWith(', work') && !name.startsWith('workflow task'));
  return {
    actions: scaledActions(parts.map(billedInPart), 1),
    activities,
    heartbeats: work.reduce((sum, { ms }) => sum + Math.floor(ms / HEARTBEAT_MS), 0),
    events: whole.length,
  };
}

/** A signal that starts its run is billed with the start. In a part without the start every signal is an action. */
function billedInPart(events: readonly HistoryEvent[]): ActionCount {
  const hasStart = events.some(({ type }) => type === 'workflowExecutionStarted');
  return actionsOf(hasStart ? events : [{ type: 'workflowExecutionStarted', continued: true }, ...events]);
}
