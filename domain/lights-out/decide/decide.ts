import { type PauseInForce, pauseReason, pauseSentence } from '../../kernel/pause.ts';
import { sentence } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  approvingSentence,
  awaitingApprovalSentences,
  cleanedUpSentence,
  dryRunSentences,
  factsOf,
  failureSentence,
  invalidSentence,
  laterSentence,
  notWokenSentence,
  PHRASES,
  scalingSentence,
  stateSentence,
  suspendedSentence,
} from './sentences.ts';
import type { Approving } from '../workload/approved.ts';
import { type LightsOutMemory, takeOver } from './memory.ts';
import { savingsAt } from './savings.ts';
import type { LightsOutObservation, SeenSchedule } from './observation.ts';
import type { Period } from '../schedule/period.ts';
import { UNCONFIRMED_SELECTOR } from '../schedule/names.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import { isUnconfirmed } from '../schedule/warnings.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { withCalendarProblems } from './calendar-problems.ts';
import { eventsOfNotes, notYetEmitted } from './events.ts';
import { totalOf } from '../workload/kinds.ts';
import type { Plan } from './plan.ts';
import type { LightsOutPhase, LightsOutReason, LightsOutVerdict, LightsOutEvent } from './verdict.ts';
import { workloadName } from '../workload/workload.ts';

/** Everything is observed at least once a day: a timer may have been computed with outdated time zone data. */
const LONGEST_WAIT_MS = 86_400_000;
/** How soon a clean-up that cannot go on is tried again, in milliseconds. */
const CLEANUP_RECHECK_MS = 60_000;

/**
 * Decides what to do about a schedule. Pure; the time is part of the observation. The returned memory includes the
 * observation and must be kept whatever the verdict is.
 */
export function decide(
  seen: LightsOutObservation,
  before: LightsOutMemory,
): readonly [LightsOutMemory, LightsOutVerdict] {
  const memory = updateMemory(seen, before);
  return [memory, inSentences(verdictFor(seen, memory))];
}

/** The condition is written as it is; Events and the detail become sentences where they are written. */
function inSentences(verdict: LightsOutVerdict): LightsOutVerdict {
  const { ready } = verdict;
  return { ...verdict, ready: ready === null ? null : { ...ready, message: sentence(ready.message) } };
}

function updateMemory(seen: LightsOutObservation, before: LightsOutMemory): LightsOutMemory {
  const { at, schedule, period, plan } = seen;
  const current = schedule === null ? before : { ...takeOver(before, schedule.status), uid: schedule.uid };
  const inEffect = seen.inEffect ?? current.inEffect;
  // A past override that kept something awake is remembered for the rest of the night: what people scaled up during it
  // is left alone.
  const overrides = current.overrides.filter(
    ({ kind, until }) => until > at || (kind === 'wake' && until > (inEffect?.from ?? at)),
  );
  const isOtherPeriod =
    period !== null &&
    current.completed !== null &&
    (current.completed.since !== period.since || current.completed.state !== period.state);
  const savings =
    plan === null
      ? savingsAt(current.savings, at, current.savings.idle)
      : savingsAt(current.savings, at, plan.idle ?? {});
  // A workload that is no longer in the plan does not count as failing any more.
  const due = new Set(plan?.items.map(({ workload }) => workloadName(workload)));
  const isComplete = plan !== null && plan.total - (plan.withheld ?? 0) <= plan.items.length;
  const failing = isComplete
    ? Object.fromEntries(Object.entries(current.failing).filter(([workload]) => due.has(workload)))
    : current.failing;
  return {
    ...current,
    // Where no approval is asked for any more, none is kept.
    ...(schedule?.spec?.requireApproval === false ? { approving: null } : {}),
    inEffect,
    ...(plan === null ? {} : joinsOf(plan)),
    overrides,
    savings,
    failing,
    retry: Object.keys(failing).length === 0 ? null : current.retry,
    // A new period begins without contested workloads.
    contested: isOtherPeriod ? {} : current.contested,
  };
}

/** What the next observation needs of this one to know what has joined since. */
function joinsOf({ joined = {}, joinedWorkloads = [], unmarked }: Plan): Partial<LightsOutMemory> {
  return { joined, joinedWorkloads, ...(unmarked === undefined ? {} : { unmarked }) };
}

