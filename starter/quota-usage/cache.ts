import type { KubeConfig, KubernetesObject, V1ResourceQuota } from '@kubernetes/client-node';
import type { UsageCache } from '../../activities/quota-usage/usage-cache.ts';
import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import { type ResourceList, subtractListsToZero, withoutZeros } from '../../domain/kernel/resource-list.ts';
import { chargeEndsAt } from '../../domain/quota-usage/changes.ts';
import { calculateUsage, chargeOf, resourcesToCount, type UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CountedObject, Evaluator, UsageContext } from '../../domain/quota-usage/evaluator.ts';
import { cachedByObject } from '../../domain/quota-usage/cached-by-object.ts';
import { evaluatorFor } from '../../domain/quota-usage/evaluators.ts';
import { neededResources } from '../../domain/quota-usage/monitors.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import { createApiGet } from '../../activities/kubernetes/api-get.ts';
import { type Informer, openInformer } from '../../activities/kubernetes/informer.ts';
import { CacheChecks } from './cache-checks.ts';
import { Notifier } from './notifier.ts';
import { Monitors, type MonitorsOptions } from './monitors.ts';
import { CountedSpecs } from './counted-specs.ts';
import { QuotaCharges } from './quota-charges.ts';
import { shapeQuota } from './shape.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { SteadyTime } from './steady-time.ts';
import type { UsageListener } from './usage-listener.ts';

export interface UsageCacheSetup
  extends Pick<
    MonitorsOptions,
    'discoveryMs' | 'replenishmentResyncMs' | 'staleAfterSeconds' | 'lingerMs' | 'log' | 'signal'
  > {
  readonly kubeConfig: KubeConfig;
  /** Called with every change in the caches; for the first time after `createUsageCache` has returned. */
  readonly listener: UsageListener;
  /** The stale values of a quota's status by a count, and since when. */
  readonly staleValues: UsageCache['staleValues'];
  /** Tells when a charge ends; the one of its listener, which has to count when it does here. */
  readonly time: Pick<SteadyTime, 'now'>;
}

export interface RunningUsageCache extends UsageCache {
  /**
   * Resolves when the quotas are listed and the cluster's resources are known. Before that an existing quota may be
   * missing here. Resolves with false when the signal was aborted first.
   */
  readonly ready: (signal: AbortSignal) => Promise<boolean>;
  /** Whether `ready` would resolve now. */
  readonly isReady: () => boolean;
  /** When pods of the namespace that are stuck in their deletion stop being charged, in epoch milliseconds. */
  readonly chargeEnds: (namespace: string) => readonly number[];
  /** Charges of the quota whose objects the caches may not have yet. */
  readonly unsettledCharges: (quota: CachedQuota) => ResourceList;
  /**
   * Has it checked whether the caches have them, where a status could be lowered then. Returns the moment at which that is
   * to be asked again; null: the listener will be told.
   */
  readonly confirmCharges: (quota: CachedQuota, resources: readonly string[]) => MonotonicMs | null;
  /** `count` without waiting. */
  readonly countNow: (quota: CachedQuota) => UsageCount;
  /** The evaluator of each known resource. */
  readonly evaluators: () => readonly Evaluator[];
  /** What is watched now, by the name for people: for metrics and readiness. */
  readonly informers: () => ReadonlyMap<
    string,
    Pick<Informer<KubernetesObject>, 'isSynced' | 'staleSeconds' | 'trouble'>
  >;
  readonly stop: () => Promise<void>;
}

/** Another watch of quotas, because quotas themselves may be counted, by their metadata. */
const QUOTAS_WATCH = 'resourcequotas (usage)';
const PODS = { group: '', resource: 'pods' };

const cachedQuota = cachedByObject(({ metadata, spec, status }: V1ResourceQuota): CachedQuota => {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { namespace, name, uid, resourceVersion, spec: spec ?? {}, status: status ?? {} };
});

/** A quota that is being deleted counts nothing. */
function living(quota: V1ResourceQuota | undefined): CachedQuota | null {
  return quota === undefined || quota.metadata?.deletionTimestamp !== undefined ? null : cachedQuota(quota);
}

/** What a charge has become more by. */
function grownBy(before: ResourceList, now: ResourceList): ResourceList {
  return withoutZeros(subtractListsToZero(now, before));
}

/**
 * Watches the quotas of a cluster and everything that they count, and counts from its caches. It starts at once and
 * runs until stopped.
 */
export function createUsageCache(setup: UsageCacheSetup): RunningUsageCache {
  return new InformerUsageCache(setup);
}

class InformerUsageCache implements RunningUsageCache {
  readonly staleValues: UsageCache['staleValues'];
  readonly #listener: UsageListener;
  readonly #specs = new CountedSpecs();
  readonly #time: UsageCacheSetup['time'];
  /** Notified at every change of a quota, and whenever a cache becomes available or unavailable. */
  readonly #notifier = new Notifier();
  readonly #monitors: Monitors;
  readonly #quotas: Informer<V1ResourceQuota>;
  readonly #charges: QuotaCharges;

