/** What people read of a schedule: in details, conditions, Events and summaries. Of a workload: ../workload/sentences.ts. */
import { atMost, sentence } from '../../kernel/sentence.ts';
import { formatInstant, formatSpan } from '../../kernel/time.ts';
import { MANAGED_BY, type ScheduleState } from '../schedule/names.ts';
import { type Level, levelText } from '../schedule/level.ts';
import type { Transition } from '../schedule/period.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { MOST_UNMARKED } from '../workload/unmarked.ts';
import { countsByKind, totalOf, WORKLOAD_KINDS } from '../workload/kinds.ts';
import { excludeAdvice } from '../workload/sentences.ts';
import { workloadName } from '../workload/workload.ts';
import { overrideSentence } from './commands.ts';
import type { LightsOutMemory, Stage } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import type { Plan } from './plan.ts';

/** What is always said in the same words. */
export const PHRASES = {
  gone: 'the schedule does not exist any more',
  goneAndWoken: 'the schedule is gone, and what it put to sleep is woken',
  deletedAndWoken: 'the schedule is deleted, and what it put to sleep is woken',
  deletedAndAwake: 'the schedule is deleted, and everything that it put to sleep is awake',
  untilCorrected: 'nothing is put to sleep or woken until the schedule is corrected',
  finalizerFirst: 'Headroom adds its finalizer first, so that a deletion of the schedule wakes what it put to sleep',
} as const;

/** Writes that fail as a whole. `hold` and `release`: the finalizer is added, or taken off. */
export const FAILED_WRITES = {
  hold: 'the finalizer cannot be added to the schedule, and until it is, nothing is put to sleep',
  release: 'everything is awake, but the finalizer cannot be removed, and the schedule stays until it can',
  batch: 'workloads cannot be written',
  approval: 'the approval cannot be stored, and until it is, nothing of it is put to sleep',
} as const;

/** How many workloads a list for people names. */
const NAMED = 20;

export function failureSentence({ failing, retry }: LightsOutMemory): string {
  const entries = Object.entries(failing).map(([workload, message]) => `${workload}: ${message}`);
  const count = retry?.isMany ? `more than ${entries.length} workloads` : counted(entries.length, 'workload');
  const failed = `${count} cannot be written: ${shortList(entries, 5)}`;
  return retry === null ? failed : `${sentence(failed)} Headroom tries again at ${formatInstant(retry.at)}`;
}

export function stateSentence({ period, local }: LightsOutObservation, plan: Plan): string {
  if (period === null) return '';
  const asleep = totalOf(plan.stats, 'asleep');
  const why = period.exception === null ? '' : ` (${period.exception})`;
  const next =
    period.next === null
      ? 'No further change is planned'
      : `It ${nextText(period.state, period.next)} at ${local.next}`;
  const { withheld = 0 } = plan;
  const { NotApproved: unapproved = 0 } = plan.leftAlone ?? {};
  const waiting = [
    ...(withheld === 0 ? [] : [`. ${withheldSentence(withheld)}`]),
    ...(unapproved === 0 ? [] : [`. ${unapprovedSentence(unapproved)}`]),
  ].join('');
  const kept = keptText(period.level);
  const state = `the schedule is ${period.state === 'Up' ? 'awake' : 'asleep'}${kept === null ? '' : ` and keeps ${kept}`}${why}`;
  return `${state}, and ${counted(asleep, 'workload')} ${asleep === 1 ? 'is' : 'are'} asleep. ${next}${waiting}`;
}

/** What is kept of each workload; null for nothing, and for a schedule without windows. */
function keptText(level: Level | undefined): string | null {
  return level === undefined ? null : levelText(level);
}

/** `wakes`, `goes to sleep and keeps 50 %`, `keeps nothing`: what it does next. */
function nextText(now: ScheduleState, { state, level }: Pick<Transition, 'state' | 'level'>): string {
  const kept = keptText(level);
  if (state === 'Up') return 'wakes';
  if (now === 'Down') return `goes on to keep ${kept ?? 'nothing'}`;
  return kept === null ? 'goes to sleep' : `goes to sleep and keeps ${kept}`;
}

/** `2 workloads that joined since the approval stay up until they are approved as well`. */
function unapprovedSentence(count: number): string {
  const [stay, are] = count === 1 ? ['stays', 'it is'] : ['stay', 'they are'];
  return `${counted(count, 'workload')} that joined since the approval ${stay} up until ${are} approved as well`;
}

/**
 * `. 2 workloads that it put to sleep stay asleep until dryRun is removed`, and how to find them; empty where none sleeps. Asked for are
 * the kinds that sleep, as kubectl fails for one that the cluster does not serve.
 */