function verdictFor(seen: LightsOutObservation, memory: LightsOutMemory): LightsOutVerdict {
  const { schedule, plan } = seen;
  const isOver = schedule === null && (plan === null || plan.total === 0);
  if (seen.pause !== null && !isOver) return paused(seen, memory, seen.pause);
  if (schedule === null) {
    if (plan !== null && plan.total > 0) {
      return restoring(seen, memory, plan, 'ScheduleGone', PHRASES.goneAndWoken);
    }
    return verdictOf('Ended', 'ScheduleGone', PHRASES.gone, { kind: 'end' });
  }
  if (schedule.isDeleting) return deleting(seen, memory, schedule);
  if (schedule.spec === null || seen.period === null || plan === null) return invalid(schedule, memory);
  return following(seen, memory, { schedule, plan });
}

function paused(seen: LightsOutObservation, memory: LightsOutMemory, pause: PauseInForce): LightsOutVerdict {
  const detail = pauseSentence(pause);
  return {
    ...verdictOf('Paused', pauseReason(pause), detail, { kind: 'wait', until: null }),
    facts: factsOf(seen, memory),
    ready: { status: 'Unknown', reason: pauseReason(pause), message: detail },
  };
}

/** The schedule is being deleted: everything that it ever put to sleep is woken, then the finalizer is removed. */
function deleting(
  seen: LightsOutObservation,
  memory: LightsOutMemory,
  { hasFinalizer }: SeenSchedule,
): LightsOutVerdict {
  const { plan } = seen;
  if (plan !== null && plan.total > 0) {
    return restoring(seen, memory, plan, 'ScheduleDeleted', PHRASES.deletedAndWoken);
  }
  if (!hasFinalizer) return verdictOf('Ended', 'ScheduleDeleted', PHRASES.deletedAndAwake, { kind: 'end' });
  const message = cleanedUpSentence(memory.run?.up ?? 0, plan?.leftAlone?.OwnedByOther ?? 0);
  return {
    ...verdictOf('CleaningUp', 'ScheduleDeleted', message, { kind: 'finalizer', isPresent: false }),
    events: notYetEmitted(memory, [{ type: 'Normal', reason: 'CleanupComplete', message, key: 'CleanupComplete' }]),
  };
}

function restoring(
  seen: LightsOutObservation,
  memory: LightsOutMemory,
  plan: Plan,
  reason: LightsOutReason,
  detail: string,
): LightsOutVerdict {
  const items = due(plan.items, memory, seen.at);
  const { withheld = 0 } = plan;
  if (items.length > 0) {
    return {
      ...verdictOf('CleaningUp', reason, detail, { kind: 'scale', items }),
      facts: factsOf(seen, memory),
      ready: { status: 'False', reason: 'CleaningUp', message: detail },
    };
  }
  if (withheld > 0 && Object.keys(memory.failing).length === 0) {
    const message = laterSentence(detail, withheld);
    return {
      ...verdictOf('CleaningUp', 'Paused', message, { kind: 'wait', until: seen.at + CLEANUP_RECHECK_MS }),
      facts: factsOf(seen, memory),
      ready: { status: 'Unknown', reason: 'Paused', message },
    };
  }
  const message = notWokenSentence(plan.total, memory);
  return {
    ...verdictOf('CleaningUp', 'CleanupFailed', message, {
      kind: 'wait',
      until: memory.retry?.at ?? seen.at + CLEANUP_RECHECK_MS,
    }),
    facts: factsOf(seen, memory),
    ready: { status: 'False', reason: 'CleanupFailed', message },
    events: notYetEmitted(memory, [
      { type: 'Warning', reason: 'CleanupPartialFailure', message, key: `CleanupPartialFailure ${failingKey(memory)}` },
    ]),
  };
}

/** An invalid schedule changes nothing, whatever it did before it became invalid. */
function invalid({ problems, generation }: SeenSchedule, memory: LightsOutMemory): LightsOutVerdict {
  const message = invalidSentence(problems);
  return {
    ...verdictOf('Invalid', 'InvalidSchedule', message, { kind: 'wait', until: null }),
    facts: [PHRASES.untilCorrected],
    ready: { status: 'False', reason: 'InvalidSchedule', message },
    events: notYetEmitted(memory, [
      { type: 'Warning', reason: 'InvalidSchedule', message, key: `InvalidSchedule ${generation}` },
    ]),
  };
}

