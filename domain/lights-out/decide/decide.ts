import { type PauseInForce, pauseReason, pauseSentence } from '../../kernel/pause.ts';
import { sentence } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { excludeAdvice } from '../workload/advice.ts';
import {
  counted,
  factsOf,
  failureSentence,
  itemSentence,
  shortFacts,
  shortList,
  stateSentence,
  withheldSentence,
} from './sentences.ts';
import { type LightsOutMemory, savingsAt, takeOver } from './memory.ts';
import type { LightsOutObservation, SeenSchedule } from './observation.ts';
import type { Period } from '../schedule/period.ts';
import type { ScheduleSpec } from '../schedule/schedule.ts';
import type { KeepReason, PlanItem } from '../workload/evaluation.ts';
import { type Plan } from './plan.ts';
import type { LightsOutPhase, LightsOutReason, LightsOutVerdict, LightsOutEvent } from './verdict.ts';
import { workloadName } from '../workload/workload.ts';

/** Everything is observed at least once a day: a timer may have been computed with outdated time zone data. */
const LONGEST_WAIT_MS = 86_400_000;
/** How soon a clean-up that cannot go on is tried again, in milliseconds. */
const CLEANUP_RECHECK_MS = 60_000;
/** Maximum of Events of one kind per observation; the details contain the others. */
const EVENTS_AT_ONCE = 10;

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
      ? savingsAt(current.savings, at, current.savings.replicas)
      : savingsAt(current.savings, at, plan.savedReplicas);
  // A workload that is no longer in the plan does not count as failing any more.
  const due = new Set(plan?.items.map(({ workload }) => workloadName(workload)));
  const isComplete = plan !== null && plan.total - (plan.withheld ?? 0) <= plan.items.length;
  const failing = isComplete
    ? Object.fromEntries(Object.entries(current.failing).filter(([workload]) => due.has(workload)))
    : current.failing;
  return {
    ...current,
    inEffect,
    overrides,
    savings,
    failing,
    retry: Object.keys(failing).length === 0 ? null : current.retry,
    // A new period begins without contested workloads.
    contested: isOtherPeriod ? {} : current.contested,
  };
}

