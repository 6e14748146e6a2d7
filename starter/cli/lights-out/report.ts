/** `headroom lights-out report`: what schedules saved, by schedule, month and namespace. */
import { type Hours, numbers, sum } from '../../../domain/lights-out/decide/savings.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { type Cell, columns } from '../columns.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { csvOf } from '../csv.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import { chosen, nameOf, readSchedules, type ScheduleObject } from './schedules.ts';

interface ReportQuestion {
  /** Null: all of them. */
  readonly schedule: string | null;
  readonly isCsv: boolean;
}

interface Saved {
  readonly schedule: string;
  /** RFC 3339; null while nothing was saved. */
  readonly since: string | null;
  readonly until: string | null;
  readonly months: readonly (readonly [month: string, hours: Hours])[];
  readonly namespaces: readonly (readonly [namespace: string, hours: Hours])[];
}

const NOTHING: Hours = [0, 0, 0];
const WHAT =
  'It is what would have run if the schedules had not put it to sleep, times how long: replicas, and the CPU and memory that the templates of their pods request. It is as of the last pass of each schedule.';

/**
 * Prints what the schedules of the cluster have saved, as their status says.
 *
 * @throws {CommandFailed} where the cluster cannot be read; {UnknownName} where it has no such schedule.
 */
export async function report(loaded: LoadedConfig, question: ReportQuestion, tools: CommandTools): Promise<void> {
  const { output, shared } = tools;
  const cluster = loaded.config.kubernetes.clusterName;
  const objects = await readSchedules(loaded);
  const asked = question.schedule === null ? objects : [chosen(objects, question.schedule, cluster)];
  const saved = asked.map(savedBy);
  if (question.isCsv) output.text(csvOf([HEADINGS, ...saved.flatMap(csvRows)]));
  else if (shared().output === 'json') output.json(saved.map(jsonOf));
  else output.text(textOf(cluster, saved, output.terminal));
}

function savedBy(object: ScheduleObject): Saved {
  const { savings } = readSchedule(object).status;
  return {
    schedule: nameOf(object),
    since: savings?.since ?? null,
    until: savings?.until ?? null,
    months: (savings?.months ?? []).map(({ month, ...hours }) => [month, numbers(hours)]),
    namespaces: (savings?.namespaces ?? []).map(({ namespace, ...hours }) => [namespace, numbers(hours)]),
  };
}

function totalOf(rows: readonly (readonly [string, Hours])[]): Hours {
  return rows.map(([, hours]) => hours).reduce((a, b) => sum(a, b), NOTHING);
}

/** The documented form of `--output json`. */
function jsonOf({ schedule, since, until, months, namespaces }: Saved): object {
  return {
    schedule,
    since,
    until,
    total: named(totalOf(namespaces)),
    months: months.map(([month, hours]) => ({ month, ...named(hours) })),
    namespaces: namespaces.map(([namespace, hours]) => ({ namespace, ...named(hours) })),
  };
}

/** Sums of two decimals have two, whatever the processor makes of them. */
function named(hours: Hours): object {
  const [replicaHours, cpuCoreHours, memoryGiBHours] = hours.map((value) => Number(value.toFixed(2)));
  return { replicaHours, cpuCoreHours, memoryGiBHours };
}

const HEADINGS = ['schedule', 'namespace', 'since', 'until', 'replica_hours', 'cpu_core_hours', 'memory_gib_hours'];

function csvRows({ schedule, since, until, namespaces }: Saved): readonly (readonly string[])[] {
  return namespaces.map(([namespace, hours]) => [
    schedule,
    namespace,
    since ?? '',
    until ?? '',
    ...hours.map((value) => value.toFixed(2)),
  ]);
}

function textOf(cluster: string, saved: readonly Saved[], terminal: Terminal): string {
  if (saved.length === 0) return `${cluster} has no LightsOutSchedule.\n`;
  const blocks = saved.map((each) => scheduleText(each, terminal));
  if (saved.length > 1) {
    const bySchedule = saved.map(({ schedule, namespaces }) => [schedule, totalOf(namespaces)] as const);
    const all = totalOf(bySchedule);
    blocks.push(tables('all schedules', [['SCHEDULE', [...bySchedule, ['all schedules', all]]]], terminal));
  }
  blocks.push(wrapped(WHAT, 0, terminal).map((line) => coloured(line, 'dim', terminal)));
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function scheduleText({ schedule, since, until, months, namespaces }: Saved, terminal: Terminal): readonly string[] {
  if (since === null || until === null)
    return [coloured(schedule, 'bold', terminal), '  It has saved nothing that its status knows of.'];
  const byNamespace = [...namespaces, ['all namespaces', totalOf(namespaces)] as const];
  const parts = [['NAMESPACE', byNamespace] as const, ['MONTH (UTC)', months] as const];
  return tables(`${schedule}, from ${since} to ${until}`, parts, terminal);
}

/** Tables below each other in the same columns, each with its own heading. */
function tables(
  title: string,
  parts: readonly (readonly [what: string, rows: Saved['months']])[],
  terminal: Terminal,
): readonly string[] {
  const right = (text: string): Cell => ({ text, right: true });
  const headings = new Set<number>();
  const rows: (readonly (Cell | string)[])[] = [];
  for (const [what, of] of parts) {
    headings.add(rows.length);
    rows.push([what, right('REPLICA-HOURS'), right('CPU CORE-HOURS'), right('MEMORY GiB-HOURS')]);
    rows.push(...of.map(([name, hours]) => [name, ...hours.map((value) => right(value.toFixed(1)))]));
  }
  const lines = columns(rows, 2).map((line, at) => (headings.has(at) ? coloured(line, 'dim', terminal) : line));
  return [coloured(title, 'bold', terminal), ...lines];
}
