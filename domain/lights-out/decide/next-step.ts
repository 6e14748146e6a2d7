/** The state machine of a schedule's workflow: what follows from an observation, and from a write that failed. Pure. */
import { decide } from './decide.ts';
import { type FailedWrite, type FailedWriteReport, failedWriteReport } from './failed-write.ts';
import { freshMemory, type LightsOutMemory, withPendingEvents } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import { completeRun, type FinishedRun, withRun } from './run.ts';
import { isOneBatch } from './scaling.ts';
import type { LightsOutEvent, LightsOutVerdict } from './verdict.ts';

/** What the workflow does after an observation, in the order of the fields. */
export type NextStep =
  /** Everything has to be observed again first. */
  | { readonly kind: 'observe'; readonly memory: LightsOutMemory }
  | {
      readonly kind: 'act';
      readonly memory: LightsOutMemory;
      /** A scaling run that is over by now. */
      readonly finished: FinishedRun | null;
      /** What is published, and what is done at last. */
      readonly verdict: LightsOutVerdict;
      /** Whether the status is written now, or with the result of what is done: each write of it is an action of Temporal. */
      readonly isStatusWritten: boolean;
      /** Events before it is done. */
      readonly before: readonly LightsOutEvent[];
      /** Events once it is done: that everything is cleaned up is said when it is. */
      readonly after: readonly LightsOutEvent[];
    };

/** @param memory what the workflow remembers at this moment, which commands may have changed since the observation began. */
export function nextStep(memory: LightsOutMemory, seen: LightsOutObservation): NextStep {
  const uid = seen.schedule?.uid ?? null;
  // Approvals, overrides and saved state are those of a deleted schedule of the same name.
  if (uid !== null && memory.uid !== null && uid !== memory.uid) return { kind: 'observe', memory: freshMemory };
  const [decided, verdict] = decide(seen, memory);
  // The status contains overrides of a run before this one, which the plan does not take into account yet.
  if (decided.overrides.length > memory.overrides.length) return { kind: 'observe', memory: decided };
  const { memory: known, finished } = withProgress(decided, seen, verdict);
  const isLast = verdict.kind === 'finalizer' && !verdict.isPresent;
  return {
    kind: 'act',
    memory: known,
    finished,
    verdict,
    isStatusWritten: !(verdict.kind === 'scale' && isOneBatch(seen, verdict.items)),
    before: [...known.pendingEvents, ...(isLast ? [] : verdict.events)],
    after: isLast ? verdict.events : [],
  };
}

/** Begins a scaling run, or ends one where nothing is left that can be done now. */
function withProgress(
  memory: LightsOutMemory,
  seen: LightsOutObservation,
  verdict: LightsOutVerdict,
): { readonly memory: LightsOutMemory; readonly finished: FinishedRun | null } {
  if (verdict.kind === 'scale') {
    const held = (seen.plan?.items.length ?? 0) - verdict.items.length;
    return { memory: withRun(memory, (seen.plan?.total ?? 0) - held, seen.at), finished: null };
  }
  const isOnTheWay = verdict.kind === 'approve' || (verdict.kind === 'finalizer' && verdict.isPresent);
  if (isOnTheWay || verdict.reason === 'Paused' || verdict.reason === 'GloballyPaused') {
    return { memory, finished: null };
  }
  // Everything that the schedule wants is done, apart from workloads that cannot be scaled.
  const isAsWanted = verdict.reason === 'AsScheduled' || verdict.reason === 'ScalingFailed';
  const { memory: completed, events, finished } = completeRun(memory, seen, isAsWanted);
  return { memory: withPendingEvents(completed, events), finished };
}

/** What is said of a write that failed as a whole. The next pass comes after a while, and begins with an observation. */
export function afterFailure(
  { emitted }: LightsOutMemory,
  { schedule }: LightsOutObservation,
  { what, why }: { readonly what: FailedWrite; readonly why: string },
): Pick<FailedWriteReport, 'reason' | 'detail' | 'ready'> & { readonly events: readonly LightsOutEvent[] } {
  const { event, ...said } = failedWriteReport(what, why, schedule?.isDeleting === true);
  return { ...said, events: emitted.includes(event.key) ? [] : [event] };
}
