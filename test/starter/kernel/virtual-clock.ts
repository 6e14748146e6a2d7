import type { Clock } from '../../../starter/kernel/work-queue.ts';

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that only passes when a test says so. */
export class VirtualClock implements Clock {
  #now = 0;
  readonly #sleepers = new Set<Sleeper>();

  now(): number {
    return this.#now;
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        resolve();
      };
      const sleeper: Sleeper = { at: this.#now + ms, wake };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** Lets so many milliseconds pass, waking every sleeper at its own moment and letting it do what it does then. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      await settled();
      const next = [...this.#sleepers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      this.#now = next.at;
      next.wake();
    }
    this.#now = until;
  }
}

/** Until everything that can go on without time has done so: promises run before the event loop's next turn. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
