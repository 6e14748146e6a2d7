/** Stops processes for a moment, as a machine does that has others to serve. Linux only: it finds and reads them in /proc. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';

export interface StopsOptions {
  readonly random: Random;
  /** `NAME=value`: only processes with this in their environment are stopped, and only those that `nameOf` names. */
  readonly mark: string;
  /** What the report calls a process, by the arguments that it was started with; undefined for one that is left alone. */
  readonly nameOf: (args: readonly string[]) => string | undefined;
  readonly signal: AbortSignal;
}

/** Milliseconds that one is stopped for, most of the time. */
const SHORT = [50, 100, 200, 200, 300, 500] as const;
/** Milliseconds, once in a while: less than any limit of the product's own. */
const LONG = 1_500;
const LONG_IN = 25;
/** Milliseconds between two stops. */
const PAUSE = { from: 50, to: 400 } as const;

/** Goes on until the signal. @returns how often processes were stopped, by their names; none is left stopped. */
export async function stopNowAndThen({
  random,
  mark,
  nameOf,
  signal,
}: StopsOptions): Promise<ReadonlyMap<string, number>> {
  const stops = new Map<string, number>();
  while (!signal.aborted) {
    const candidates = await running(mark, nameOf);
    if (candidates.length > 0) {
      const forMs = random.between(1, LONG_IN) === 1 ? LONG : random.pick(SHORT);
      const { pid, name } = random.pick(candidates);
      if (await stopOnce(pid, forMs)) stops.set(name, (stops.get(name) ?? 0) + 1);
    }
    await sleep(random.between(PAUSE.from, PAUSE.to), undefined, { signal }).catch(() => {});
  }
  return stops;
}

/** Whole: a signal in the middle of it does not leave the process stopped. @returns whether there was such a process. */
async function stopOnce(pid: number, forMs: number): Promise<boolean> {
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(forMs);
    process.kill(pid, 'SIGCONT');
    return true;
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

interface Candidate {
  readonly pid: number;
  readonly name: string;
}

async function running(mark: string, nameOf: StopsOptions['nameOf']): Promise<readonly Candidate[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid): Promise<readonly Candidate[]> => {
      const [environment, args] = await Promise.all([partsOf(`/proc/${pid}/environ`), partsOf(`/proc/${pid}/cmdline`)]);
      const name = environment.includes(mark) ? nameOf(args) : undefined;
      return name === undefined ? [] : [{ pid: Number(pid), name }];
    }),
  );
  return found.flat();
}

/** Empty for a process that has ended, or is somebody else's. */
async function partsOf(file: string): Promise<readonly string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\0');
}
