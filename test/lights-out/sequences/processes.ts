/** Worker, starter and API server, which end now and then; only one of them at a time. */
import { logTail, type SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';

type Name = 'worker' | 'starter';

export class Processes {
  readonly #plane: HeadroomPlane;
  readonly #running = new Map<Name, SupervisedProcess>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(plane: HeadroomPlane) {
    this.#plane = plane;
  }

  async start(): Promise<void> {
    await Promise.all([this.#start('worker'), this.#start('starter')]);
  }

  /** Kills one, does something, and starts another in its place. Waits for its turn. */
  async without(name: Name, act: () => Promise<void> = async () => {}): Promise<void> {
    await this.#inTurn(async () => {
      await this.#running.get(name)?.kill();
      try {
        await act();
      } finally {
        await this.#start(name);
      }
    });
  }

  async restartApiServer(): Promise<void> {
    await this.#inTurn(async () => await this.#plane.plane.restartApiServer());
  }

  /** @throws Error where one of them ended by itself. */
  async areAlive(): Promise<void> {
    await this.#last;
    for (const { name, logFile, exit } of this.#running.values()) {
      if (exit() !== undefined) throw new Error(`the ${name} ended by itself:\n${await logTail(logFile)}`);
    }
  }

  async #start(name: Name): Promise<void> {
    const started = await (name === 'worker' ? this.#plane.startWorker() : this.#plane.startStarter());
    this.#running.set(name, started);
  }

  async #inTurn(act: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(act);
    this.#last = turn.catch(() => {});
    await turn;
  }
}
