import { CoreV1Api, type KubeConfig, Watch } from '@kubernetes/client-node';
import { listSnapshot } from '../../activities/kubernetes/list.ts';
import type { LagBook } from './lag-book.ts';
import { statusWriter, type WrittenQuota } from './status-writer.ts';
import { usedKey } from './used-key.ts';

const PATH = '/api/v1/resourcequotas';

/** What the watch sends: a quota, or a bookmark, which says how far the watch has come. */
interface WatchObject extends WrittenQuota {
  readonly kind?: string;
}

/** A write of a quota's status, by the name of its field manager. */
export interface StatusWrite {
  readonly quota: string;
  readonly manager: string;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
}

/** Watches all quotas of a cluster, passes each status to the lag book, and records who wrote it. */
export class QuotaWatch {
  readonly writes: StatusWrite[] = [];
  /** How often the watch had to be begun again. */
  restarts = 0;
  readonly #kubeConfig: KubeConfig;
  readonly #core: CoreV1Api;
  readonly #book: LagBook;
  readonly #latest = new Map<string, WrittenQuota>();
  #version = '';
  #controller: AbortController | undefined;
  #isStopped = false;

  constructor(kubeConfig: KubeConfig, book: LagBook) {
    this.#kubeConfig = kubeConfig;
    this.#core = kubeConfig.makeApiClient(CoreV1Api);
    this.#book = book;
  }

  /** Resolves once the list is in and the watch is asked for. */
  async start(): Promise<void> {
    this.#version = await this.catchUp();
    await this.#watch();
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller?.abort();
  }

  /** What the quota's status shows, as `usedKey` writes it; undefined while it shows nothing. */
  shows(quota: string): string | undefined {
    const used = this.#latest.get(quota)?.status?.used;
    return used === undefined ? undefined : usedKey(used);
  }

  /**
   * Lists the quotas, because a watch shows that nothing is missing up to a version only with a later event.
   *
   * @returns the resourceVersion of the list.
   */
  async catchUp(): Promise<string> {
    const { items, metadata } = await listSnapshot((range) => this.#core.listResourceQuotaForAllNamespaces(range));
    for (const quota of items) this.#observe(quota);
    const version = metadata?.resourceVersion ?? '';
    this.#book.progressed(Number(version));
    return version;
  }

  async #watch(): Promise<void> {
    const watch = new Watch(this.#kubeConfig);
    // Not an option of the constructor. Bookmarks come once a minute, changes much more often.
    Object.assign(watch, { requestTimeoutMs: 600_000 });
    this.#controller = await watch.watch(
      PATH,
      { allowWatchBookmarks: true, resourceVersion: this.#version },
      (type: string, object: WatchObject) => this.#event(type, object),
      () => void this.#again(),
    );
  }

  #event(type: string, object: WatchObject): void {
    this.#version = object.metadata?.resourceVersion ?? this.#version;
    if (type === 'ADDED' || type === 'MODIFIED') this.#observe(object);
    else if (type === 'BOOKMARK') this.#book.progressed(Number(this.#version));
  }

  async #again(): Promise<void> {
    if (this.#isStopped) return;
    this.restarts += 1;
    await this.start();
  }

  #observe(quota: WrittenQuota): void {
    const name = `${quota.metadata?.namespace}/${quota.metadata?.name}`;
    const before = this.#latest.get(name);
    const version = Number(quota.metadata?.resourceVersion);
    if (version <= Number(before?.metadata?.resourceVersion ?? 0)) return;
    this.#latest.set(name, quota);
    const at = performance.now();
    const manager = before === undefined ? null : statusWriter(before, quota);
    if (manager !== null) this.writes.push({ quota: name, manager, at });
    const { used } = quota.status ?? {};
    if (used !== undefined) this.#book.seen({ quota: name, used: usedKey(used), version, at });
  }
}
