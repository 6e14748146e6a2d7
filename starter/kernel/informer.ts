import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeConfig, type KubernetesObject, ListWatch, type RequestContext, Watch } from '@kubernetes/client-node';
import { type ListPage, listSnapshot } from '../../activities/kubernetes/list.ts';
import { hasReached } from '../../domain/kernel/resource-version.ts';
import type { Log } from '../../platform/log/log.ts';
import type { WatchConnection } from '../../domain/kernel/watch-connection.ts';
import { createApiGet, failureOf, listPlainPages } from './api-get.ts';

/**
 * A watch is renewed after so long without a byte, in milliseconds. Bookmarks come about once a minute, so a connection that
 * is silent for longer than two of them is most likely half open, and what it should tell is missing in the cache.
 */
const WATCH_IDLE_MS = 150_000;
const FIRST_RESTART_MS = 500;
const LONGEST_RESTART_MS = 10_000;
/** What is forbidden stays so until a person changes a role. */
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
  /** What is kept of an object. It is applied before the object is cached, told or compared. */
  readonly shape?: (object: T) => T;
  /** `previous` is absent for an object that was not in the cache. */
  readonly onChange: (object: T, previous: T | undefined) => void;
  /** `last` is what the cache held; the object itself is as it was deleted. */
  readonly onDelete: (object: T, last: T | undefined) => void;
  /** The first list is in, or the watch is broken, or connected again. */
  readonly onState?: () => void;
}

/** A watch that goes on for as long as the process runs. */
export interface Informer<T extends KubernetesObject> {
  /** Everything that is known now. */
  list(namespace?: string): readonly T[];
  get(name: string, namespace?: string): T | undefined;
  /** Seconds since the watch last was known to be alive; 0 while it is connected. */
  staleSeconds(): number;
  /** Since when the watch is connected, and when it last was before that. */
  connection(): WatchConnection;
  /** Whether the first list is in. */
  isSynced(): boolean;
  /** Why the watch is broken, in words; null while it is connected, and until the first attempt has failed. */
  trouble(): string | null;
  /** How far the cache has come: the version of its last list, event or bookmark; "" before the first list. */
  resourceVersion(): string;
  /**
   * Whether the cache has come as far as this resourceVersion: resolves as soon as it has, and with false when the signal
   * is aborted or the informer stopped. Any list or bookmark will do for a version that cannot be compared.
   */
  reached(resourceVersion: string, signal: AbortSignal): Promise<boolean>;
  /** Lists everything anew and tells what is different, in case something was lost on the way. */
  relist(): void;
  stop(): Promise<void>;
}

/**
 * Lists and watches a resource, and keeps doing so: client-node's informer stops for good at any error but 410, so it is
 * restarted with growing, jittered pauses, and says what it waits for. Resolves after the first attempt, whatever came of
 * it.
 */
export async function startInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: InformerOptions<T>,
  say: { log: Log; signal: AbortSignal },
): Promise<Informer<T>> {
  const { informer, attempted } = openInformer(kubeConfig, options, say);
  await attempted;
  return informer;
}

