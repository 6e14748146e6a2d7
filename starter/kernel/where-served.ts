import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import type { Log } from '../../platform/log/log.ts';
import { createApiGet, failureOf, listPath } from '../../activities/kubernetes/api-get.ts';
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

/**
 * Watches a resource that a cluster may not serve, for as long as it does, with periodic checks. An unserved resource
 * has no objects and does not affect readiness.
 */
export function openWhereServed<T extends KubernetesObject>(
  kubeConfig: KubeConfig,
  options: WhereServedOptions<T>,
  { everyMs, log, signal }: { readonly everyMs: number; readonly log: Log; readonly signal: AbortSignal },
): Informer<T> {
  const { group, version, resource, onDelete } = options;
  const path = listPath({ group, version, resource });
  const get = createApiGet(kubeConfig);
  const over = new AbortController();
  const end = (): void => over.abort();
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  let current: Informer<T> | null = null;
  let isKnown = false;
  let trouble: string | null = null;
  const listing = once(LISTED_AFTER_MS, () => current?.relist());

  async function close(): Promise<void> {
    const closing = current;
    current = null;
    await closing?.stop();
    for (const object of closing?.list() ?? []) onDelete(object, object);
  }

  async function check(): Promise<void> {
    if (current !== null && current.trouble() === null) return;
    try {
      const served = await isServed(get, path);
      trouble = null;
      isKnown = true;
      if (over.signal.aborted) return;
      if (served && current === null) {
        const watched = {
          ...options,
          name: resource,
          path,
          onDelete: (object: T, last: T | undefined) => {
            listing.soon();
            onDelete(object, last);
          },
        };
        current = openInformer<T>(kubeConfig, watched, { log, signal: over.signal });
      } else if (!served && current !== null) {
        log.info({ resource }, `the cluster does not serve ${resource} any more`);
        await close();
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
async function isServed(get: ReturnType<typeof createApiGet>, path: string): Promise<boolean> {
  try {
    await get(path, { accept: 'application/json', query: { limit: '1' } });
    return true;
  } catch (error) {
    if (failureOf(error).code === 404) return false;
    throw error;
  }
}