  constructor(setup: UsageCacheSetup) {
    const { kubeConfig, listener, staleValues, time, log, signal } = setup;
    this.staleValues = staleValues;
    this.#time = time;
    this.#listener = listener;
    this.#monitors = new Monitors({
      ...setup,
      specs: () => this.#specs.all,
      onChange: (resource, object, previous) => {
        this.#settle(resource, object, previous);
        listener.onObject(resource, object, previous);
      },
      onDelete: (resource, object) => listener.onObjectGone(resource, object),
      onFilled: (resource) => listener.onFilled(resource),
      notifier: this.#notifier,
    });
    const checks = new CacheChecks({
      get: createApiGet(kubeConfig),
      cacheOf: (resource) => this.#monitors.cacheOf(resource),
      onChecked: (namespace) => listener.onChecked(namespace),
      log,
    });
    this.#charges = new QuotaCharges({ checks, countedFrom: (resources) => this.#countedFrom(resources) });
    this.#quotas = openInformer<V1ResourceQuota>(
      kubeConfig,
      {
        name: QUOTAS_WATCH,
        path: '/api/v1/resourcequotas',
        shape: shapeQuota,
        onChange: (quota, previous, isListed) => this.#onQuota(living(quota), living(previous), isListed),
        onDelete: (_, last) => this.#onQuota(null, living(last), false),
        onState: () => this.#notifier.notify(),
      },
      { log, signal },
    );
  }

  quota(namespace: string, name: string): CachedQuota | null {
    return living(this.#quotas.get(name, namespace));
  }

  quotas(namespace?: string): readonly CachedQuota[] {
    return this.#quotas.list(namespace).flatMap((quota) => living(quota) ?? []);
  }

  async count(quota: CachedQuota, until: AbortSignal): Promise<UsageCount> {
    while (!until.aborted && this.#isFilling(quota)) await this.#notifier.notified(until);
    return this.countNow(quota);
  }

  countNow({ namespace, spec }: CachedQuota): UsageCount {
    return calculateUsage(
      spec,
      this.#monitors.evaluators,
      (resource) => this.#monitors.objectsOf(resource, namespace),
      this.#contextOf(namespace),
    );
  }

  unsettledCharges(quota: CachedQuota): ResourceList {
    return this.#charges.unsettled(quota);
  }

  confirmCharges(quota: CachedQuota, resources: readonly string[]): MonotonicMs | null {
    return this.#charges.confirm(quota, resources);
  }

  evaluators(): readonly Evaluator[] {
    return this.#monitors.evaluators;
  }

  deviceClasses(): ReadonlyMap<string, string | null> {
    return this.#monitors.deviceClasses;
  }

  watched(): readonly GroupResource[] {
    return this.#monitors.watched;
  }

  chargeEnds(namespace: string): readonly number[] {
    const cached = this.#monitors.objectsOf(PODS, namespace);
    return 'objects' in cached ? cached.objects.flatMap((pod) => chargeEndsAt(PODS, pod) ?? []) : [];
  }

  isReady(): boolean {
    return this.#quotas.isSynced() && this.#monitors.isDiscovered;
  }

  async ready(until: AbortSignal): Promise<boolean> {
    while (!this.isReady() && !until.aborted) await this.#notifier.notified(until);
    return this.isReady();
  }

  informers(): ReadonlyMap<string, Informer<KubernetesObject>> {
    return new Map<string, Informer<KubernetesObject>>([[QUOTAS_WATCH, this.#quotas], ...this.#monitors.informers]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#quotas.stop(), this.#monitors.stop()]);
  }

  #onQuota(quota: CachedQuota | null, previous: CachedQuota | null, isListed: boolean): void {
    if (this.#specs.replace(previous, quota)) this.#monitors.reconsider();
    // In a list what looks like one's own write may be another one's.
    const isWritten = !isListed && quota !== null && this.#listener.isOwnWrite(quota);
    this.#charges.onQuota(quota, previous, isListed ? 'listed' : isWritten ? 'written' : 'watched');
    this.#notifier.notify();
    if (quota !== null) this.#listener.onQuota(quota, previous ?? undefined);
    else if (previous !== null) this.#listener.onQuotaGone(previous);
  }

  /**
   * An object that came or grew settles the charge for it. Objects of the first list were charged at any time before, so
   * they settle no recent charge.
   */
  #settle(resource: GroupResource, object: CountedObject, previous: CountedObject | undefined): void {
    const { namespace, resourceVersion = '' } = object.metadata ?? {};
    if (namespace === undefined || !this.#monitors.isSynced(resource)) return;
    for (const quota of this.quotas(namespace)) {
      const charged = (of: CountedObject) =>
        chargeOf(quota.spec, of, evaluatorFor(resource), this.#contextOf(namespace));
      const grown = previous === undefined ? charged(object) : grownBy(charged(previous), charged(object));
      this.#charges.onObject(resource, resourceVersion, quota, grown);
    }
  }

  #contextOf(namespace: string): UsageContext {
    return {
      now: this.#time.now(),
      deviceClasses: this.#monitors.deviceClasses,
      podNamed: (name) => this.#monitors.get(PODS, name, namespace),
    };
  }

  /** What these resources of a quota are counted from. */
  #countedFrom(resources: readonly string[]): readonly GroupResource[] {
    return resourcesToCount(resources, this.#monitors.evaluators, { deviceClasses: this.#monitors.deviceClasses });
  }

  #neededFor({ spec }: CachedQuota): readonly GroupResource[] {
    return neededResources([spec], this.#monitors.evaluators, { deviceClasses: this.#monitors.deviceClasses });
  }

  /** Whether a cache that this quota needs is being filled for the first time. */
  #isFilling(quota: CachedQuota): boolean {
    return this.#neededFor(quota).some((resource) => {
      const cached = this.#monitors.objectsOf(resource, quota.namespace);
      return 'unavailable' in cached && cached.isFilling;
    });
  }
}
