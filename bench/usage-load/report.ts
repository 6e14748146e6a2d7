import type { ApiCalls } from './api-calls.ts';
import type { BurstResult } from './burst.ts';
import { type Limit, median } from './limits.ts';
import type { Distribution } from './percentiles.ts';
import type { LoadOptions, OperationKind } from './plan.ts';
import type { Lags, Making } from './run-phase.ts';
import type { MachineUse } from './span-meter.ts';
import { totalActions } from './temporal-actions.ts';
import type { TemporalUse } from './temporal-runs.ts';

/** What a cluster's share of a span was. */
export interface SideReport {
  readonly making: Making;
  readonly lags: Lags;
  /** Changes without a true status when the phase, with its time to settle, was over. */
  readonly outstanding: number;
  /** Writes that changed a quota's status, by field manager, from the start of the phase until all was settled. */
  readonly statusWrites: Readonly<Record<string, number>>;
  /** Requests of this program that were made again because the quota was written at the same time, or the server was busy. */
  readonly repeated: number;
}

/** What Headroom used for it. */
export interface HeadroomUse {
  /** How much the starter's counters have grown: changes seen, namespaces counted, reconcile requests sent. */
  readonly counters: Readonly<Record<string, number>>;
  readonly apiCalls: readonly ApiCalls[];
  readonly temporal: TemporalUse;
}

export interface PhaseReport {
  readonly rate: number;
  readonly seconds: number;
  readonly changes: number;
  readonly settledInSeconds: number;
  readonly sides: Readonly<Record<string, SideReport>>;
  readonly headroom: HeadroomUse | null;
  readonly machine: MachineUse;
}

export interface BurstReport {
  readonly sides: Readonly<Record<string, BurstResult>>;
  readonly headroom: HeadroomUse | null;
  readonly machine: MachineUse;
}

export interface LoadReport {
  readonly options: LoadOptions;
  readonly processors: number;
  readonly fill: { readonly seconds: number; readonly headroom: HeadroomUse | null };
  readonly phases: readonly PhaseReport[];
  readonly burst: BurstReport | null;
  /** Quotas whose status was not true at the end, by cluster. */
  readonly untrue: Readonly<Record<string, readonly unknown[]>>;
}

function ms(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0).padStart(8);
}

function headed(title: string, count: string): string {
  const columns = ['p50', 'p90', 'p99', 'max'].map((title) => title.padStart(8)).join(' ');
  return `  ${title.padEnd(44)} ${count.padStart(7)} ${columns}`;
}

function distributionLine(name: string, lag: Distribution | null): string {
  if (lag === null) return `  ${name.padEnd(44)} ${'0'.padStart(7)}`;
  const { count, p50, p90, p99, max } = lag;
  return `  ${name.padEnd(44)} ${String(count).padStart(7)} ${[p50, p90, p99, max].map(ms).join(' ')}`;
}

function listed(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return entries.length === 0 ? 'none' : entries.map(([name, count]) => `${name} ${count}`).join(', ');
}

function headroomLines({ counters, apiCalls, temporal }: HeadroomUse, changes: number): string[] {
  const { runs, byStatus, histories, events, steps } = temporal;
  const actions = totalActions(temporal.actions);
  const calls = apiCalls.reduce((sum, { count }) => sum + count, 0);
  const per = (count: number): string => (changes === 0 ? '' : `, ${(count / changes).toFixed(2)} a change`);
  return [
    `  the starter: ${listed(counters)}`,
    `  Temporal: ${runs} runs (${listed(byStatus)}), ${actions} actions${per(actions)}: ${listed(temporal.actions)}`,
    `    from ${histories === runs ? 'all' : histories} of the histories, of ${events?.p50 ?? 0} events (p50), ${events?.max ?? 0} at most`,
    headed('parts of the runs that were read, ms', 'count'),
    ...Object.entries(steps).map(([name, step]) => distributionLine(name, step)),
    `  Kubernetes API: ${calls} calls${per(calls)}`,
    ...apiCalls.map(
      ({ user, verb, resource, count, others }) =>
        `    ${user.padEnd(18)} ${verb.padEnd(7)} ${resource.padEnd(36)} ${String(count).padStart(6)}${othersText(others)}`,
    ),
  ];
}

