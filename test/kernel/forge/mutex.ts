/** Runs tasks one after the other, in the order in which they came. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(task: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(task);
    // The next task runs whatever became of this one; who called for this one hears of its failure.
    this.#last = mine.catch(() => {});
    return mine;
  }
}