function verdictFor(seen: LightsOutObservation, memory: LightsOutMemory): LightsOutVerdict {
  const { schedule, plan } = seen;
  const isOver = schedule === null && (plan === null || plan.total === 0);
  if (seen.pause !== null && !isOver) return paused(seen, memory, seen.pause);
  if (schedule === null) {
    if (plan !== null && plan.total > 0) {
      return restoring(seen, memory, plan, 'ScheduleGone', 'the schedule is gone, and what it put to sleep is woken');
    }
    return verdictOf('Ended', 'ScheduleGone', 'the schedule does not exist any more', { kind: 'end' });
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
    return restoring(
      seen,
      memory,
      plan,
      'ScheduleDeleted',
      'the schedule is deleted, and what it put to sleep is woken',
    );
  }
  if (!hasFinalizer)
    return verdictOf(
      'Ended',
      'ScheduleDeleted',
      'the schedule is deleted, and everything that it put to sleep is awake',
      { kind: 'end' },
    );
  const woken = memory.run?.up ?? 0;
  const message = `everything that the schedule put to sleep is awake${woken === 0 ? '' : `: ${counted(woken, 'workload')}`}`;
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
  const failures = failureSentence(memory);
  const { withheld = 0 } = plan;
  if (items.length > 0) {
    return {
      ...verdictOf('CleaningUp', reason, detail, { kind: 'scale', items }),
      facts: factsOf(seen, memory),
      ready: { status: 'False', reason: 'CleaningUp', message: detail },
    };
  }
  if (withheld > 0 && Object.keys(memory.failing).length === 0) {
    const message = `${detail} later: ${withheldSentence(withheld)}`;
    return {
      ...verdictOf('CleaningUp', 'Paused', message, { kind: 'wait', until: seen.at + CLEANUP_RECHECK_MS }),
      facts: factsOf(seen, memory),
      ready: { status: 'Unknown', reason: 'Paused', message },
    };
  }
  const message = `${counted(plan.total, 'workload')} cannot be woken yet, and the schedule stays until then. ${failures}`;
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
  const listed = problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
  const message = listed === '' ? 'the schedule cannot be read' : listed;
  return {
    ...verdictOf('Invalid', 'InvalidSchedule', message, { kind: 'wait', until: null }),
    facts: ['nothing is put to sleep or woken until the schedule is corrected'],
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
  if (spec.suspend) return suspended(given);
  if (spec.dryRun) return dryRun(given);
  const isApproved = !spec.requireApproval || memory.approved !== null;
  const allowed = isApproved ? plan.items : plan.items.filter(({ direction }) => direction === 'Up');
  const items = due(allowed, memory, seen.at);
  if (items.length > 0) return scaling(given, items);
  return !isApproved && plan.items.length > 0 ? awaitingApproval(given) : asScheduled(given);
}

function suspended({ period, facts }: Following): LightsOutVerdict {
  const detail = 'spec.suspend is true: nothing is put to sleep or woken';
  return {
    ...verdictOf('Suspended', 'Suspended', detail, { kind: 'wait', until: period.next?.at ?? null }),
    facts,
    ready: { status: 'True', reason: 'Suspended', message: detail },
  };
}

function dryRun({ seen, memory, plan, facts }: Following): LightsOutVerdict {
  const wanted = plan.items.map(itemSentence);
  const detail =
    plan.total === 0
      ? 'this dry run would change nothing'
      : `this dry run would change ${counted(plan.total, 'workload')}`;
  const message = plan.total === 0 ? detail : `${detail}: ${shortList(wanted)}`;
  return {
    ...verdictOf('DryRun', 'DryRun', detail, { kind: 'wait', until: nextCheck(seen, memory, plan) }),
    facts: [...facts, ...shortFacts(wanted.map((item) => `Would be done: ${item}`))],
    ready: { status: 'True', reason: 'DryRun', message },
    events: notYetEmitted(memory, [{ type: 'Normal', reason: 'DryRun', message, key: `DryRun ${message}` }]),
  };
}

/** There is something to write; the writes wait for the finalizer. */
function scaling({ memory, schedule, period, plan, facts }: Following, items: readonly PlanItem[]): LightsOutVerdict {
  if (!schedule.hasFinalizer) {
    const detail = 'Headroom adds its finalizer first, so that a deletion of the schedule wakes what it put to sleep';
    return { ...verdictOf(period.state, 'Scaling', detail, { kind: 'finalizer', isPresent: true }), facts };
  }
  const isDown = items[0]?.direction === 'Down';
  const workloads = counted(plan.total, 'workload');
  const detail = isDown ? `Headroom puts ${workloads} to sleep` : `Headroom wakes ${workloads}`;
  return {
    ...verdictOf(isDown ? 'ScalingDown' : 'ScalingUp', 'Scaling', detail, { kind: 'scale', items }),
    facts,
    ready: readyOf(memory, detail),
    events: eventsOfNotes(plan, memory, period.since),
  };
}

function awaitingApproval({ seen, memory, schedule, period, plan, facts }: Following): LightsOutVerdict {
  const what = `${counted(plan.items.length, 'workload')} would be put to sleep for the first time`;
  const advice = 'Approve it with headroom lights-out approve';
  const detail = `${what}. ${advice}`;
  const wanted = plan.items.map(itemSentence);
  const message = `${what}: ${shortList(wanted)}. ${advice}`;
  return {
    ...verdictOf('AwaitingApproval', 'ApprovalNeeded', detail, { kind: 'wait', until: nextCheck(seen, memory, plan) }),
    facts: [...facts, ...shortFacts(wanted.map((item) => `Waits for the approval: ${item}`))],
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

/** The items to write now: failed ones wait for their next try and then come last. */
function due(items: readonly PlanItem[], memory: LightsOutMemory, now: EpochMs): readonly PlanItem[] {
  if (memory.retry === null || memory.retry.at <= now) return items;
  if (memory.retry.isMany) return [];
  return items.filter(({ workload }) => memory.failing[workloadName(workload)] === undefined);
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

/** The reasons that are reported as Events; the others are only in the details. */
const EVENT_OF: Readonly<
  Partial<Record<KeepReason, { readonly type: LightsOutEvent['type']; readonly reason: string }>>
> = {
  ChangedByPerson: { type: 'Normal', reason: 'KeptUp' },
  OwnedByOther: { type: 'Warning', reason: 'OwnedByOther' },
  BadAnnotation: { type: 'Warning', reason: 'BadAnnotation' },
};

function eventsOfNotes(plan: Plan, memory: LightsOutMemory, since: EpochMs | null): readonly LightsOutEvent[] {
  const period = since === null ? 'ever' : `${since}`;
  const notes = plan.notes.flatMap(({ workload, reason, detail }): LightsOutEvent[] => {
    const event = EVENT_OF[reason];
    return event === undefined
      ? []
      : [{ ...event, message: `${workload}: ${detail}`, key: `${reason} ${workload} ${period}` }];
  });
  const again = plan.items
    .filter(({ reason }) => reason === 'DownAgain')
    .map(({ workload, manager = 'somebody' }): LightsOutEvent => {
      const name = workloadName(workload);
      return {
        type: 'Warning',
        reason: 'PutDownAgain',
        message: `${name} was scaled up by ${manager}, and Headroom puts it to sleep again. ${excludeAdvice(manager)}`,
        key: `DownAgain ${name} ${period}`,
      };
    });
  return [
    ...notYetEmitted(memory, notes).slice(0, EVENTS_AT_ONCE),
    ...notYetEmitted(memory, again).slice(0, EVENTS_AT_ONCE),
  ];
}

function notYetEmitted(memory: LightsOutMemory, candidates: readonly LightsOutEvent[]): readonly LightsOutEvent[] {
  return candidates.filter(({ key }) => !memory.emitted.includes(key));
}

function verdictOf<Rest>(
  phase: LightsOutPhase,
  reason: LightsOutReason,
  detail: string,
  rest: Rest,
): Rest & Pick<LightsOutVerdict, 'phase' | 'reason' | 'detail' | 'facts' | 'ready' | 'events'> {
  return { phase, reason, detail, facts: [], ready: null, events: [], ...rest };
}
