/**
 * The API server's time. Since when a node is not Ready, a pod waits or an object is there are times of the API server, or held to them. By a
 * clock of its own that is half an hour ahead, a starter would take a node for broken in the moment in which it is not Ready, and what a
 * worker whose clock is behind has claimed would be over when it is written.
 */
import type { EpochMs } from '../../domain/kernel/time.ts';

/** The server says its time in whole seconds, and an answer takes a moment: what is less, in milliseconds, is no difference. */
const TOLERANCE_MS = 2_000;

export class ServerClock {
  readonly #own: () => EpochMs;
  #aheadMs = 0;

  constructor(own: () => EpochMs = Date.now) {
    this.#own = own;
  }

  readonly now = (): EpochMs => this.#own() - this.#aheadMs;

  /**
   * Makes a request, and goes by the time that its answer says.
   *
   * @param date the header `Date` of the answer, which may be missing, as behind some proxies: then the clock goes on as it did.
   */
  async timed<T>(request: () => Promise<T>, date: (answer: T) => string | undefined): Promise<T> {
    const sent = this.#own();
    const answer = await request();
    const received = this.#own();
    const said = Date.parse(date(answer) ?? '');
    if (!Number.isFinite(said) || received < sent) return answer;
    const aheadMs = (sent + received) / 2 - (said + 500);
    // An answer that took long says nothing exact, nor does one during which the clock was set, which looks the same.
    if (Math.abs(aheadMs - this.#aheadMs) > Math.max(TOLERANCE_MS, received - sent))
      this.#aheadMs = Math.abs(aheadMs) > TOLERANCE_MS ? Math.round(aheadMs) : 0;
    return answer;
  }
}
