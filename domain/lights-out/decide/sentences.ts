/** Sentences about a schedule in details, conditions and Events. */
import { atMost, sentence } from '../../kernel/sentence.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import { countsByKind, totalOf } from '../workload/kinds.ts';
import { workloadName } from '../workload/workload.ts';
import { overrideSentence } from './commands.ts';
import type { LightsOutMemory } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import type { Plan } from './plan.ts';

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
      : `It ${period.next.state === 'Up' ? 'wakes' : 'goes to sleep'} at ${local.next}`;
  const { withheld = 0 } = plan;
  const waiting = withheld === 0 ? '' : `. ${withheldSentence(withheld)}`;
  const state = `the schedule is ${period.state === 'Up' ? 'awake' : 'asleep'}${why}`;
  return `${state}, and ${counted(asleep, 'workload')} ${asleep === 1 ? 'is' : 'are'} asleep. ${next}${waiting}`;
}

/** `2 workloads wait for the end of the pause of their namespaces`. */
export function withheldSentence(withheld: number): string {
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
            ...countsByKind(plan.stats, 'managed').map(({ kind, count = 0 }) => counted(count, kind)),
          ].join(', ')}`,
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

function atMoment(moment: string | null): string {
  return moment === null ? 'never' : `at ${moment}`;
}

/** `Deployment team-a/web 3 -> 0`. */
export function itemSentence({ workload, direction, from, to }: PlanItem): string {
  const name = workloadName(workload);
  if (from === null || to === null) return `${name} ${direction === 'Down' ? 'suspended' : 'resumed'}`;
  return `${name} ${from} -> ${to}`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function shortList(entries: readonly string[], named = NAMED): string {
  const rest = entries.length - named;
  return rest <= 0 ? entries.join('; ') : `${entries.slice(0, named).join('; ')}; and ${rest} more`;
}

/** @param total the number of all entries if `entries` has only some of them. */
export function shortFacts(entries: readonly string[], total?: number): readonly string[] {
  return atMost(entries, NAMED, (rest) => `and ${rest} more`, total);
}
