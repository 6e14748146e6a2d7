/**
 * What did not run because of a schedule, summed up by namespace and by month: replicas, and the CPU and memory that the templates
 * of their pods request.
 */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { ScheduleStatus } from '../schedule/schedule.ts';
import { isScaledDown, originalReplicas, savedStateOf } from '../workload/saved-state.ts';
import type { Workload } from '../workload/workload.ts';

/** What does not run at one moment: replicas, CPU in millicores, memory in bytes. */
export type Idle = readonly [replicas: number, cpu: number, memory: number];
/** By namespace; `OTHERS` for those beyond `NAMESPACES`. */
export type IdleByNamespace = Readonly<Record<string, Idle>>;

/** What did not run over time: replica-hours, core-hours, GiB-hours. */
export type Hours = readonly [replicas: number, cpu: number, memory: number];

export interface Savings {
  /** What does not run since `at`. */
  readonly idle: IdleByNamespace;
  /** Until when the sums count; null before the first observation. */
  readonly at: EpochMs | null;
  readonly since: EpochMs | null;
  readonly namespaces: Readonly<Record<string, Hours>>;
  /** By month of UTC (`2026-11`), the last ones. */
  readonly months: Readonly<Record<string, Hours>>;
}

/** Namespaces that are counted each by itself: a status and a history stay short. */
export const NAMESPACES = 200;
/** No namespace can be called so. */
export const OTHERS = '(others)';
/** This month, and a year back. */
const MONTHS = 13;
const MS_PER_HOUR = 3_600_000;
const MILLI = 1_000;
const GIB = 1_024 ** 3;
/** Sums are kept with so many digits behind the point: a text of a few bytes, and less than a second lost each time. */
const DIGITS = 1e6;

export const freshSavings: Savings = { idle: {}, at: null, since: null, namespaces: {}, months: {} };

/** The replicas that a workload would have if it had not been put to sleep, beyond its present ones. */
function idleReplicas(workload: Workload): number {
  const savedState = savedStateOf(workload);
  if (workload.replicas === null || !isScaledDown(savedState, workload.kind)) return 0;
  // By spec.replicas: pods take a moment to terminate, and their end alone causes no new observation.
  return Math.max(0, originalReplicas(savedState) - workload.replicas);
}

/** Counts what does not run, workload by workload. */
export class IdleCount {
  readonly #idle = new Map<string, Idle>();

  /** @param replicas that do not run any more; fewer than 0 for those that run again. */
  add({ namespace, requests }: Pick<Workload, 'namespace' | 'requests'>, replicas: number): void {
    if (replicas === 0) return;
    const { cpu = 0, memory = 0 } = requests ?? {};
    const more: Idle = [replicas, replicas * cpu, replicas * memory];
    this.#idle.set(namespace, sum(this.#idle.get(namespace), more));
  }

  get isEmpty(): boolean {
    return this.#idle.size === 0;
  }

  addAsleep(workload: Workload): void {
    this.add(workload, idleReplicas(workload));
  }