/** As `startInformer`, for those who do not want to wait for the first attempt. */
export function openInformer<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: InformerOptions<T>,
  { log, signal }: { log: Log; signal: AbortSignal },
): { readonly informer: Informer<T>; readonly attempted: Promise<void> } {
  const { name, labelSelector, fieldSelector, metadataOnly = false, shape = (object: T) => object } = options;
  const progress = new Progress();
  /** The informer's own end; the process's signal is one reason for it. */
  const over = new AbortController();
  const end = (): void => over.abort();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });

  let synced = false;
  let aliveSince: number | null = null;
  let lastAlive = Date.now();
  let trouble: string | null = null;
  const seen = new Map<string, T>();
  const keyOf = (object: T) => `${object.metadata?.namespace ?? ''}/${object.metadata?.name ?? ''}`;
  /** What a listener throws must end neither the watch nor the process; the resync comes to the object again. */
  const heard = (listener: () => void): void => {
    try {
      listener();
    } catch (error) {
      log.error({ err: error, resource: name }, `a change of ${name} could not be taken in`);
    }
  };

  const watch = new ReportingWatch(metadataOnly ? askingForMetadata(kubeConfig) : kubeConfig, {
    onAlive: () => {
      aliveSince = Date.now();
      trouble = null;
      heard(() => options.onState?.());
    },
    onEnd: () => {
      if (aliveSince === null) return;
      // A watch that held for a while ended for a reason of its own: begin with short pauses again.
      if (Date.now() - aliveSince > LONGEST_RESTART_MS) pause = FIRST_RESTART_MS;
      lastAlive = Date.now();
      aliveSince = null;
    },
    onProgress: (version) => {
      progress.advance(version);
      if (synced || version === '') return;
      synced = true;
      log.info({ resource: name, objects: seen.size }, `watching ${name}`);
      heard(() => options.onState?.());
    },
    shape: (object) => shape(object as T),
    signal: over.signal,
  });
  // Not an option of the constructor; the default of 30 s would reconnect every quiet watch twice a minute.
  Object.assign(watch, { requestTimeoutMs: WATCH_IDLE_MS });
  const plainPages = () =>
    listPlainPages<T>(createApiGet(kubeConfig), { path: options.path, metadataOnly, labelSelector, fieldSelector });
  const listPage = (metadataOnly ? undefined : options.listPage) ?? plainPages();
  const list = async () => {
    watch.isListedAnew();
    const answer = await listSnapshot<T>(async (range) => {
      const page = await listPage(range);
      // Page by page, so that not even the list as a whole is ever held in full.
      return { ...page, items: page.items.map(shape) };
    });
    // A watch takes a moment to be opened; what has just been listed is not stale meanwhile.
    lastAlive = Date.now();
    return answer;
  };
  const listWatch = new ListWatch<T>(
    `${options.path}?allowWatchBookmarks=true`,
    watch,
    list,
    false,
    labelSelector,
    fieldSelector,
  );

  const changed = (object: T) => {
    const previous = seen.get(keyOf(object));
    seen.set(keyOf(object), object);
    heard(() => options.onChange(object, previous));
  };
  listWatch.on('add', changed);
  listWatch.on('update', changed);
  listWatch.on('delete', (object) => {
    const last = seen.get(keyOf(object));
    seen.delete(keyOf(object));
    heard(() => options.onDelete(object, last));
  });

  let restarting = false;
  let pause = FIRST_RESTART_MS;
  const restart = async (error: unknown): Promise<void> => {
    if (restarting || over.signal.aborted) return;
    restarting = true;
    try {
      const { code, reason } = failureOf(error);
      // Once for each reason: a watch that is forbidden for good would fill the log.
      log[reason === trouble ? 'debug' : 'warn']({ resource: name, reason }, `waiting for Kubernetes to watch ${name}`);
      trouble = reason;
      heard(() => options.onState?.());
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal: over.signal });
      pause = Math.min(pause * 2, code === 403 ? LONGEST_FORBIDDEN_MS : LONGEST_RESTART_MS);
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
    } catch (error) {
      void restart(error);
    }
  };
  listWatch.on('error', (error) => void restart(error));

  const informer: Informer<T> = {
    list: (namespace) => (namespace ? (listWatch.list(namespace) ?? []) : [...seen.values()]),
    get: (objectName, namespace) => listWatch.get(objectName, namespace),
    staleSeconds: () => (aliveSince === null ? (Date.now() - lastAlive) / 1000 : 0),
    connection: () => ({ connectedSince: aliveSince, lastConnectedAt: lastAlive }),
    isSynced: () => synced,
    trouble: () => trouble,
    resourceVersion: () => progress.version,
    reached: async (version, until) => await progress.reached(version, until),
    relist: () => watch.listAnew(),
    stop: async () => {
      signal.removeEventListener('abort', end);
      over.abort();
      progress.end();
      await listWatch.stop();
    },
  };
  return { informer, attempted: run() };
}

/** How far a cache has come, and who waits for it to come further. */
class Progress {
  #version = '';
  #ended = false;
  readonly #waiting = new Set<{ readonly version: string; readonly settle: (isThere: boolean) => void }>();

  get version(): string {
    return this.#version;
  }