function leftAsleepSentence({ stats }: Plan, until: 'dryRun' | 'suspend'): string {
  const count = totalOf(stats, 'asleep');
  if (count === 0) return '';
  const kinds = countsByKind(stats, 'asleep').flatMap(({ kind, count: some = 0 }) =>
    some === 0 ? [] : WORKLOAD_KINDS[kind].resource.resource,
  );
  const stay = count === 1 ? 'stays' : 'stay';
  const find = `kubectl get ${kinds.join(',')} -A -l ${MANAGED_BY} names what sleeps`;
  return `. ${counted(count, 'workload')} that it put to sleep ${stay} asleep until ${until} is removed. ${find}`;
}

export function suspendedSentence(plan: Plan): string {
  return `spec.suspend is true: nothing is put to sleep or woken${leftAsleepSentence(plan, 'suspend')}`;
}

/** `2 workloads wait for the end of the pause of their namespaces`. */
function withheldSentence(withheld: number): string {
  const [wait, whose] = withheld === 1 ? ['waits', 'its namespace'] : ['wait', 'their namespaces'];
  return `${counted(withheld, 'workload')} ${wait} for the end of the pause of ${whose}`;
}

/** The lines below the first sentence of the details. */
export function factsOf(
  { at: now, schedule, period, local, plan }: LightsOutObservation,
  memory: LightsOutMemory,
): readonly string[] {
  const overrides = [...memory.overrides.filter(({ until }) => until > now), ...(schedule?.overrides ?? [])];
  return [
    ...(period === null
      ? []
      : [
          `Next by the cron patterns: up ${atMoment(local.nextUpscale)}, down ${atMoment(local.nextDownscale)} (${schedule?.spec?.timezone ?? 'UTC'})`,
        ]),
    ...(plan === null
      ? []
      : [
          `In scope: ${[
            counted(plan.namespaces.length, 'namespace'),
            ...countsByKind(plan.stats, 'managed').flatMap(({ kind, count = 0 }) =>
              count === 0 ? [] : counted(count, kind),
            ),
          ].join(', ')}`,
          ...scopeSentence(plan),
          ...uncountedSentence(plan),
        ]),
    ...overrides.map(overrideSentence),
    ...memory.unready,
    ...shortFacts(Object.entries(memory.failing).map(([workload, message]) => `Failing: ${workload}: ${message}`)),
    ...(plan === null
      ? []
      : shortFacts(
          plan.notes.map(({ workload, detail }) => `${workload}: ${detail}`),
          plan.notesTotal,
        )),
  ];
}

/** How many of what a schedule selects are left as they are, by reason; the most first. */
export function leftAloneOf({
  leftAlone = {},
}: Plan): readonly { readonly reason: string; readonly workloads: number }[] {
  return Object.entries(leftAlone)
    .map(([reason, workloads]) => ({ reason, workloads }))
    .filter(({ workloads }) => workloads > 0)
    .toSorted((a, b) => b.workloads - a.workloads || (a.reason < b.reason ? -1 : 1));
}

/** `Scope 4f1c…: 12 workloads. Left as they are: 3 ControllerOwned, 1 ChangedByPerson`. */
function scopeSentence(plan: Plan): readonly string[] {
  if (plan.scope === undefined) return [];
  const { digest, workloads } = plan.scope;
  const left = leftAloneOf(plan).map(({ reason, workloads }) => `${workloads} ${reason}`);
  const others = left.length === 0 ? '' : `. Left as they are: ${left.join(', ')}`;
  return [`Scope ${digest}: ${counted(workloads, 'workload')}${others}`];
}

/** What a night with very many workloads that are up cannot tell. */
function uncountedSentence({ unmarked, total }: Plan): readonly string[] {
  if (unmarked === undefined || unmarked.uids !== null || total > 0) return [];
  const many = `More than ${MOST_UNMARKED} workloads in scope are up in this night`;
  return [`${many}: a workload that joins by its own label counts as in scope since the beginning of the night`];
}

function atMoment(moment: string | null): string {
  return moment === null ? 'never' : `at ${moment}`;
}

