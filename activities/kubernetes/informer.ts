import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeConfig, type KubernetesObject, ListWatch } from '@kubernetes/client-node';
import { type ListPage, listSnapshot } from './list.ts';
import type { Logger } from 'pino';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import { createApiGet, failureOf, listPlainPages } from './api-get.ts';
import { CacheProgress } from './cache-progress.ts';
import { askingForMetadata, ReportingWatch } from './reporting-watch.ts';

/**
 * A watch without any data for so many milliseconds is reconnected. Bookmarks arrive about once a minute, so a
 * connection that is silent for longer than two of them is probably half open, and the cache misses its events.
 */
const WATCH_IDLE_MS = 150_000;
const FIRST_RESTART_MS = 500;
const LONGEST_RESTART_MS = 10_000;
/** A missing permission is granted only by a person, so retries can be rare. */
const LONGEST_FORBIDDEN_MS = 60_000;

export interface InformerOptions<T extends KubernetesObject> {
  /** For messages and metrics: "resourcequotas". */
  readonly name: string;
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /**
   * One page of the list, as client-node's generated list methods give it. Without it, objects are listed as plain JSON:
   * then a time is text in every object, and not a Date in listed and text in watched ones.
   */
  readonly listPage?: ListPage<T>;
  /**
   * Asks for the objects' metadata only, so that for instance the data of a Secret never leaves the API server. It lists
   * for itself: `listPage` is not used then.
   */
  readonly metadataOnly?: boolean;
  /** Objects per page of the list, where they may be large: a page is held as it came. */
  readonly pageSize?: number;
  /** Reduces an object before it is cached, compared or passed to listeners. */
  readonly shape?: (object: T) => T;
  /**
   * `previous` is absent for an object that was not in the cache. `isListed` is whether a list has it, and not the watch: then
   * there may have been versions in between that nobody is told of.
   */
  readonly onChange: (object: T, previous: T | undefined, isListed: boolean) => void;
  /** `last` is what the cache held; the object itself is as it was deleted. */
  readonly onDelete: (object: T, last: T | undefined) => void;
  /** The first list is in, or the watch is broken, or connected again. */
  readonly onState?: () => void;
  /** The watch has ended, for any reason: until the next `onState` nobody is told of what changes. */
  readonly onEnd?: () => void;
}

/** A watch that goes on for as long as the process runs. */
export interface Informer<T extends KubernetesObject> {
  /** Everything that is known now. */
  list(namespace?: string): readonly T[];
  get(name: string, namespace?: string): T | undefined;
  /** Seconds since the watch was last known to work; 0 while it is connected. */
  staleSeconds(): number;
  /** Whether the first list is in. */
  isSynced(): boolean;
  /** Why the watch is broken, in words; null while it is connected, and until the first attempt has failed. */
  trouble(): string | null;
  /** The version that the cache has reached: that of its last list, event or bookmark; "" before the first list. */
  resourceVersion(): string;
  /**
   * Whether the cache has reached this resourceVersion: resolves as soon as it has, or with false when the signal is
   * aborted or the informer stopped. For a version that cannot be compared, any list or bookmark suffices.
   */
  observed(resourceVersion: string, signal: AbortSignal): Promise<boolean>;
  /** Lists everything again and reports differences, in case an event was lost. */
  relist(): void;
  stop(): Promise<void>;
}

/**
 * Lists and watches a resource for as long as the process runs. client-node's informer stops at any error but 410, so
 * it is restarted with exponential backoff and jitter, and the reason is logged. Resolves after the first attempt,
 * successful or not.
 */
export async function startInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: InformerOptions<T>,
  context: { log: Logger; signal: AbortSignal },
): Promise<Informer<T>> {
  const informer = new RestartingInformer(kubeConfig, options, context);
  await informer.run();
  return informer;
}

/** As `startInformer`, for those who do not want to wait for the first attempt. */
export function openInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: InformerOptions<T>,
  context: { log: Logger; signal: AbortSignal },
): Informer<T> {
  const informer = new RestartingInformer(kubeConfig, options, context);
  void informer.run();
  return informer;
}

class RestartingInformer<T extends KubernetesObject> implements Informer<T> {
  readonly #options: InformerOptions<T>;
  readonly #log: Logger;
  readonly #listPage: ListPage<T>;
  readonly #watch: ReportingWatch;
  readonly #listWatch: ListWatch<T>;
  readonly #progress = new CacheProgress();
  /** By namespace and name, what the listener was told last. */
  readonly #seen = new Map<string, T>();
  /** The informer's own end; the process's signal is one reason for it. */
  readonly #over = new AbortController();
  readonly #stopWithProcess: () => void;
  #isSynced = false;
  /** From the answer of a list until the watch after it, which is when what it has is told. */
  #isListed = false;
  /** Since when the watch is connected; null while it is not. */
  #aliveSince: MonotonicMs | null = null;
  #lastAlive: MonotonicMs = performance.now();
  #trouble: string | null = null;
  #isRestarting = false;
  #pauseMs = FIRST_RESTART_MS;

