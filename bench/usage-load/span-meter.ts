import { monitorEventLoopDelay } from 'node:perf_hooks';
import { grownBy } from './counters.ts';
import { type MachineSample, sampleMachine } from './processes.ts';

/** How much of the machine a span took. */
export interface MachineUse {
  readonly seconds: number;
  /** The part of all processors' time that was at work, from 0 to 1. */
  readonly busy: number;
  /** CPU seconds of everything that is not in `processes`: where these are many, the machine was not this run's alone. */
  readonly othersCpuSeconds: number;
  /** CPU seconds within the span; memory at its end, in MiB. */
  readonly processes: MachineSample['processes'];
  /** Milliseconds that this program's own work was delayed by, 99th percentile. */
  readonly loopDelayP99: number;
}

/** A part of the run, and what it took of the machine. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
  readonly machine: MachineUse;
  /** How much the counters have grown. */
  readonly counters: Readonly<Record<string, number>>;
}

const NANOSECONDS = 1e6;

/** How often the event loop is looked at, in milliseconds: this much of a delay is the looking itself. */
const RESOLUTION_MS = 10;

/** Measures what parts of the run take of the machine. */
export class SpanMeter {
  readonly #pids: () => Readonly<Record<string, number>>;
  readonly #counters: () => Promise<Readonly<Record<string, number>>>;
  readonly #loop: ReturnType<typeof monitorEventLoopDelay>;

  constructor(pids: () => Readonly<Record<string, number>>, counters: () => Promise<Readonly<Record<string, number>>>) {
    this.#pids = pids;
    this.#counters = counters;
    this.#loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#loop.enable();
  }

  async during<T>(work: () => Promise<T>): Promise<readonly [T, Span]> {
    this.#loop.reset();
    const from = new Date();
    const counted = await this.#counters();
    const before = await sampleMachine(this.#pids());
    const result = await work();
    const after = await sampleMachine(this.#pids());
    const to = new Date();
    const busySeconds = after.busySeconds - before.busySeconds;
    const processes = spent(before.processes, after.processes);
    const ours = Object.values(processes).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
    const machine: MachineUse = {
      seconds: (to.getTime() - from.getTime()) / 1000,
      busy: busySeconds / (after.totalSeconds - before.totalSeconds),
      othersCpuSeconds: Math.max(0, busySeconds - ours),
      processes,
      loopDelayP99: Math.max(0, this.#loop.percentile(99) / NANOSECONDS - RESOLUTION_MS),
    };
    return [result, { from, to, machine, counters: grownBy(counted, await this.#counters()) }];
  }

  stop(): void {
    this.#loop.disable();
  }
}

function spent(before: MachineSample['processes'], after: MachineSample['processes']): MachineSample['processes'] {
  return Object.fromEntries(
    Object.entries(after).map(([name, sample]) => [
      name,
      { ...sample, cpuSeconds: sample.cpuSeconds - (before[name]?.cpuSeconds ?? 0) },
    ]),
  );
}
