/** The CPU time that a busy thread has used for a question, as another thread can see it. */
import type { Worker } from 'node:worker_threads';
import type { FileMeter } from './file-meter.ts';

/** A thread that does not say its time for so long is judged by the time that passed. */
const SILENT_MS = 15_000;

type MeasuredWorker = {
  /** Absent before Node 24.6. */
  readonly cpuUsage?: Worker['cpuUsage'];
};

export class CpuClock {
  readonly #worker: MeasuredWorker;
  readonly #meter: Pick<FileMeter, 'begunAt'>;
  #seenAt: number | undefined;

  constructor(worker: MeasuredWorker, meter: Pick<FileMeter, 'begunAt'>) {
    this.#worker = worker;
    this.#meter = meter;
  }

  /**
   * The thread's CPU time in milliseconds now, and how much of it was used since it began to answer; null before. Where
   * the thread does not say it, it is taken to have had a processor all the time.
   */
  async read(): Promise<{ readonly now: number; readonly usedMs: number } | null> {
    const begunAt = this.#meter.begunAt;
    if (begunAt === null) return null;
    this.#seenAt ??= performance.now();
    const now = (await this.#used()) ?? begunAt + performance.now() - this.#seenAt;
    return { now, usedMs: now - begunAt };
  }

  async #used(): Promise<number | null> {
    if (this.#worker.cpuUsage === undefined) return null;
    const usage = await orSilent(this.#worker.cpuUsage());
    return usage === null ? null : (usage.user + usage.system) / 1000;
  }
}

/** What a thread says of itself; null when it says nothing for long, as it does in a long call of a native function. */
export async function orSilent<T>(answer: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const silent = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, SILENT_MS, null);
  });
  try {
    return await Promise.race([answer, silent]);
  } finally {
    clearTimeout(timer);
  }
}
