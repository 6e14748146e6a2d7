/** Finds out whether informer caches hold everything that is stored, by lists of single namespaces. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { listSnapshot } from '../../activities/kubernetes/list.ts';
import { type GroupResource, groupResourceName } from '../../domain/kernel/group-resource.ts';
import { isProvenAtLeast } from '../../domain/kernel/resource-version.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import {
  type CacheCurrency,
  type FreshList,
  noteList,
  noteProgress,
  unknownCurrency,
} from '../../domain/quota-usage/cache-currency.ts';
import type { Monitored } from '../../domain/quota-usage/monitors.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, failureOf, listPath, listPlainPages } from '../../activities/kubernetes/api-get.ts';
import type { Informer } from '../../activities/kubernetes/informer.ts';

type CheckedInformer = Pick<Informer<KubernetesObject>, 'list' | 'resourceVersion'>;

/** A resource that is watched; `namespaced` is whether its objects are in namespaces. */
interface CheckedCache {
  readonly resource: Monitored;
  readonly namespaced: boolean;
  readonly informer: CheckedInformer;
}

/** Or why a resource has no cache: the cluster does not serve it, so that it has no objects; or nobody knows of them now. */
export type CheckedCacheAnswer = CheckedCache | 'unserved' | 'unwatched';

interface CacheChecksOptions {
  readonly get: ApiGet;
  readonly cacheOf: (resource: GroupResource) => CheckedCacheAnswer;
  /** Called after a check of a namespace: what is known of its caches may be more than before. */
  readonly onChecked: (namespace: string) => void;
  readonly log: Log;
}

/** Namespaces that are checked at once; one resource after the other. */
const IN_FLIGHT = 4;
/**
 * A server that is slow to list is slow to store, too: what admission has charged may be stored so many times as long as a list
 * took later than it usually would be. So a list proves nothing of what was charged that shortly before it.
 */
const LISTS_TO_STORE = 10;
/** The lists of a namespace that are answered take at most this part of the time. */
const SHARE = 10;
/** Milliseconds until the next check of a namespace whose caches are behind, or whose list failed: at first, doubled each time, and at most. */
const FIRST_REST_MS = 250;
const LONGEST_REST_MS = 5_000;
/** Below this number of namespaces it is not worthwhile to forget those that rest no longer. */
const FORGET_FROM = 256;

/** A check that is asked for. */
interface WantedCheck {
  readonly resources: readonly GroupResource[];
  /** As of which moment they have to be current: what is known to be needs no list. */
  readonly from: MonotonicMs;
}

/** A list of which a cache had all, although its watch may have more to tell that is older. */
interface HeldList extends FreshList {
  readonly resource: GroupResource;
}

/** What is known of one namespace. */
interface NamespaceChecks {
  /** The last such list of each resource, by its name. */
  readonly held: Map<string, HeldList>;
  isChecking: boolean;
  notBefore: MonotonicMs;
  restMs: number;
}

export class CacheChecks {
  readonly #options: CacheChecksOptions;
  readonly #currencies = new WeakMap<CheckedInformer, CacheCurrency>();
  readonly #namespaces = new Map<string, NamespaceChecks>();
  readonly #waiting = new Map<string, WantedCheck>();
  /** Names of the resources whose last list failed in any namespace; what failed longest ago is the first. */
  readonly #failed = new Set<string>();
  #inFlight = 0;
  #trouble = '';

  constructor(options: CacheChecksOptions) {
    this.#options = options;
  }

  /** Up to which moment the cache of a resource holds everything that was stored in the namespace. */
  currentAsOf(resource: GroupResource, namespace: string): MonotonicMs {
    const cache = this.#options.cacheOf(resource);
    if (cache === 'unserved') return Number.POSITIVE_INFINITY;
    if (cache === 'unwatched') return Number.NEGATIVE_INFINITY;
    const { asOf } = this.#heldOf(resource, namespace) ?? { asOf: Number.NEGATIVE_INFINITY };
    return Math.max(asOf, this.#currencyOf(cache.informer).asOf);
  }

  /**
   * Whether a list of which the cache had all knew better than an object that is reported only now, at this version: it was
   * gone by then, and so is its charge.
   */
  isOutdated(resource: GroupResource, namespace: string, version: string): boolean {
    return isProvenAtLeast(this.#heldOf(resource, namespace)?.version ?? '', version);
  }

  /** Checks a namespace. Returns the moment until which it rests first; null: `onChecked` will be called. */
  check(namespace: string, wanted: WantedCheck): MonotonicMs | null {
    const checks = this.#checksOf(namespace);
    if (checks.notBefore > performance.now()) return checks.notBefore;
    // Who wants more of a namespace that is being checked asks again afterwards.
    if (!checks.isChecking) this.#waiting.set(namespace, union(wanted, this.#waiting.get(namespace)));
    this.#next();
    return null;
  }

  #next(): void {
    for (const [namespace, wanted] of this.#waiting) {
      if (this.#inFlight >= IN_FLIGHT) return;
      this.#waiting.delete(namespace);
      this.#inFlight += 1;
      const checks = this.#checksOf(namespace);
      checks.isChecking = true;
      void this.#checkAll(namespace, wanted, checks).finally(() => {
        checks.isChecking = false;
        this.#inFlight -= 1;
        this.#forgetIdle();
        this.#options.onChecked(namespace);
        this.#next();
      });
    }
  }

