import { despiteCancellation, unlessCancelled } from '../kernel/cancellation.ts';

/**
 * One list of the cluster for all who ask while another one is under way: when a hundred schedules are deleted, or no starter
 * answers at the turn of a hundred nights, each wants all workloads of the cluster.
 */
export class SharedList<T> {
  readonly #list: () => Promise<T>;
  #running: Promise<unknown> | null = null;
  #next: Promise<T> | null = null;

  constructor(list: () => Promise<T>) {
    this.#list = list;
  }

  /** What is there at a moment after the call. An activity that is cancelled waits for it no longer. */
  async read(): Promise<T> {
    return await unlessCancelled(async () => await this.#read());
  }

  async #read(): Promise<T> {
    if (this.#next !== null) return await this.#next;
    if (this.#running === null) return await this.#begin();
    const begin = async (): Promise<T> => {
      this.#next = null;
      return await this.#begin();
    };
    // What has begun before may lack what the caller knows of.
    this.#next = this.#running.then(begin, begin);
    return await this.#next;
  }

  #begin(): Promise<T> {
    // It is of all who ask, whatever becomes of the one who asked first.
    const listed = despiteCancellation(this.#list);
    const ended = listed
      .catch(() => undefined)
      .then(() => {
        if (this.#running === ended) this.#running = null;
      });
    this.#running = ended;
    return listed;
  }
}