/** The input of a decision about a valid schedule. */
interface Following {
  readonly seen: LightsOutObservation;
  readonly memory: LightsOutMemory;
  readonly schedule: SeenSchedule;
  readonly spec: ScheduleSpec;
  readonly period: Period;
  readonly plan: Plan;
  readonly facts: readonly string[];
}

function following(
  seen: LightsOutObservation,
  memory: LightsOutMemory,
  { schedule, plan }: { readonly schedule: SeenSchedule; readonly plan: Plan },
): LightsOutVerdict {
  const { spec } = schedule;
  const { period } = seen;
  if (spec === null || period === null) return invalid(schedule, memory);
  const given: Following = { seen, memory, schedule, spec, period, plan, facts: factsOf(seen, memory) };
  const approval = spec.requireApproval ? (memory.approving ?? null) : null;
  const verdict = withCalendarProblems(
    approval === null ? followed(given) : approving(given, approval),
    schedule,
    memory,
  );
  return isUnconfirmed(spec) ? { ...verdict, events: [...verdict.events, ...unconfirmed(given)] } : verdict;
}

/** The warning about one that was stored before a new one needed the confirmation. */
function unconfirmed({ memory, schedule }: Following): readonly LightsOutEvent[] {
  const key = `AllNamespaces ${schedule.uid}`;
  return notYetEmitted(memory, [
    { type: 'Warning', reason: 'AllNamespaces', message: `spec.${UNCONFIRMED_SELECTOR}`, key },
  ]);
}

function followed(given: Following): LightsOutVerdict {
  const { seen, memory, spec, plan } = given;
  if (spec.suspend) return suspended(given);
  if (spec.dryRun) return dryRun(given);
  const isApproved = !spec.requireApproval || memory.approved !== null;
  const allowed = isApproved ? plan.items : plan.items.filter(({ direction }) => direction === 'Up');
  const items = due(allowed, memory, seen.at);
  if (items.length > 0) return scaling(given, items);
  return !isApproved && plan.items.length > 0 ? awaitingApproval(given) : asScheduled(given);
}

function suspended({ period, plan, facts }: Following): LightsOutVerdict {
  const detail = suspendedSentence(plan);
  return {
    ...verdictOf('Suspended', 'Suspended', detail, { kind: 'wait', until: period.next?.at ?? null }),
    facts,
    ready: { status: 'True', reason: 'Suspended', message: detail },
  };
}

function dryRun({ seen, memory, plan, facts }: Following): LightsOutVerdict {
  const asleep = totalOf(plan.stats, 'asleep');
  const { detail, message, all } = dryRunSentences(plan);
  return {
    ...verdictOf('DryRun', 'DryRun', detail, { kind: 'wait', until: nextCheck(seen, memory, plan) }),
    facts: [...facts, ...all],
    // What it had put to sleep before is not as anybody wants it.
    ready:
      asleep === 0 ? { status: 'True', reason: 'DryRun', message } : { status: 'False', reason: 'DryRun', message },
    events: notYetEmitted(memory, [{ type: 'Normal', reason: 'DryRun', message, key: `DryRun ${message}` }]),
  };
}

/** There is something to write; the writes wait for the finalizer. */
function scaling({ memory, schedule, period, plan, facts }: Following, items: readonly PlanItem[]): LightsOutVerdict {
  if (!schedule.hasFinalizer) {
    return {
      ...verdictOf(period.state, 'Scaling', PHRASES.finalizerFirst, { kind: 'finalizer', isPresent: true }),
      facts,
    };
  }
  const isDown = items[0]?.direction === 'Down';
  const detail = scalingSentence(isDown ? 'Down' : 'Up', plan.total);
  return {
    ...verdictOf(isDown ? 'ScalingDown' : 'ScalingUp', 'Scaling', detail, { kind: 'scale', items }),
    facts,
    ready: readyOf(memory, detail),
    events: eventsOfNotes(plan, memory, period.since),
  };
}

