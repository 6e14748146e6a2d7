import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, createApiGet, failureOf, listPath } from '../../activities/kubernetes/api-get.ts';
import { type Informer, type InformerOptions, openInformer } from '../../activities/kubernetes/informer.ts';

export interface WhereServedOptions<T extends KubernetesObject> extends Omit<InformerOptions<T>, 'name' | 'path'> {
  readonly group: string;
  readonly version: string;
  /** In the plural, which is its name as well. */
  readonly resource: string;
}

/**
 * Milliseconds after a deletion until everything is listed again: a definition that is deleted takes its objects along, and a watch of it
 * stays open for minutes without a word, also when the definition is back.
 */
const LISTED_AFTER_MS = 5_000;
/** Backoff in milliseconds after the first failed check; it doubles each time. */
const FIRST_MS = 1_000;

interface Checks {
  /** How often, in milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Watches a resource that a cluster may not serve, for as long as it does, with periodic checks. An unserved resource
 * has no objects and does not affect readiness.
 */
export function openWhereServed<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  { group, version, resource, ...options }: WhereServedOptions<T>,
  checks: Checks,
): Informer<T> {
  const path = listPath({ group, version, resource });
  const find = async (get: ApiGet): Promise<Found<T> | null> => ((await isServed(get, path)) ? { path } : null);
  return openWhereFound(kubeConfig, { ...options, resource, find }, checks);
}

/** Where a resource is, and what is kept of its objects. */
type Found<T extends KubernetesObject> = Pick<InformerOptions<T>, 'path' | 'shape'>;

export interface WhereFoundOptions<T extends KubernetesObject> extends Omit<InformerOptions<T>, 'name' | 'path'> {
  /** Its name. */
  readonly resource: string;
  /** Null while the cluster does not serve it. */
  readonly find: (get: ApiGet) => Promise<Found<T> | null>;
}

/** The same for a resource of which it has to be found out where it is. */
export function openWhereFound<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  { resource, find, ...options }: WhereFoundOptions<T>,
  { everyMs, log, signal }: Checks,
): Informer<T> {
  const { onDelete } = options;
  const get = createApiGet(kubeConfig);
  const over = new AbortController();
  const end = (): void => over.abort();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  let current: Informer<T> | null = null;
  let path = '';
  let isKnown = false;
  let trouble: string | null = null;
  const listing = once(LISTED_AFTER_MS, () => current?.relist());

  function onDeleted(object: T, last: T | undefined): void {
    listing.soon();
    onDelete(object, last);
  }

  async function close(): Promise<void> {
    const closing = current;
    current = null;
    await closing?.stop();
    for (const object of closing?.list() ?? []) onDelete(object, object);
  }

  async function check(): Promise<void> {
    if (current !== null && current.trouble() === null) return;
    try {
      const found = await find(get);
      trouble = null;
      isKnown = true;
      if (over.signal.aborted) return;
      if (current !== null && found?.path !== path) {
        if (found === null) log.info({ resource }, `the cluster does not serve ${resource} any more`);
        await close();
      }
      if (found !== null && current === null) {
        path = found.path;
        const watched = { ...options, ...found, name: resource, onDelete: onDeleted };
        current = openInformer<T>(kubeConfig, watched, { log, signal: over.signal });
      }
    } catch (error) {
      // Most likely nothing has changed.
      trouble = failureOf(error).reason;
      log.debug({ resource, reason: trouble }, `it is not known whether the cluster serves ${resource}`);
    }
  }

  async function checking(): Promise<void> {
    for (let pause = FIRST_MS; !over.signal.aborted; pause *= 2) {
      await check();
      await sleep(isKnown ? everyMs : Math.min(pause, everyMs), undefined, { signal: over.signal }).catch(() => {});
    }
  }

  const checked = checking();
  return {
    list: (namespace) => current?.list(namespace) ?? [],
    get: (name, namespace) => current?.get(name, namespace),
    staleSeconds: () => current?.staleSeconds() ?? 0,
    isSynced: () => (current === null ? isKnown : current.isSynced()),
    trouble: () => (current === null ? trouble : current.trouble()),
    resourceVersion: () => current?.resourceVersion() ?? '',
    observed: async (wanted, until) => (current === null ? true : await current.observed(wanted, until)),
    relist: () => current?.relist(),
    stop: async () => {
      signal.removeEventListener('abort', end);
      over.abort();
      listing.stop();
      await checked;
      await current?.stop();
    },
  };
}

/** Acts once so many milliseconds after the first of several calls. */
function once(ms: number, act: () => void): { readonly soon: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | null = null;
  return {
    soon: () => {
      timer ??= setTimeout(() => {
        timer = null;
        act();
      }, ms).unref();
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Checked by a list with limit 1, which the permission to watch usually includes. */
async function isServed(get: ApiGet, path: string): Promise<boolean> {
  try {
    await get(path, { accept: 'application/json', query: { limit: '1' } });
    return true;
  } catch (error) {
    if (failureOf(error).code === 404) return false;
    throw error;
  }
}
