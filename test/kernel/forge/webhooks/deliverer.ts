import { randomUUID } from 'node:crypto';
import { isoSeconds } from '../git/objects.ts';
import type { Hook } from '../model.ts';
import { Mutex } from '../mutex.ts';
import { deliver, type Delivery, type Message, type Origin, requestFor } from './delivery.ts';

/** Where a message goes: a hook, and for whom it is. */
export interface Target {
  /** Unique in the forge; the messages of one key are delivered one after the other. */
  readonly key: string;
  /** The hook as it is when the delivery's turn comes. */
  readonly hook: Hook;
  readonly origin: Origin;
}

interface Sent {
  readonly target: Target;
  readonly message: Message;
  readonly delivery: Delivery;
}

// GitHub keeps deliveries for three days; the forge keeps the newest of each hook.
const KEPT = 2000;

/**
 * Delivers webhooks as GitHub does: each message once and in order for each hook, without anybody waiting for it. What
 * fails stays in the list until somebody redelivers it.
 */
export class Deliverer {
  readonly #timeoutMs: number;
  readonly #queues = new Map<string, Mutex>();
  readonly #sent = new Map<string, Sent[]>();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  #nextId = 1;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Puts a message into the hook's queue. Resolves with what came of it; undefined once the forge is stopping. */
  send(target: Target, message: Message): Promise<Delivery | undefined> {
    return this.#enqueue(target, message, randomUUID(), false);
  }

  /**
   * Delivers once more what was delivered, under the same GUID and with the hook's secret of now.
   * @throws Error when there is no such delivery
   */
  async redeliver(id: number): Promise<Delivery | undefined> {
    const found = [...this.#sent.values()].flat().find(({ delivery }) => delivery.id === id);
    if (!found) throw new Error(`there is no webhook delivery ${id}; deliveries() lists them`);
    return this.#enqueue(found.target, found.message, found.delivery.guid, true);
  }

  /** What was delivered to a hook, or to all, the oldest first. */
  deliveries(key?: string): readonly Delivery[] {
    const sent = key === undefined ? [...this.#sent.values()].flat() : (this.#sent.get(key) ?? []);
    return sent.map(({ delivery }) => delivery).sort((a, b) => a.id - b.id);
  }

  /** Forgets a hook that was deleted. */
  forget(key: string): void {
    this.#sent.delete(key);
  }

  /** Something that will send a message, so that `settled` waits for it. */
  track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#pending.delete(tracked));
    this.#pending.add(tracked);
    return tracked;
  }

  /** Resolves when nothing is queued or under way. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  /** Breaks off what is under way and drops what is queued. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.settled();
  }

  #enqueue(target: Target, message: Message, guid: string, redelivery: boolean): Promise<Delivery | undefined> {
    const queue = this.#queues.get(target.key) ?? new Mutex();
    this.#queues.set(target.key, queue);
    return this.track(queue.run(() => this.#attempt(target, message, guid, redelivery)));
  }

  async #attempt(target: Target, message: Message, guid: string, redelivery: boolean): Promise<Delivery | undefined> {
    const { signal } = this.#stopping;
    if (signal.aborted) return undefined;
    const request = requestFor(target.hook, message, guid, target.origin);
    const start = performance.now();
    const answer = await deliver(target.hook.url, request, { timeoutMs: this.#timeoutMs, signal });
    if (!answer) return undefined;
    const delivery: Delivery = {
      id: this.#nextId++,
      guid,
      hookId: target.hook.id,
      event: message.event,
      action: message.action,
      redelivery,
      payload: message.payload,
      request,
      deliveredAt: isoSeconds(new Date()),
      durationSeconds: Math.round(performance.now() - start) / 1000,
      ...answer,
    };
    const sent = this.#sent.get(target.key) ?? [];
    this.#sent.set(target.key, [...sent.slice(1 - KEPT), { target, message, delivery }]);
    return delivery;
  }
}
