import type { ApiCalls } from '../usage-load/api-calls.ts';
import type { Distribution } from '../usage-load/percentiles.ts';
import type { MachineUse } from '../usage-load/span-meter.ts';
import type { LoadReport, PhaseReport } from './run-load.ts';

/** The most frequent API calls are listed; the others are watches that were opened again. */
const LISTED_CALLS = 12;

function spans(latency: Distribution | null): string {
  if (latency === null) return '-';
  return `p50 ${latency.p50.toFixed(0)} ms, p99 ${latency.p99.toFixed(0)} ms, at most ${latency.max.toFixed(0)} ms`;
}

function machineLines({ busy, seconds, othersCpuSeconds, processes }: MachineUse): readonly string[] {
  return [
    `  machine: ${(busy * 100).toFixed(0)} % of all processors over ${seconds.toFixed(0)} s, ${othersCpuSeconds.toFixed(0)} CPU s of it for others`,
    ...Object.entries(processes).map(
      ([name, { cpuSeconds, rssMiB, peakMiB }]) =>
        `    ${name.padEnd(28)} ${cpuSeconds.toFixed(1).padStart(7)} CPU s  ${String(rssMiB).padStart(5)} MiB resident, ${peakMiB} at most`,
    ),
  ];
}

function callsText(calls: readonly ApiCalls[]): string {
  const listed = calls.slice(0, LISTED_CALLS).map(({ verb, resource, count }) => `${verb} ${resource} ${count}`);
  return listed.join(', ');
}

function phaseLines({ title, latency, machine, calls }: PhaseReport): readonly string[] {
  return [
    title,
    `  from the change to its status: ${spans(latency)}`,
    `  API calls: ${callsText(calls)}`,
    ...machineLines(machine),
  ];
}

/** The report for people, a paragraph for each part of the run. */
export function reportText({ instances, phases, floor, actions, again, idle }: LoadReport): string {
  return [
    [
      `${instances} Memcacheds without pods, each with a Deployment, a Service, a budget, a policy and a list of servers`,
    ],
    ...phases.map(phaseLines),
    [
      'the floor: the API calls of one change alone, without Headroom and Temporal',
      `  ${floor.reads} reads at once, then ${floor.writes} writes one after the other: ${spans(floor.latency)}`,
    ],
    [`one change: ${actions} Temporal actions`],
    [
      `another starter: ${again.woken} episodes of what is as specified`,
      `${again.episodes} episodes that were asked for all the same: ${again.writes} writes`,
    ],
    [
      `${idle.seconds} s in which nothing changes: ${idle.episodes} episodes, so ${idle.episodes} Temporal actions`,
      ...machineLines(idle.machine),
    ],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}