/** `Deployment team-a/web 3 -> 0`. */
function itemSentence({ workload, direction, from, to }: PlanItem): string {
  const name = workloadName(workload);
  if (from === null || to === null) return `${name} ${direction === 'Down' ? 'suspended' : 'resumed'}`;
  return `${name} ${from} -> ${to}`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function shortList(entries: readonly string[], named = NAMED): string {
  const rest = entries.length - named;
  return rest <= 0 ? entries.join('; ') : `${entries.slice(0, named).join('; ')}; and ${rest} more`;
}

/** @param total the number of all entries if `entries` has only some of them. */
function shortFacts(entries: readonly string[], total?: number): readonly string[] {
  return atMost(entries, NAMED, (rest) => `and ${rest} more`, total);
}

/** The end of a deletion. */
export function cleanedUpSentence(woken: number, handedOver: number): string {
  const all = `everything that the schedule put to sleep is awake${woken === 0 ? '' : `: ${counted(woken, 'workload')}`}`;
  if (handedOver === 0) return all;
  return `${all}, but for ${counted(handedOver, 'workload')} that another schedule takes over as they are`;
}

export function notWokenSentence(workloads: number, memory: LightsOutMemory): string {
  const what = `${counted(workloads, 'workload')} cannot be woken yet, and the schedule stays until then`;
  return `${what}. ${failureSentence(memory)}`;
}

export function laterSentence(what: string, withheld: number): string {
  return `${what} later: ${withheldSentence(withheld)}`;
}

export function invalidSentence(problems: readonly { readonly field: string; readonly message: string }[]): string {
  const listed = problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return listed === '' ? 'the schedule cannot be read' : listed;
}

/** What is said of something that is not done yet: in short, with some of it by name, and by lines of their own. */
interface Undone {
  readonly detail: string;
  readonly message: string;
  readonly all: readonly string[];
}

export function dryRunSentences(plan: Plan): Undone {
  const { items, total } = plan;
  const wanted = items.map(itemSentence);
  const would = `this dry run would change ${total === 0 ? 'nothing' : counted(total, 'workload')}`;
  const left = leftAsleepSentence(plan, 'dryRun');
  return {
    detail: `${would}${left}`,
    message: `${would}${total === 0 ? '' : `: ${shortList(wanted)}`}${left}`,
    all: shortFacts(wanted.map((item) => `Would be done: ${item}`)),
  };
}

export function awaitingApprovalSentences({ items }: Plan): Undone {
  const wanted = items.map(itemSentence);
  const what = `${counted(items.length, 'workload')} would be put to sleep for the first time`;
  const advice = 'Approve it with headroom lights-out approve';
  return {
    detail: `${what}. ${advice}`,
    message: `${what}: ${shortList(wanted)}. ${advice}`,
    all: shortFacts(wanted.map((item) => `Waits for the approval: ${item}`)),
  };
}

export function approvingSentence(by: string): string {
  return `Headroom keeps what ${by} approved`;
}

export function approvedSentence(
  by: string,
  { digest, workloads }: { readonly digest: string; readonly workloads: number },
): string {
  return `${counted(workloads, 'workload')} ${workloads === 1 ? 'is' : 'are'} approved by ${by}, with the digest ${digest}`;
}

export function outdatedApprovalSentence(by: string): string {
  return `The workloads in scope are no longer those that ${by} saw, so nothing was approved. Look at them again with headroom lights-out preview --workloads`;
}

/** @param names some of them. */
export function joinedSinceApprovalSentence(count: number, names: readonly string[]): string {
  const [have, stay] = count === 1 ? ['has', 'stays'] : ['have', 'stay'];
  const rest = count - names.length;
  const listed = shortList(rest > 0 ? [...names, `and ${rest} more`] : names);
  const what = `${counted(count, 'workload')} ${have} joined since the approval and ${stay} up: ${listed}`;
  return `${what}. Approve with headroom lights-out approve`;
}

export function scalingSentence(direction: ScheduleState, workloads: number): string {
  const what = counted(workloads, 'workload');
  return direction === 'Down' ? `Headroom puts ${what} to sleep` : `Headroom wakes ${what}`;
}

/** What a scaling run has done. `Resized`: what sleeps keeps another number than before. */
export function scaledSentence(
  reason: 'ScaledDown' | 'ScaledUp' | 'Resized',
  {
    workloads,
    namespaces,
    failed,
  }: { readonly workloads: number; readonly namespaces: number; readonly failed: number },
): string {
  const what = `${counted(workloads, 'workload')} in ${counted(namespaces, 'namespace')}`;
  const done = {
    ScaledDown: `put ${what} to sleep`,
    Resized: `changed how much ${what} keep while asleep`,
    ScaledUp: `woke ${what}`,
  };
  const but = failed === 0 ? '' : ` ${counted(failed, 'workload')} failed. Headroom tries again.`;
  return `Headroom ${done[reason]}.${but}`;
}

export function againSentence(workload: string, manager: string): string {
  return `${workload} was scaled up by ${manager}, and Headroom puts it to sleep again. ${excludeAdvice(manager)}`;
}

export function nextBatchSentence(done: number, total: number): string {
  return `wait for the next batch: ${done} of ${counted(total, 'workload')} done`;
}

/** `the 2 workloads of priority 10 to be ready`. */
export function readinessPhrase(stage: Stage, workloads: number): string {
  return `the ${stagedPhrase(stage, workloads)} to be ${readyPhrase(stage)}`;
}

/** The readiness timeout of a priority is over. */
export function lateSentence(stage: Stage, workloads: number, timeoutMs: number): string {
  const verb = workloads === 1 ? 'was' : 'were';
  const late = `The ${stagedPhrase(stage, workloads)} ${verb} not ${readyPhrase(stage)} within ${formatSpan(timeoutMs)}`;
  return `${late}. Headroom went on with the next priority.`;
}

function stagedPhrase({ priority }: Stage, workloads: number): string {
  return `${workloads === 1 ? 'workload' : `${workloads} workloads`} of priority ${priority}`;
}

function readyPhrase({ direction }: Stage): string {
  return direction === 'Up' ? 'ready' : 'down';
}
