/** Where the time of workflow runs went, computed from their histories. */

/** The parts of a history event that say when something was done. */
export interface TimedEvent {
  readonly id: number;
  /** As the event's attributes are called, without that word: `activityTaskStarted`. */
  readonly type: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What the activity is called; of its scheduling. */
  readonly activity?: string;
  /** The event that scheduled the task; of its start and its end. */
  readonly scheduled?: number;
}

/** A part of a run, and how long it took in milliseconds. */
export interface Step {
  readonly name: string;
  readonly ms: number;
}

/**
 * The parts of a run: the whole, each activity's wait until a worker has taken it and the work itself, the same for
 * workflow tasks. Attempts of an activity that failed are in its wait.
 */
export function stepsOf(history: readonly TimedEvent[]): readonly Step[] {
  const byId = new Map(history.map((event) => [event.id, event]));
  const [first, last] = [history[0], history.at(-1)];
  const run = first === undefined || last === undefined ? [] : [{ name: 'run', ms: last.at - first.at }];
  const tasks = history.flatMap((started) => {
    if (started.type !== 'activityTaskStarted' && started.type !== 'workflowTaskStarted') return [];
    const scheduled = byId.get(started.scheduled ?? 0);
    // The end of an activity names its scheduling, the end of a workflow task both.
    const ended = history.find(({ id, scheduled }) => id > started.id && scheduled === started.scheduled);
    if (scheduled === undefined) return [];
    const name = scheduled.activity ?? 'workflow task';
    const work = ended === undefined ? [] : [{ name: `${name}, work`, ms: ended.at - started.at }];
    return [{ name: `${name}, wait`, ms: started.at - scheduled.at }, ...work];
  });
  return [...run, ...tasks];
}