  constructor(
    kubeConfig: KubeConfig,
    options: InformerOptions<T>,
    { log, signal }: { log: Logger; signal: AbortSignal },
  ) {
    const { path, labelSelector, fieldSelector, metadataOnly = false } = options;
    this.#options = options;
    this.#log = log;
    const end = (): void => this.#over.abort();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    this.#stopWithProcess = () => signal.removeEventListener('abort', end);

    this.#watch = new ReportingWatch(metadataOnly ? askingForMetadata(kubeConfig) : kubeConfig, {
      onAlive: () => this.#onAlive(),
      onEnd: () => this.#onEnd(),
      onProgress: (version) => this.#onProgress(version),
      shape: (object) => this.#shape(object as T),
      signal: this.#over.signal,
    });
    // Not an option of the constructor; the default of 30 s would reconnect every quiet watch twice a minute.
    Object.assign(this.#watch, { requestTimeoutMs: WATCH_IDLE_MS });
    const plainPages = () =>
      listPlainPages<T>(createApiGet(kubeConfig), { path, metadataOnly, labelSelector, fieldSelector });
    this.#listPage = (metadataOnly ? undefined : options.listPage) ?? plainPages();
    this.#listWatch = new ListWatch<T>(
      `${path}?allowWatchBookmarks=true`,
      this.#watch,
      async () => await this.#list(),
      false,
      labelSelector,
      fieldSelector,
    );
    this.#listWatch.on('add', (object) => this.#onChange(object));
    this.#listWatch.on('update', (object) => this.#onChange(object));
    this.#listWatch.on('delete', (object) => this.#onDelete(object));
    this.#listWatch.on('error', (error) => void this.#restart(error));
  }

  /** Resolves after the first attempt, whatever came of it. */
  async run(): Promise<void> {
    try {
      await this.#listWatch.start();
    } catch (error) {
      void this.#restart(error);
    }
  }

  list(namespace?: string): readonly T[] {
    return namespace ? (this.#listWatch.list(namespace) ?? []) : [...this.#seen.values()];
  }

  get(name: string, namespace?: string): T | undefined {
    return this.#listWatch.get(name, namespace);
  }

  staleSeconds(): number {
    return this.#aliveSince === null ? (performance.now() - this.#lastAlive) / 1000 : 0;
  }

  isSynced(): boolean {
    return this.#isSynced;
  }

  trouble(): string | null {
    return this.#trouble;
  }

  resourceVersion(): string {
    return this.#progress.version;
  }

  async observed(version: string, until: AbortSignal): Promise<boolean> {
    return await this.#progress.observed(version, until);
  }

  relist(): void {
    this.#watch.listAnew();
  }

  async stop(): Promise<void> {
    this.#stopWithProcess();
    this.#over.abort();
    this.#progress.end();
    await this.#listWatch.stop();
  }

  async #list(): ReturnType<typeof listSnapshot<T>> {
    this.#watch.isListedAnew();
    const answer = await listSnapshot<T>(async (range) => {
      const { pageSize = range.limit } = this.#options;
      const page = await this.#listPage({ ...range, limit: pageSize });
      // Page by page, so that not even the list as a whole is ever held in full.
      return { ...page, items: page.items.map((object) => this.#shape(object)) };
    });
    // Opening a watch takes a moment, in which a fresh list does not count as stale.
    this.#lastAlive = performance.now();
    this.#isListed = true;
    return answer;
  }

  #onAlive(): void {
    this.#aliveSince = performance.now();
    this.#trouble = null;
    this.#notify(() => this.#options.onState?.());
  }

  #onEnd(): void {
    if (this.#aliveSince === null) return;
    // A watch that had worked for a while failed for a new reason, so the backoff starts again.
    if (performance.now() - this.#aliveSince > LONGEST_RESTART_MS) this.#pauseMs = FIRST_RESTART_MS;
    this.#lastAlive = performance.now();
    this.#aliveSince = null;
    this.#notify(() => this.#options.onEnd?.());
  }

  #onProgress(version: string): void {
    this.#isListed = false;
    this.#progress.advance(version);
    if (this.#isSynced || version === '') return;
    this.#isSynced = true;
    const { name } = this.#options;
    this.#log.info({ resource: name, objects: this.#seen.size }, `watching ${name}`);
    this.#notify(() => this.#options.onState?.());
  }

  #onChange(object: T): void {
    const key = keyOf(object);
    const previous = this.#seen.get(key);
    this.#seen.set(key, object);
    this.#notify(() => this.#options.onChange(object, previous, this.#isListed));
  }

  #onDelete(object: T): void {
    const key = keyOf(object);
    const last = this.#seen.get(key);
    this.#seen.delete(key);
    this.#notify(() => this.#options.onDelete(object, last));
  }

  async #restart(error: unknown): Promise<void> {
    if (this.#isRestarting || this.#over.signal.aborted) return;
    this.#isRestarting = true;
    const { name, onState } = this.#options;
    try {
      const { code, reason } = failureOf(error);
      // Logged once per reason: a watch that stays forbidden would fill the log.
      const level = reason === this.#trouble ? 'debug' : 'warn';
      this.#log[level]({ resource: name, reason }, `waiting for Kubernetes to watch ${name}`);
      this.#trouble = reason;
      this.#notify(() => onState?.());
      await sleep(this.#pauseMs * (0.5 + Math.random() / 2), undefined, { signal: this.#over.signal });
      this.#pauseMs = Math.min(this.#pauseMs * 2, code === 403 ? LONGEST_FORBIDDEN_MS : LONGEST_RESTART_MS);
    } catch {
      return;
    } finally {
      this.#isRestarting = false;
    }
    void this.run();
  }

  #shape(object: T): T {
    return this.#options.shape?.(object) ?? object;
  }

  /** An error of a listener must end neither the watch nor the process; the resync visits the object again. */
  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      const { name } = this.#options;
      this.#log.error({ err: error, resource: name }, `a change of ${name} could not be processed`);
    }
  }
}

function keyOf({ metadata }: KubernetesObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}
