import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeConfig, type KubernetesObject, ListWatch, Watch } from '@kubernetes/client-node';
import { type ListPage, listSnapshot } from '../../activities/ports/kubernetes-list.ts';
import type { Log } from '../../worker/kernel/log.ts';

/** A quiet watch is renewed after ten minutes without a byte; bookmarks come about once a minute. */
const WATCH_IDLE_MS = 600_000;
const FIRST_RESTART_MS = 500;
const LONGEST_RESTART_MS = 10_000;

export interface InformerOptions<T extends KubernetesObject> {
  /** For messages and metrics: "resourcequotas". */
  readonly name: string;
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** One page of the list, as client-node's generated list methods give it. */
  readonly listPage: ListPage<T>;
  /** `previous` is absent for an object that was not in the cache. */
  readonly onChange: (object: T, previous: T | undefined) => void;
  readonly onDelete: (object: T) => void;
}

/** A watch that goes on for as long as the process runs. */
export interface Informer<T extends KubernetesObject> {
  /** Everything that is known now. */
  list(namespace?: string): readonly T[];
  get(name: string, namespace?: string): T | undefined;
  /** Seconds since the watch last was known to be alive; 0 while it is connected. */
  staleSeconds(): number;
  /** Whether the first list is in. */
  isSynced(): boolean;
  stop(): Promise<void>;
}

/**
 * Lists and watches a resource, and keeps doing so: client-node's informer stops for good at any error but 410, so it is
 * restarted with growing, jittered pauses, and says what it waits for.
 */
export async function startInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: InformerOptions<T>,
  { log, signal }: { log: Log; signal: AbortSignal },
): Promise<Informer<T>> {
  const watch = new ReportingWatch(kubeConfig, () => {
    aliveSince = Date.now();
  });
  // Not an option of the constructor; the default of 30 s would reconnect every quiet watch twice a minute.
  Object.assign(watch, { requestTimeoutMs: WATCH_IDLE_MS });
  const path = `${options.path}?allowWatchBookmarks=true`;
  const listWatch = new ListWatch<T>(
    path,
    watch,
    () => listSnapshot(options.listPage),
    false,
    options.labelSelector,
    options.fieldSelector,
  );

  let synced = false;
  let aliveSince: number | null = null;
  let lastAlive = Date.now();
  const seen = new Map<string, T>();
  const keyOf = (object: T) => `${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
  /** What a listener throws must end neither the watch nor the process; the resync comes to the object again. */
  const heard = (listener: () => void): void => {
    try {
      listener();
    } catch (error) {
      log.error({ err: error, resource: options.name }, `a change of ${options.name} could not be taken in`);
    }
  };
  const changed = (object: T) => {
    const previous = seen.get(keyOf(object));
    seen.set(keyOf(object), object);
    heard(() => options.onChange(object, previous));
  };
  listWatch.on('add', changed);
  listWatch.on('update', changed);
  listWatch.on('delete', (object) => {
    seen.delete(keyOf(object));
    heard(() => options.onDelete(object));
  });

  let restarting = false;
  let pause = FIRST_RESTART_MS;
  const restart = async (error: unknown): Promise<void> => {
    if (aliveSince !== null) {
      // A watch that held for a while ended for a reason of its own: begin with short pauses again.
      if (Date.now() - aliveSince > LONGEST_RESTART_MS) pause = FIRST_RESTART_MS;
      lastAlive = Date.now();
      aliveSince = null;
    }
    if (restarting || signal.aborted) return;
    restarting = true;
    try {
      log.warn({ resource: options.name, reason: reasonOf(error) }, `waiting for Kubernetes to watch ${options.name}`);
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal });
      pause = Math.min(pause * 2, LONGEST_RESTART_MS);
    } catch {
      return;
    } finally {
      restarting = false;
    }
    void run();
  };
  const run = async (): Promise<void> => {
    try {
      await listWatch.start();
      // `start` returns as well when the list failed, after it has told the error handler.
      if (aliveSince === null || listWatch.latestResourceVersion() === '') return;
      if (!synced) log.info({ resource: options.name, objects: listWatch.list().length }, `watching ${options.name}`);
      synced = true;
    } catch (error) {
      void restart(error);
    }
  };
  listWatch.on('error', (error) => void restart(error));
  await run();

  return {
    list: (namespace) => listWatch.list(namespace) ?? [],
    get: (name, namespace) => listWatch.get(name, namespace),
    staleSeconds: () => (aliveSince === null ? (Date.now() - lastAlive) / 1000 : 0),
    isSynced: () => synced,
    stop: async () => await listWatch.stop(),
  };
}

/**
 * client-node begins a watch again without awaiting it, so what fails before the request is made (credentials that cannot
 * be read at the moment) would be a rejection that nobody handles; here it ends the watch like any other error.
 */
class ReportingWatch extends Watch {
  readonly #onAlive: () => void;

  /** @param onAlive called when the API server has answered and goes on answering; `connect` of the library comes before. */
  constructor(kubeConfig: KubeConfig, onAlive: () => void) {
    super(kubeConfig);
    this.#onAlive = onAlive;
  }

  override async watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    let ended = false;
    const end = (error: unknown): void => {
      ended = true;
      done(error);
    };
    try {
      const controller = await super.watch(path, query, callback, end);
      if (!ended) this.#onAlive();
      return controller;
    } catch (error) {
      end(error);
      return new AbortController();
    }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`;
}