/** What is approved is kept before anything of it is put to sleep. It may be that it cannot be kept, so what is woken goes first. */
function approving(given: Following, approval: Approving): LightsOutVerdict {
  const { seen, memory, spec, plan, facts } = given;
  const waking = plan.items.filter(({ direction }) => direction === 'Up');
  const items = spec.suspend || spec.dryRun ? [] : due(waking, memory, seen.at);
  if (items.length > 0) return scaling(given, items);
  const detail = approvingSentence(approval.by);
  return { ...verdictOf('AwaitingApproval', 'ApprovalNeeded', detail, { kind: 'approve', approval }), facts };
}

function awaitingApproval({ seen, memory, schedule, period, plan, facts }: Following): LightsOutVerdict {
  const { detail, message, all } = awaitingApprovalSentences(plan);
  return {
    ...verdictOf('AwaitingApproval', 'ApprovalNeeded', detail, { kind: 'wait', until: nextCheck(seen, memory, plan) }),
    facts: [...facts, ...all],
    ready: { status: 'True', reason: 'AwaitingApproval', message: detail },
    events: notYetEmitted(memory, [
      { type: 'Normal', reason: 'ApprovalNeeded', message, key: `ApprovalNeeded ${schedule.uid}` },
      ...eventsOfNotes(plan, memory, period.since),
    ]),
  };
}

/**
 * Nothing can be written now: everything is as the schedule wants it, except for failed workloads that wait for their
 * next try.
 */
function asScheduled({ seen, memory, period, plan, facts }: Following): LightsOutVerdict {
  const isFailing = Object.keys(memory.failing).length > 0;
  const detail = isFailing ? failureSentence(memory) : stateSentence(seen, plan);
  const failed: readonly LightsOutEvent[] = isFailing
    ? [{ type: 'Warning', reason: 'ScalingFailed', message: detail, key: `ScalingFailed ${failingKey(memory)}` }]
    : [];
  const until = nextCheck(seen, memory, plan);
  return {
    ...verdictOf(period.state, isFailing ? 'ScalingFailed' : 'AsScheduled', detail, { kind: 'wait', until }),
    facts,
    ready: readyOf(memory, detail),
    events: notYetEmitted(memory, [...failed, ...eventsOfNotes(plan, memory, period.since)]),
  };
}

/** The condition Ready while the cluster cannot be read: the last observation may be out of date. */
export function unreadable(message: string): NonNullable<LightsOutVerdict['ready']> {
  return { status: 'Unknown', reason: 'ReadFailed', message: sentence(message) };
}

/** The items to write now: those that failed in this direction wait for their next try and then come last. */
function due(items: readonly PlanItem[], { retry, failing }: LightsOutMemory, now: EpochMs): readonly PlanItem[] {
  if (retry === null || retry.at <= now) return items;
  return items.filter(({ workload, direction }) => {
    if (retry.direction !== undefined && retry.direction !== direction) return true;
    return !retry.isMany && failing[workloadName(workload)] === undefined;
  });
}

function nextCheck(seen: LightsOutObservation, memory: LightsOutMemory, plan: Plan): EpochMs {
  const moments = [
    seen.at + LONGEST_WAIT_MS,
    seen.period?.next?.at ?? null,
    plan.until,
    memory.retry?.at ?? null,
    ...memory.overrides.map(({ until }) => until),
    ...(seen.schedule?.overrides ?? []).map(({ until }) => until),
  ].filter((at) => at !== null && at > seen.at);
  return Math.min(...(moments as number[]));
}

function readyOf(memory: LightsOutMemory, detail: string): NonNullable<LightsOutVerdict['ready']> {
  return Object.keys(memory.failing).length === 0
    ? { status: 'True', reason: 'ReconcileSucceeded', message: detail }
    : { status: 'False', reason: 'ReconcileFailed', message: failureSentence(memory) };
}

/** Changes when other workloads fail, but not when the same ones fail again. */
function failingKey({ failing }: LightsOutMemory): string {
  return Object.keys(failing).toSorted().join(', ');
}

function verdictOf<Rest>(
  phase: LightsOutPhase,
  reason: LightsOutReason,
  detail: string,
  rest: Rest,
): Rest & Pick<LightsOutVerdict, 'phase' | 'reason' | 'detail' | 'facts' | 'ready' | 'events'> {
  return { phase, reason, detail, facts: [], ready: null, events: [], ...rest };
}
