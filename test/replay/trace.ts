/** What a workflow did in a replay: its verdicts, and what each of them asked Temporal for. */
import { bundleWorkflowCode, DefaultLogger, type InjectedSinks, Worker } from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import { type Change, changedWorkflows, type TracedDecision } from './changed-workflows.ts';
import { attributesOf, type RecordedEvent, type RecordedHistory } from './histories.ts';
import { relativeTaskQueue } from './relative-task-queue.ts';

/** What `trace-interceptor.ts` and the traced decisions tell, from inside of the workflow. */
export interface TraceSinks extends Sinks {
  readonly trace: {
    verdict(kind: string): void;
    /** `taskQueue`: as `relativeTaskQueue` says it. */
    activity(id: string, type: string, taskQueue: string): void;
    timer(id: string, ms: number): void;
    searchAttributes(values: Readonly<Record<string, string>>): void;
  };
}

/** One thing that a workflow asked Temporal for, as far as Temporal itself does not compare it with the history. */
type Command =
  | { readonly kind: 'activity'; readonly id: string; readonly type: string; readonly taskQueue: string }
  | { readonly kind: 'timer'; readonly id: string; readonly ms: number }
  | { readonly kind: 'searchAttributes'; readonly values: Readonly<Record<string, string>> };

export interface Traced {
  readonly recorded: RecordedHistory;
  /** Why it cannot be replayed; null where it can. */
  readonly error: string | null;
  /** In their order; with each command, the verdict that stood when it was asked for. */
  readonly steps: readonly { readonly verdict: string | null; readonly command: Command | null }[];
}

/** Replays histories with the workflows' code, after `changes` to it if any, and notes what they do. */
export async function replayTraced(
  recorded: readonly RecordedHistory[],
  decisions: readonly TracedDecision[],
  changes: readonly Change[] = [],
): Promise<readonly Traced[]> {
  const { workflowsPath, remove } = await changedWorkflows(changes, decisions);
  try {
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath,
      workflowInterceptorModules: [new URL('trace-interceptor.ts', import.meta.url).pathname],
      logger: new DefaultLogger('ERROR', () => {}),
    });
    const traces = new Map<string, { verdict: string | null; steps: Traced['steps'][number][] }>();
    const histories = recorded.map((history) => {
      // As it was called: a workflow may make its search attributes of it. The runs of a chain share it.
      const { workflowId, originalExecutionRunId: runId } = attributesOf(history.events[0]) as Readonly<
        Record<string, string>
      >;
      if (workflowId === undefined || runId === undefined) throw new Error(`${idOf(history)} has no id`);
      traces.set(runId, { verdict: null, steps: [] });
      return { workflowId, history: history.history };
    });
    const note = (runId: string, command: Command): void => {
      const traced = traces.get(runId);
      traced?.steps.push({ verdict: traced.verdict, command });
    };
    const callDuringReplay = true;
    const sinks: InjectedSinks<TraceSinks> = {
      trace: {
        verdict: {
          callDuringReplay,
          fn({ runId }, verdict) {
            const traced = traces.get(runId);
            if (traced === undefined) return;
            traced.verdict = verdict;
            traced.steps.push({ verdict, command: null });
          },
        },
        activity: {
          callDuringReplay,
          fn: ({ runId }, id, type, taskQueue) => note(runId, { kind: 'activity', id, type, taskQueue }),
        },
        timer: { callDuringReplay, fn: ({ runId }, id, ms) => note(runId, { kind: 'timer', id, ms }) },
        searchAttributes: {
          callDuringReplay,
          fn: ({ runId }, values) => note(runId, { kind: 'searchAttributes', values }),
        },
      },
    };
    const errors = new Map<string, string>();
    for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, histories)) {
      if (error !== undefined) errors.set(runId, error.message.slice(0, 300));
    }
    return recorded.map((history) => {
      const { originalExecutionRunId: runId } = attributesOf(history.events[0]) as Readonly<Record<string, string>>;
      return { recorded: history, error: errors.get(runId ?? '') ?? null, steps: traces.get(runId ?? '')?.steps ?? [] };
    });
  } finally {
    await remove();
  }
}

/** Unique among all recordings: where its file is. */
export function idOf({ release, controller, name }: RecordedHistory): string {
  return `${release}/${controller}/${name}`;
}

/**
 * Where a history says something else than the replay about what Temporal does not compare: what operators search by, how
 * long is waited, and on which task queue an activity waits for its worker.
 */
export function differences({ recorded, steps }: Traced): string[] {
  const commands = steps.flatMap(({ command }) => (command === null ? [] : [command]));
  const found: string[] = [];
  const compare = (what: string, then: unknown, now: unknown): void => {
    if (then !== now) found.push(`${what} was ${String(then)} and is ${String(now)}`);
  };
  const byId = (kind: 'activity' | 'timer', id: unknown) =>
    commands.find((command) => command.kind === kind && command.id === id);
  const upserts = commands.filter((command) => command.kind === 'searchAttributes');
  const own = taskQueueOf(attributesOf(recorded.events[0]));
  for (const event of recorded.events) {
    const attributes = attributesOf(event);
    if (event.eventType === 'EVENT_TYPE_ACTIVITY_TASK_SCHEDULED') {
      const now = byId('activity', attributes['activityId']);
      if (now?.kind !== 'activity') continue;
      compare(`the task queue of ${now.type}`, relativeTaskQueue(taskQueueOf(attributes), own), now.taskQueue);
    } else if (event.eventType === 'EVENT_TYPE_TIMER_STARTED') {
      const now = byId('timer', attributes['timerId']);
      if (now?.kind !== 'timer') continue;
      const seconds = Number(String(attributes['startToFireTimeout']).replace('s', ''));
      compare(`timer ${now.id} of event ${event.eventId}`, `${Math.round(seconds * 1000)} ms`, `${now.ms} ms`);
    } else if (event.eventType === 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES') {
      // The SDK's own, of a patch.
      if ('TemporalChangeVersion' in searchAttributesOf(event)) continue;
      const now = upserts.shift()?.values ?? {};
      compare(`event ${event.eventId}`, inOrder(searchAttributesOf(event)), inOrder(now));
    }
  }
  return found;
}

function taskQueueOf({ taskQueue }: Readonly<Record<string, unknown>>): string {
  return (taskQueue as { name: string }).name;
}

function inOrder(values: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** Of an event that sets them: the JSON of each value. */
export function searchAttributesOf(event: RecordedEvent): Readonly<Record<string, string>> {
  const { searchAttributes } = attributesOf(event) as {
    searchAttributes?: { indexedFields?: Readonly<Record<string, { data: string }>> };
  };
  return Object.fromEntries(
    Object.entries(searchAttributes?.indexedFields ?? {}).map(([name, { data }]) => [
      name,
      Buffer.from(data, 'base64').toString(),
    ]),
  );
}
