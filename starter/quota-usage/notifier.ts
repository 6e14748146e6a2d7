/** Wakes everything that waits for a change. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next notification, or when the signal is aborted. */
  async notified(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
