import type { Connection, ConnectionLike } from '@temporalio/client';

/** The connection of a client, which another one can take the place of. */
export class RenewableConnection implements ConnectionLike {
  #current: Connection;

  constructor(connection: Connection) {
    this.#current = connection;
  }

  /** Requests that are under way end on the connection that they began on, and are not repeated there. */
  async replace(connection: Connection): Promise<void> {
    const before = this.#current;
    this.#current = connection;
    await before.close();
  }

  get workflowService(): ConnectionLike['workflowService'] {
    return this.#current.workflowService;
  }

  get operatorService(): ConnectionLike['operatorService'] {
    return this.#current.operatorService;
  }

  get plugins(): ConnectionLike['plugins'] {
    return this.#current.plugins;
  }

  async close(): Promise<void> {
    await this.#current.close();
  }

  async ensureConnected(): Promise<void> {
    await this.#current.ensureConnected();
  }

  async withDeadline<R>(deadline: number | Date, fn: () => Promise<R>): Promise<R> {
    return await this.#current.withDeadline(deadline, fn);
  }

  async withMetadata<R>(...given: Parameters<ConnectionLike['withMetadata']>): Promise<R> {
    return (await this.#current.withMetadata(...given)) as R;
  }

  async withAbortSignal<R>(abortSignal: AbortSignal, fn: () => Promise<R>): Promise<R> {
    return await this.#current.withAbortSignal(abortSignal, fn);
  }
}