  /** With the first namespaces by name where there are too many. */
  get byNamespace(): IdleByNamespace {
    const sorted = [...this.#idle].toSorted(([a], [b]) => (a < b ? -1 : 1));
    const rest = sorted.slice(NAMESPACES).map(([, idle]) => idle);
    return Object.fromEntries([
      ...sorted.slice(0, NAMESPACES),
      ...(rest.length === 0 ? [] : [[OTHERS, rest.reduce((a, b) => sum(a, b))] as const]),
    ]);
  }
}

/** The sums up to a moment, and what does not run from then on. */
export function savingsAt(savings: Savings, now: EpochMs, idle: IdleByNamespace): Savings {
  const { at } = savings;
  const rates = Object.entries(savings.idle);
  if (at === null || now <= at || rates.length === 0)
    return { ...savings, idle, at: Math.max(at ?? now, now), since: savings.since ?? now };
  const namespaces: Record<string, Hours> = { ...savings.namespaces };
  for (const [namespace, rate] of rates) {
    const isCounted = namespaces[namespace] !== undefined || Object.keys(namespaces).length < NAMESPACES;
    const key = isCounted ? namespace : OTHERS;
    namespaces[key] = rounded(sum(namespaces[key], hoursOf(rate, now - at)));
  }
  const together = rates.map(([, rate]) => rate).reduce((a, b) => sum(a, b));
  const months: Record<string, Hours> = { ...savings.months };
  for (const [month, ms] of byMonth(at, now)) months[month] = rounded(sum(months[month], hoursOf(together, ms)));
  return { ...savings, idle, at: now, namespaces, months: newest(months) };
}

/** What does not run after a batch that changed it by so much. */
export function idleAfter(idle: IdleByNamespace, change: IdleByNamespace): IdleByNamespace {
  const after: Record<string, Idle> = { ...idle };
  for (const [namespace, more] of Object.entries(change)) {
    const [replicas, cpu, memory] = sum(after[namespace], more);
    after[namespace] = [Math.max(0, replicas), Math.max(0, cpu), Math.max(0, memory)];
  }
  return Object.fromEntries(Object.entries(after).filter(([, [replicas]]) => replicas > 0));
}

/** All namespaces together. */
function totalOf({ namespaces }: Pick<Savings, 'namespaces'>): Hours {
  return Object.values(namespaces).reduce((a, b) => sum(a, b), [0, 0, 0]);
}

/** Replica-hours with one decimal. */
export function replicaHours(savings: Savings): string {
  return (Math.round(totalOf(savings)[0] * 10) / 10).toFixed(1);
}

type SavingsStatus = NonNullable<ScheduleStatus['savings']>;

/** As a status has them; undefined while there are none. */
export function savingsStatus({ at, since, namespaces, months }: Savings): SavingsStatus | undefined {
  if (at === null || since === null || Object.keys(namespaces).length === 0) return undefined;
  return {
    since: formatInstant(since),
    until: formatInstant(at),
    months: Object.entries(months)
      .toSorted(([a], [b]) => (a < b ? 1 : -1))
      .map(([month, hours]) => ({ month, ...texts(hours) })),
    namespaces: Object.entries(namespaces)
      .toSorted(([a, x], [b, y]) => y[1] - x[1] || y[0] - x[0] || (a < b ? -1 : 1))
      .map(([namespace, hours]) => ({ namespace, ...texts(hours) })),
  };
}

/** What a run before this one had written into the status, which may be an earlier release without `savings`. */
export function savingsOf({ savings, savedReplicaHours }: ScheduleStatus): Savings {
  if (savings === undefined) {
    const hours = Number(savedReplicaHours ?? '0');
    return hours > 0 ? { ...freshSavings, namespaces: { [OTHERS]: [hours, 0, 0] } } : freshSavings;
  }
  const since = Date.parse(savings.since);
  return {
    ...freshSavings,
    since: Number.isNaN(since) ? null : since,
    namespaces: Object.fromEntries(savings.namespaces.map(({ namespace, ...hours }) => [namespace, numbers(hours)])),
    months: Object.fromEntries(savings.months.map(({ month, ...hours }) => [month, numbers(hours)])),
  };
}

type HoursText = Pick<SavingsStatus['months'][number], 'replicaHours' | 'cpuCoreHours' | 'memoryGiBHours'>;

function texts([replicas, cpu, memory]: Hours): HoursText {
  return { replicaHours: replicas.toFixed(2), cpuCoreHours: cpu.toFixed(2), memoryGiBHours: memory.toFixed(2) };
}

/** Somebody may have written the status by hand. */
export function numbers(text: HoursText): Hours {
  const of = (value: string): number => (Number(value) >= 0 ? Number(value) : 0);
  return [of(text.replicaHours), of(text.cpuCoreHours), of(text.memoryGiBHours)];
}

function hoursOf([replicas, cpu, memory]: Idle, ms: number): Hours {
  const hours = ms / MS_PER_HOUR;
  return [replicas * hours, (cpu / MILLI) * hours, (memory / GIB) * hours];
}

export function sum(before: Hours = [0, 0, 0], more: Hours): Hours {
  return [before[0] + more[0], before[1] + more[1], before[2] + more[2]];
}

function rounded([replicas, cpu, memory]: Hours): Hours {
  const round = (value: number): number => Math.round(value * DIGITS) / DIGITS;
  return [round(replicas), round(cpu), round(memory)];
}

/** The milliseconds of a span that lie in each month of UTC. */
function* byMonth(from: EpochMs, to: EpochMs): Generator<readonly [month: string, ms: number]> {
  for (let at = from; at < to; ) {
    const start = new Date(at);
    const end = Math.min(to, Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
    yield [start.toISOString().slice(0, 7), end - at];
    at = end;
  }
}

function newest(months: Readonly<Record<string, Hours>>): Readonly<Record<string, Hours>> {
  const sorted = Object.entries(months).toSorted(([a], [b]) => (a < b ? 1 : -1));
  return Object.fromEntries(sorted.slice(0, MONTHS));
}