  async #checkAll(namespace: string, { resources, from }: WantedCheck, checks: NamespaceChecks): Promise<void> {
    let answeredMs = 0;
    let areCurrent = true;
    let isFailed = false;
    for (const resource of this.#failedLast(resources)) {
      // Another namespace's list may have shown it meanwhile.
      if (this.currentAsOf(resource, namespace) >= from) continue;
      const began = performance.now();
      const found = await this.#checkOne(resource, namespace, checks);
      areCurrent &&= found === 'current';
      isFailed = found === 'failed';
      // The next list would most likely wait for as long.
      if (isFailed) break;
      answeredMs += performance.now() - began;
    }
    checks.restMs = areCurrent ? 0 : Math.min(Math.max(FIRST_REST_MS, 2 * checks.restMs), LONGEST_REST_MS);
    const restMs = Math.max(checks.restMs, SHARE * answeredMs);
    checks.notBefore = performance.now() + (isFailed ? Math.min(restMs, LONGEST_REST_MS) : restMs);
  }

  /** A resource that nobody answers for keeps no other one from being checked. */
  #failedLast(resources: readonly GroupResource[]): readonly GroupResource[] {
    const failed = [...this.#failed];
    const rankOf = (resource: GroupResource): number => failed.indexOf(groupResourceName(resource));
    return resources.toSorted((one, other) => rankOf(one) - rankOf(other));
  }

  /** Where it is not known whether the cache is current, it counts as behind. */
  async #checkOne(
    resource: GroupResource,
    namespace: string,
    checks: NamespaceChecks,
  ): Promise<'current' | 'behind' | 'failed'> {
    const cache = this.#options.cacheOf(resource);
    if (typeof cache === 'string') return 'behind';
    const name = groupResourceName(resource);
    try {
      const { isCurrent, list } = await this.#compare(cache, namespace);
      this.#failed.delete(name);
      if (!isCurrent) return 'behind';
      checks.held.set(name, { ...list, resource });
      this.#trouble = '';
      return 'current';
    } catch (error) {
      const { reason } = failureOf(error);
      const level = reason === this.#trouble ? 'debug' : 'warn';
      this.#trouble = reason;
      this.#failed.delete(name);
      this.#failed.add(name);
      this.#options.log[level]({ resource: name, namespace, reason }, 'a cache is not checked');
      return 'failed';
    }
  }

  /**
   * Whether a cache holds what is stored in a namespace, by a list of it. It does once it has come to the version of a list; and where it has
   * not, because nothing has happened since that its watch would report, if it holds what the list has.
   */
  async #compare({ resource, namespaced, informer }: CheckedCache, namespace: string) {
    const askedAt = performance.now();
    const within = namespaced ? namespace : undefined;
    const page = listPlainPages(this.#options.get, { path: listPath(resource, within), metadataOnly: true });
    const { items, metadata } = await listSnapshot(async (range) => {
      const { items: objects, metadata: list = {} } = await page(range);
      const { resourceVersion: version = '' } = list;
      // The other pages would say no more.
      const isEnough = isProvenAtLeast(informer.resourceVersion(), version);
      return { items: objects.map(identityOf), metadata: isEnough ? { resourceVersion: version } : list };
    });
    const version = metadata?.resourceVersion ?? '';
    const asOf = askedAt - LISTS_TO_STORE * (performance.now() - askedAt);
    const list = { asOf, version };
    this.#currencies.set(informer, noteList(this.#currencyOf(informer), list));
    const isReached = isProvenAtLeast(informer.resourceVersion(), version);
    return { isCurrent: isReached || isSame(items, informer.list(within).map(identityOf)), list };
  }

  #heldOf(resource: GroupResource, namespace: string): HeldList | undefined {
    return this.#namespaces.get(namespace)?.held.get(groupResourceName(resource));
  }

  #currencyOf(informer: CheckedInformer): CacheCurrency {
    const currency = noteProgress(this.#currencies.get(informer) ?? unknownCurrency, informer.resourceVersion());
    this.#currencies.set(informer, currency);
    return currency;
  }

  #checksOf(namespace: string): NamespaceChecks {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const fresh = { held: new Map(), isChecking: false, notBefore: Number.NEGATIVE_INFINITY, restMs: 0 };
    this.#namespaces.set(namespace, fresh);
    return fresh;
  }

  /** What was found out of a namespace has settled its charges by now, and nothing that is older will be reported. */
  #forgetIdle(): void {
    if (this.#namespaces.size < FORGET_FROM) return;
    const now = performance.now();
    for (const [name, { isChecking, notBefore, held }] of this.#namespaces) {
      const isIdle = !isChecking && notBefore < now - LONGEST_REST_MS && !this.#waiting.has(name);
      if (isIdle && [...held.values()].every((list) => this.#isReached(list))) this.#namespaces.delete(name);
    }
  }

  /** What is watched anew is listed first, which is later than this list. */
  #isReached({ resource, version }: HeldList): boolean {
    const cache = this.#options.cacheOf(resource);
    return typeof cache === 'string' || isProvenAtLeast(cache.informer.resourceVersion(), version);
  }
}

function union(one: WantedCheck, other: WantedCheck = one): WantedCheck {
  const resources = [...other.resources, ...one.resources].map((each) => [groupResourceName(each), each] as const);
  return { resources: [...new Map(resources).values()], from: Math.max(one.from, other.from) };
}

/** What tells one version of an object from another. */
function identityOf({ metadata }: KubernetesObject): KubernetesObject {
  const { name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { metadata: { name, uid, resourceVersion } };
}

function isSame(listed: readonly KubernetesObject[], cached: readonly KubernetesObject[]): boolean {
  const keyOf = ({ metadata }: KubernetesObject): string => `${metadata?.uid} ${metadata?.resourceVersion}`;
  const keys = new Set(cached.map(keyOf));
  return keys.size === listed.length && listed.every((object) => keys.has(keyOf(object)));
}
