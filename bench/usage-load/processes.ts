import { readFile } from 'node:fs/promises';

/** The kernel's clock ticks a second, as every Linux tells them to programs. */
const TICKS = 100;

/** What a process has used since it started, and what it holds now. */
interface ProcessSample {
  readonly cpuSeconds: number;
  /** MiB of memory that is resident now. */
  readonly rssMiB: number;
  /** MiB that were resident at most. */
  readonly peakMiB: number;
}

export interface MachineSample {
  readonly processes: Readonly<Record<string, ProcessSample>>;
  /** CPU seconds that all processors together were at work. */
  readonly busySeconds: number;
  /** CPU seconds that all processors together had to give. */
  readonly totalSeconds: number;
}

/** Reads what `/proc` says of the machine and of the processes. A process that has ended is left out. */
export async function sampleMachine(pids: Readonly<Record<string, number>>): Promise<MachineSample> {
  const sampled = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => [name, await sampleProcess(pid).catch(() => null)] as const),
  );
  const processes = Object.fromEntries(sampled.flatMap(([name, sample]) => (sample === null ? [] : [[name, sample]])));
  return { processes, ...cpuTime(await readFile('/proc/stat', 'utf8')) };
}

async function sampleProcess(pid: number): Promise<ProcessSample> {
  const [stat, status] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/status`, 'utf8'),
  ]);
  return {
    cpuSeconds: cpuSecondsOf(stat),
    rssMiB: mebibytes(status, 'VmRSS'),
    peakMiB: mebibytes(status, 'VmHWM'),
  };
}

/** User and system time from the text of `/proc/<pid>/stat`. The name of the process may hold spaces and brackets. */
export function cpuSecondsOf(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The 14th and 15th of the whole line; its first two are before these.
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

/** All processors' time from the text of `/proc/stat`. */
export function cpuTime(stat: string): Pick<MachineSample, 'busySeconds' | 'totalSeconds'> {
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, ...interrupts] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const busy = [user, nice, system, ...interrupts].reduce((sum, count) => sum + count, 0);
  return { busySeconds: busy / TICKS, totalSeconds: (busy + idle + waiting) / TICKS };
}

function mebibytes(status: string, field: string): number {
  const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return Math.round(Number(kibibytes ?? 0) / 1024);
}
