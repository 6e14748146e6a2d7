import type { ApiCalls } from '../usage-load/api-calls.ts';
import type { HistoryReport } from './headroom-side.ts';
import type { NodesReport, SideReport } from './run.ts';

/** The most frequent API calls are listed. */
const LISTED_CALLS = 12;
/** Both plan when no pod has changed for so many seconds, or this many after the first one. */
const WINDOW = { idle: 1, atMost: 10 } as const;
/** What docs/testing.md says. */
const AIMS = { cost: 1.02, events: 20 } as const;

/** How much dearer Headroom's nodes are: 1 is the same. */
function costRatio({ headroom, karpenter }: NodesReport): number {
  return headroom.cost / karpenter.cost;
}

export function isCheapEnough(report: NodesReport): boolean {
  return costRatio(report) <= AIMS.cost;
}

/** Seconds from the end of the batch window to the first request for a node. */
function afterWindow({ up }: SideReport): number {
  return up.firstClaim - Math.min(up.lastPending + WINDOW.idle, WINDOW.atMost);
}

function callLines(calls: readonly ApiCalls[]): readonly string[] {
  const total = calls.reduce((sum, { count }) => sum + count, 0);
  const byKind = new Map<string, number>();
  for (const { verb, resource, count } of calls) {
    const kind = `${verb} ${resource}`;
    byKind.set(kind, (byKind.get(kind) ?? 0) + count);
  }
  const listed = [...byKind].toSorted(([, a], [, b]) => b - a).slice(0, LISTED_CALLS);
  return [`  API calls: ${total}`, `    ${listed.map(([kind, count]) => `${kind} ${count}`).join(', ')}`];
}

function sideLines(side: SideReport, least: number): readonly string[] {
  const { name, up, down, nodes, cost, machine, calls } = side;
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  const count = Object.values(nodes).reduce((sum, each) => sum + each, 0);
  const memory = Object.entries(machine.processes)
    .filter(([process]) => process !== 'this program')
    .map(([process, { peakMiB, cpuSeconds }]) => `${process} ${peakMiB} MiB at most, ${cpuSeconds.toFixed(1)} CPU s`);
  return [
    name,
    `  pods: the last one created after ${seconds(up.lastPod)}, found unschedulable after ${seconds(up.lastPending)}`,
    `  first node asked for after ${seconds(up.firstClaim)} (${seconds(afterWindow(side))} after the batch window), made after ${seconds(up.firstNode)}, the last one after ${seconds(up.lastNode)}`,
    `  ${up.windows.length} windows: ${up.windows.map(({ claims, from }) => `${claims} nodes from ${seconds(from)} on`).join(', ')}`,
    `  all pods running after ${seconds(up.allRunning)}`,
    `  ${count} nodes, ${cost.toFixed(3)} $/h, ${(cost / least).toFixed(3)} of the lower bound`,
    `    ${Object.entries(nodes)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([type, of]) => `${of} ${type}`)
      .join(', ')}`,
    `  pods deleted: the last one gone after ${seconds(down.lastPodGone)}, the last node after ${seconds(down.lastNodeGone)}`,
    ...memory.map((line) => `  ${line}`),
    ...callLines(calls),
    `  machine: ${(machine.busy * 100).toFixed(0)} % of all processors over ${seconds(machine.seconds)}`,
  ];
}

function historyLine(what: string, { scaled, mostOfScaled, groups, events, most, drains }: HistoryReport): string {
  return `  ${what}: ${scaled} groups asked for nodes, ${mostOfScaled} events at most; ${groups} groups had ${events} events, ${most} at most; ${drains} drains`;
}

/** The report for people. */
export function reportText(report: NodesReport): string {
  const { pods, shape, seed, leastCost, headroom, karpenter, history } = report;
  const largest = Math.max(history.up.largestObservation, history.down.largestObservation);
  return [
    [
      `${pods} ${shape} pods, seed ${seed}; lower bound ${leastCost.toFixed(3)} $/h: each pod pays its share of the cheapest node it may be on`,
    ],
    sideLines(headroom, leastCost),
    sideLines(karpenter, leastCost),
    [
      `Headroom's nodes cost ${costRatio(report).toFixed(3)} times Karpenter's (aim: at most ${AIMS.cost})`,
      `the batch window of both: ${WINDOW.idle} s without a change, ${WINDOW.atMost} s at most`,
    ],
    [
      `Temporal (aim: at most ${AIMS.events} history events a scaling)`,
      historyLine('up', history.up),
      historyLine('down', history.down),
      `  the largest observation: ${(largest / 1024).toFixed(1)} KiB`,
    ],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}