  advance(version: string): void {
    if (version === '') return;
    this.#version = version;
    for (const waiting of this.#waiting) {
      if (hasReached(version, waiting.version)) waiting.settle(true);
    }
  }

  async reached(version: string, signal: AbortSignal): Promise<boolean> {
    if (this.#version !== '' && hasReached(this.#version, version)) return true;
    if (this.#ended || signal.aborted) return false;
    return await new Promise((resolve) => {
      const onAbort = (): void => waiting.settle(false);
      const waiting = {
        version,
        settle: (isThere: boolean): void => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(isThere);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Nothing more will come. */
  end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting) waiting.settle(false);
  }
}

/** The same access, whose watches are of the objects' metadata. The library's watch takes its headers from nowhere else. */
function askingForMetadata(kubeConfig: KubeConfig): KubeConfig {
  return Object.create(kubeConfig, {
    applySecurityAuthentication: {
      // Called on the original: what is private to a class is not on an object that merely inherits from it.
      value: async (request: RequestContext): Promise<void> => {
        await kubeConfig.applySecurityAuthentication(request);
        request.setHeaderParam('Accept', 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1');
      },
    },
  }) as KubeConfig;
}

interface WatchReports {
  /** The API server has answered and goes on answering; `connect` of the library comes before. */
  readonly onAlive: () => void;
  /** The connection is over, whatever ended it; the library opens the next one now or, after an error, never. */
  readonly onEnd: () => void;
  /** The cache holds everything up to this version. */
  readonly onProgress: (resourceVersion: string) => void;
  readonly shape: (object: KubernetesObject) => KubernetesObject;
  /** Nothing is watched, told or begun again afterwards. */
  readonly signal: AbortSignal;
}

/** What ends a watch so that the library lists anew: the code that it does so for. */
class ListAnew extends Error {
  override readonly name = 'ListAnew';
  readonly statusCode = 410;
}

/**
 * client-node begins a watch again without awaiting it, so what fails before the request is made (credentials that cannot
 * be read at the moment) would be a rejection that nobody handles; here it ends the watch like any other error. It also
 * drops what its callback throws, and tells nobody how far it has come.
 */
class ReportingWatch extends Watch {
  readonly #reports: WatchReports;
  /** Ends the watch that is running or being opened. */
  #end: ((error: unknown) => void) | null = null;
  #isToListAnew = false;

  constructor(kubeConfig: KubeConfig, reports: WatchReports) {
    super(kubeConfig);
    this.#reports = reports;
  }

  /** Lists as soon as may be: at once while a watch is there to be ended, otherwise in the place of the next one. */
  listAnew(): void {
    this.#isToListAnew = true;
    this.#end?.(new ListAnew());
  }

  isListedAnew(): void {
    this.#isToListAnew = false;
  }

  override async watch(...[path, query, callback, done]: Parameters<Watch['watch']>): ReturnType<Watch['watch']> {
    const { onAlive, onEnd, onProgress, shape, signal } = this.#reports;
    if (signal.aborted) return new AbortController();
    // The version that the watch begins at is that of the list, if there has just been one.
    onProgress(typeof query['resourceVersion'] === 'string' ? query['resourceVersion'] : '');
    let ended = false;
    const end = (error: unknown): void => {
      if (ended) return;
      ended = true;
      this.#end = null;
      onEnd();
      done(error);
    };
    if (this.#isToListAnew) {
      end(new ListAnew());
      return new AbortController();
    }
    this.#end = end;
    const take = (phase: string, object: KubernetesObject, event: unknown): void => {
      // Lines of an ended watch may still be in its buffer.
      if (ended || signal.aborted) return;
      try {
        const isObject = phase === 'ADDED' || phase === 'MODIFIED' || phase === 'DELETED';
        callback(phase, isObject ? shape(object) : object, event);
        if (isObject || phase === 'BOOKMARK') onProgress(object.metadata?.resourceVersion ?? '');
      } catch (error) {
        end(error);
      }
    };
    try {
      const controller = await super.watch(path, query, take, end);
      // Ended while it was being opened, when nobody could abort it yet.
      if (ended || signal.aborted) controller.abort();
      else onAlive();
      return controller;
    } catch (error) {
      end(error);
      return new AbortController();
    }
  }
}