function othersText(others: ApiCalls['others']): string {
  const texts = Object.entries(others).map(([code, count]) => `${count} answered with ${code}`);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

function machineLines({ seconds, busy, othersCpuSeconds, processes, loopDelayP99 }: MachineUse): string[] {
  return [
    `  machine: ${(busy * 100).toFixed(0)} % of all processors over ${seconds.toFixed(0)} s, ${othersCpuSeconds.toFixed(0)} CPU s of it for others; this program's event loop was late by ${loopDelayP99.toFixed(0)} ms (p99)`,
    ...Object.entries(processes).map(
      ([name, { cpuSeconds, rssMiB, peakMiB }]) =>
        `    ${name.padEnd(28)} ${cpuSeconds.toFixed(1).padStart(7)} CPU s  ${String(rssMiB).padStart(5)} MiB resident, ${peakMiB} at most`,
    ),
  ];
}

function kindsOf(sides: readonly (readonly [string, SideReport])[]): readonly OperationKind[] {
  return [...new Set(sides.flatMap(([, { lags }]) => Object.keys(lags.byKind) as OperationKind[]))].toSorted();
}

function phaseLines({ rate, seconds, changes, settledInSeconds, sides, headroom, machine }: PhaseReport): string[] {
  const entries = Object.entries(sides);
  return [
    `${rate} changes a second for ${seconds} s: ${changes} changes, settled ${settledInSeconds.toFixed(1)} s after the last`,
    headed('lag from a change to a true status, ms', 'changes'),
    ...entries.map(([name, { lags }]) => distributionLine(`what lowers usage, ${name}`, lags.controllers)),
    ...entries.map(([name, { lags }]) => distributionLine(`what raises usage, ${name}`, lags.admission)),
    ...kindsOf(entries).flatMap((kind) =>
      entries.map(([name, { lags }]) => distributionLine(`  ${kind}, ${name}`, lags.byKind[kind] ?? null)),
    ),
    ...entries.map(
      ([name, { making, outstanding, lags, repeated, statusWrites }]) =>
        `  ${name}: ${making.rate.toFixed(1)} changes a second answered, begun ${making.late?.p99.toFixed(0) ?? 0} ms late (p99), ${repeated} requests repeated, ${making.failed} failed${making.failure === undefined ? '' : ` (${making.failure})`}; not true at the phase's end ${outstanding}, never ${lags.never}; status writes: ${listed(statusWrites)}`,
    ),
    ...(headroom === null ? [] : headroomLines(headroom, changes)),
    ...machineLines(machine),
  ];
}

function burstLines({ sides, headroom, machine }: BurstReport): string[] {
  return [
    `${Math.max(...Object.values(sides).map(({ pods }) => pods))} pods of one namespace deleted as fast as the API server takes it`,
    ...Object.entries(sides).map(
      ([name, { deletedInMs, trueAfterMs, writes }]) =>
        `  ${name}: deleted in ${(deletedInMs / 1000).toFixed(1)} s, status true ${trueAfterMs.toFixed(0)} ms after the last; status writes: ${listed(writes)}`,
    ),
    ...(headroom === null ? [] : headroomLines(headroom, 0)),
    ...machineLines(machine),
  ];
}

/** The lags of each rate over its rounds; nothing where there was one round. */
function roundLines(phases: readonly PhaseReport[]): string[] {
  const rates = [...new Set(phases.map(({ rate }) => rate))];
  return rates.flatMap((rate) => {
    const rounds = phases.filter((phase) => phase.rate === rate);
    if (rounds.length === 1) return [];
    const columns = ['min', 'median', 'max'].map((title) => title.padStart(8)).join(' ');
    return [
      `${rate} changes a second, ${rounds.length} rounds: lag of what lowers usage, ms`.padEnd(66) + columns,
      ...Object.keys(rounds[0]?.sides ?? {}).flatMap((side) =>
        (['p50', 'p90', 'p99', 'max'] as const).map((part) => {
          const values = rounds.map(({ sides }) => sides[side]?.lags.controllers?.[part] ?? 0);
          const three = [Math.min(...values), median(values), Math.max(...values)];
          return `  ${side} ${part}`.padEnd(66) + three.map(ms).join(' ');
        }),
      ),
    ];
  });
}

/** Each limit with what was measured; empty where there are none. */
export function limitsText(limits: readonly Limit[]): string {
  return limits
    .map(({ what, unit, measured, most, isHeld }) => {
      const amount = (value: number): string =>
        [Number(value.toFixed(2)), unit].filter((part) => part !== '').join(' ');
      return `${isHeld ? 'held ' : 'ABOVE'} ${what}: ${amount(measured)}, at most ${amount(most)}`;
    })
    .join('\n');
}

/** The report for people, a paragraph for each part of the run. */
export function reportText({ options, processors, fill, phases, burst, untrue }: LoadReport): string {
  const paragraphs = [
    [
      `${options.quotas} quotas, ${options.pods} pods, seed ${options.seed}, ${processors} processors; filled and counted in ${fill.seconds.toFixed(0)} s`,
      ...(fill.headroom === null ? [] : headroomLines(fill.headroom, 0)),
    ],
    ...phases.map(phaseLines),
    ...[roundLines(phases)].filter((lines) => lines.length > 0),
    ...(burst === null ? [] : [burstLines(burst)]),
    Object.entries(untrue).map(([name, quotas]) =>
      quotas.length === 0
        ? `${name}: every status is true at the end`
        : `${name}: ${quotas.length} statuses are not true at the end: ${JSON.stringify(quotas.slice(0, 3))}`,
    ),
  ];
  return paragraphs.map((lines) => lines.join('\n')).join('\n\n');
}
