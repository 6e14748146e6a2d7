/** What Temporal Cloud would bill for a workflow run, computed from its history. */

/** The parts of a history event that say whether it is billed. */
export interface BilledEvent {
  /** As the event's attributes are called, without that word: `timerStarted`. */
  readonly type: string;
  /** The number of the attempt that was made last; of the start of an activity. */
  readonly attempt?: number;
  /** The run goes on from another one; of the start of a workflow. */
  readonly continued?: boolean;
  /** What a marker is for. */
  readonly marker?: string;
}

const actionKinds = [
  'starts with a signal',
  'further signals',
  'activities',
  'activity retries',
  'timers',
  'search attributes upserted',
  'continued as new',
  'markers',
] as const;

type ActionKind = (typeof actionKinds)[number];

export type ActionCount = Readonly<Record<ActionKind, number>>;

const LOCAL_ACTIVITY = 'core_local_activity';

/**
 * Counts the billed actions of a run. A start and the signal that came with it are one; a run that goes on from another
 * was paid for by that one's continue-as-new. All local activities of one workflow task are one, and a history shows them
 * as markers in a row.
 */
export function actionsOf(history: readonly BilledEvent[]): ActionCount {
  const of = (type: string): readonly BilledEvent[] => history.filter((event) => event.type === type);
  const isContinued = of('workflowExecutionStarted').some((event) => event.continued === true);
  const signals = of('workflowExecutionSignaled').length;
  const retries = of('activityTaskStarted').map(({ attempt = 1 }) => attempt - 1);
  return {
    'starts with a signal': isContinued ? 0 : of('workflowExecutionStarted').length,
    'further signals': isContinued ? signals : Math.max(0, signals - 1),
    activities: of('activityTaskScheduled').length,
    'activity retries': retries.reduce((sum, count) => sum + count, 0),
    timers: of('timerStarted').length,
    'search attributes upserted': of('upsertWorkflowSearchAttributes').length,
    'continued as new': of('workflowExecutionContinuedAsNew').length,
    markers: history.filter((event, at) => isBilledMarker(event, history[at - 1])).length,
  };
}

function isMarker(event: BilledEvent | undefined): boolean {
  return event?.type === 'markerRecorded';
}

function isBilledMarker(event: BilledEvent, before: BilledEvent | undefined): boolean {
  if (!isMarker(event)) return false;
  return !(event.marker === LOCAL_ACTIVITY && isMarker(before) && before?.marker === LOCAL_ACTIVITY);
}

/** The sum of what several runs took, times what one of them stands for. */
export function scaledActions(counts: readonly ActionCount[], factor: number): ActionCount {
  const sumOf = (kind: ActionKind): number => counts.reduce((sum, count) => sum + count[kind], 0);
  return Object.fromEntries(
    actionKinds.map((kind) => [kind, Math.round(sumOf(kind) * factor)]),
  ) as unknown as ActionCount;
}

export function totalActions(count: ActionCount): number {
  return actionKinds.reduce((sum, kind) => sum + count[kind], 0);
}
