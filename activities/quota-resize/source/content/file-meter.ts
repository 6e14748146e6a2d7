/** Measures the CPU time of a thread for each file, in memory that another thread can read while this one is busy. */

const CURRENT = 0;
const SINCE = 1;
const HAS_BEGUN = 2;
const BEGUN_AT = 3;
const COSTS = 4;

export interface FileCost {
  /** The position of the file among the texts. */
  readonly index: number;
  readonly ms: number;
  /** The file's part of the time of all files, from 0 to 1. */
  readonly share: number;
}

/** All times are those of one clock: `cpuMs` of the working thread. What is done after the access to a file counts for it. */
export class FileMeter {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(memory);
  }

  static memoryFor(files: number): SharedArrayBuffer {
    return new SharedArrayBuffer((COSTS + files) * Float64Array.BYTES_PER_ELEMENT);
  }

  /** Only the working thread may call this, when it begins to answer. What it used before was not for any file. */
  begin(): void {
    this.#cells[BEGUN_AT] = cpuMs();
    this.#cells[HAS_BEGUN] = 1;
  }

  /** When the thread began to answer; null before it has begun. */
  get begunAt(): number | null {
    return this.#cell(HAS_BEGUN) === 0 ? null : this.#cell(BEGUN_AT);
  }

  /** Only the working thread may call this, when it accesses a file. */
  enter(index: number): void {
    const current = this.#cell(CURRENT);
    if (current === index + 1) return;
    const time = cpuMs();
    if (current > 0) this.#cells[COSTS + current - 1] = this.#cell(COSTS + current - 1) + time - this.#cell(SINCE);
    this.#cells[CURRENT] = index + 1;
    this.#cells[SINCE] = time;
  }

  /** The file that took most time until a moment; null when no file was used. Any thread may call this. */
  costliest(time: number): FileCost | null {
    const current = this.last;
    if (current === null) return null;
    const costs = [...this.#cells.subarray(COSTS)];
    costs[current] = (costs[current] ?? 0) + Math.max(0, time - this.#cell(SINCE));
    const index = costs.reduce((most, ms, other) => (ms > (costs[most] ?? 0) ? other : most), current);
    const all = costs.reduce((sum, ms) => sum + ms, 0);
    const ms = costs[index] ?? 0;
    return { index, ms, share: all === 0 ? 1 : ms / all };
  }

  /** The position of the file that was accessed last; null when no file was used. */
  get last(): number | null {
    const current = this.#cell(CURRENT);
    return current === 0 ? null : current - 1;
  }

  #cell(at: number): number {
    return this.#cells[at] ?? 0;
  }
}

/**
 * The milliseconds for which this thread had a processor since it exists; before Node 23.9 those for which it exists, which
 * is never less.
 */
export function cpuMs(): number {
  const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => NodeJS.CpuUsage };
  if (threadCpuUsage === undefined) return performance.now();
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

/** Texts by path that count the time for each file that is accessed. */
export class MeteredTexts extends Map<string, string | null> {
  readonly #indices = new Map<string, number>();
  /** The meter of the question that is answered now. */
  meter: FileMeter | null = null;

  override set(path: string, text: string | null): this {
    if (!this.#indices.has(path)) this.#indices.set(path, this.#indices.size);
    return super.set(path, text);
  }

  override get(path: string): string | null | undefined {
    const index = this.#indices.get(path);
    if (index !== undefined) this.meter?.enter(index);
    return super.get(path);
  }
}
