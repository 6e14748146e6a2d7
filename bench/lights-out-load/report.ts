import { distributionOf } from '../usage-load/percentiles.ts';
import { totalActions } from '../usage-load/temporal-actions.ts';
import type { TemporalShare } from './history.ts';
import type { IdleCost } from './idle-cost.ts';
import type { LoadReport, PhaseReport } from './run-load.ts';

const SHOWN_PROBLEMS = 10;

function listed(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);
  return entries.length === 0 ? 'none' : entries.map(([name, count]) => `${name} ${count}`).join(', ');
}

function temporalText({ actions, activities, heartbeats, events }: TemporalShare): string {
  return [
    `${totalActions(actions)} actions (${listed(actions)})`,
    `and at most ${heartbeats} heartbeats, which are billed too; activities: ${listed(activities)}; ${events} history events`,
  ].join(' ');
}

function phaseLines({
  title,
  toWrite,
  changes,
  seconds,
  statusAfter,
  asked,
  temporal,
  machine,
  problems,
}: PhaseReport): readonly string[] {
  const spans = distributionOf(seconds);
  const lost = changes - seconds.length;
  // An API server that is killed takes the last lines of its audit log with it.
  const missing = lost > 0 ? `, ${lost} of them not in the audit log` : '';
  const each = (value: number | undefined | null): string => (value == null ? '-' : `${value.toFixed(2)} s`);
  return [
    title,
    `  from the first edit: first workload ${each(seconds[0])}, half of them ${each(spans?.p50)}, last ${each(spans?.max)}, status ${each(statusAfter)}`,
    `  writes of workloads: ${changes} that took effect of ${toWrite} to be written (${(changes / toWrite).toFixed(2)} each)${missing}; without effect: ${listed(asked.refused)}`,
    `  other requests of the worker: ${asked.reads} reads, ${asked.lists} lists, ${asked.statusWrites.length} status writes, ${asked.events} Events, ${asked.scheduleWrites} of the schedule`,
    `  Temporal: ${temporalText(temporal)}`,
    `  machine: ${(machine.busy * 100).toFixed(0)} % of all processors over ${machine.seconds.toFixed(0)} s, ${machine.othersCpuSeconds.toFixed(0)} CPU s of it for others`,
    ...Object.entries(machine.processes).map(
      ([name, { cpuSeconds, rssMiB, peakMiB }]) =>
        `    ${name.padEnd(28)} ${cpuSeconds.toFixed(1).padStart(7)} CPU s  ${String(rssMiB).padStart(5)} MiB resident, ${peakMiB} at most`,
    ),
    problems.length === 0
      ? '  everything is as it must be, by one write each'
      : `  NOT AS IT MUST BE, ${problems.length}: ${problems.slice(0, SHOWN_PROBLEMS).join('; ')}`,
  ];
}

function idleLines({ workloads, cycle, actionsPerPass, perDay, perQuietDay }: IdleCost): readonly string[] {
  return [
    `a schedule with ${workloads} workloads and nothing to do but two transitions a day`,
    `  down and up by the clock: ${temporalText(cycle)}`,
    `  a pass that finds nothing, with the wait after it: ${actionsPerPass} actions`,
    `  a day with both transitions: ${perDay} actions; no look besides, since no wait is longer than a day`,
    `  a day without a transition: ${perQuietDay} actions`,
    `  a week of five working days: 5 x ${perDay} + 2 x ${perQuietDay} = ${5 * perDay + 2 * perQuietDay} actions`,
  ];
}

/** The report for people, a paragraph for each part of the run. */
export function reportText({ options, toWrite, phases, runs, carriedBytes, idle, isExact }: LoadReport): string {
  const { schedules, workloads, namespaces, seed } = options;
  return [
    [
      `${workloads} workloads in ${namespaces} namespaces, ${schedules === 1 ? 'one schedule' : `${schedules} schedules`}, seed ${seed}; ${toWrite} of them are awake, the others are at 0 or suspended`,
      'kube-controller-manager runs without the controllers of workloads: there are no pods, only what a schedule writes',
    ],
    ...phases.map(phaseLines),
    [
      `the workflows had ${runs} ${runs === 1 ? 'run' : 'runs'}; the most that one carried into its next run: ${(carriedBytes / 1024).toFixed(1)} KiB`,
    ],
    ...(idle === null ? [] : [idleLines(idle)]),
    [
      isExact
        ? 'restored exactly: spec, labels and annotations of every workload, each by one write a direction'
        : 'NOT RESTORED EXACTLY, or by more writes than one',
    ],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}
