import type { KubeConfig, KubernetesObject, V1ResourceQuota } from '@kubernetes/client-node';
import type { UsageCache } from '../../activities/quota-usage/usage-cache.ts';
import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import { chargeEndsAt } from '../../domain/quota-usage/changes.ts';
import { calculateUsage, chargeOf, type UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CountedObject, Evaluator, UsageContext } from '../../domain/quota-usage/evaluator.ts';
import { cachedByObject } from '../../domain/quota-usage/cached-by-object.ts';
import { evaluatorFor } from '../../domain/quota-usage/evaluators.ts';
import { neededResources } from '../../domain/quota-usage/monitors.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import {
  CHARGE_SETTLE_MS,
  noteArrival,
  noteStatus,
  type RecentCharges,
  unsettledCharges,
  unsettledSince,
} from '../../domain/quota-usage/recent-charges.ts';
import type { CountingQuota } from '../../domain/quota-usage/scopes.ts';
import { type Informer, openInformer } from '../kernel/informer.ts';
import { Notifier } from './notifier.ts';
import { Monitors, type MonitorsOptions, STALE_AFTER_SECONDS } from './monitors.ts';
import { shapeQuota } from './shape.ts';
import type { UsageListener } from './usage-listener.ts';

export interface UsageCacheSetup
  extends Pick<
    MonitorsOptions,
    'discoveryMs' | 'replenishmentResyncMs' | 'staleAfterSeconds' | 'lingerMs' | 'log' | 'signal'
  > {
  readonly kubeConfig: KubeConfig;
  /** Told of every change that the caches have taken in; the first time after `createUsageCache` has returned. */
  readonly listener: UsageListener;
  /** What is wrong in a quota's status by a count, and since when. */
  readonly staleValues: UsageCache['staleValues'];
}

export interface RunningUsageCache extends UsageCache {
  /**
   * Resolves when the quotas are listed and it is known what the cluster serves. Before that a quota that exists may be
   * missing here, so nobody should ask; false when the signal was aborted first.
   */
  readonly ready: (signal: AbortSignal) => Promise<boolean>;
  /** Whether they are, now. */
  readonly isReady: () => boolean;
  /** When pods of the namespace that are stuck in their deletion stop being charged, in epoch milliseconds. */
  readonly chargeEnds: (namespace: string) => readonly number[];
  /** `count` for those who do not wait. */
  readonly countNow: (quota: CachedQuota) => UsageCount;
  /** How each resource that is known is counted. */
  readonly evaluators: () => readonly Evaluator[];
  /** What is watched now, by the name for people: for metrics and readiness. */
  readonly informers: () => ReadonlyMap<
    string,
    Pick<Informer<KubernetesObject>, 'isSynced' | 'staleSeconds' | 'trouble'>
  >;
  readonly stop: () => Promise<void>;
}

const QUOTAS = 'resourcequotas';
/** Quotas may be counted themselves, by a watch of their metadata. */
const QUOTAS_WATCH = 'resourcequotas (usage)';
const PODS = { group: '', resource: 'pods' };

const cachedQuota = cachedByObject(({ metadata, spec, status }: V1ResourceQuota): CachedQuota => {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { namespace, name, uid, resourceVersion, spec: spec ?? {}, status: status ?? {} };
});

/** A quota that is being deleted counts nothing any more. */
function living(quota: V1ResourceQuota | undefined): CachedQuota | null {
  return quota === undefined || quota.metadata?.deletionTimestamp !== undefined ? null : cachedQuota(quota);
}

/**
 * Watches the quotas of a cluster and everything that they count, and counts from what it has seen. It begins at once and
 * goes on until it is stopped.
 */
export function createUsageCache(setup: UsageCacheSetup): RunningUsageCache {
  const { kubeConfig, listener, staleValues, log, signal } = setup;
  const specs = new CountedSpecs();
  /** Notified at every change of a quota, and whenever more or less is known. */
  const notifier = new Notifier();
  const monitors = new Monitors({
    ...setup,
    specs: () => specs.all,
    onChange: (resource, object, previous) => {
      if (previous === undefined) noteObject(resource, object);
      listener.onObject(resource, object, previous);
    },
    onDelete: listener.onObjectGone,
    onFilled: listener.onFilled,
    notifier,
  });

  /** Nothing is counted from a watch that has been interrupted for longer, and it gets its time when it is back. */
  const keepMs = (setup.staleAfterSeconds ?? STALE_AFTER_SECONDS) * 1_000 + 2 * CHARGE_SETTLE_MS;
  /** By the quota's UID. */
  const charges = new Map<string, RecentCharges>();
  const noteCharges = (quota: CachedQuota | null, previous: CachedQuota | null): void => {
    if (previous !== null && previous.uid !== quota?.uid) charges.delete(previous.uid);
    if (quota === null) return;
    const before = previous?.uid === quota.uid ? (previous.status.used ?? {}) : null;
    const used = quota.status.used ?? {};
    charges.set(quota.uid, noteStatus(charges.get(quota.uid) ?? [], before, used, { at: Date.now(), keepMs }));
  };
  /** What is listed at the start was charged at any time before, and settles nothing. */
  const noteObject = (resource: GroupResource, object: CountedObject): void => {
    const { namespace } = object.metadata ?? {};
    if (namespace === undefined || !monitors.isSynced(resource)) return;
    for (const one of quotas.list(namespace)) {
      const known = charges.get(one.metadata?.uid ?? '');
      if (known === undefined || known.length === 0) continue;
      const { uid, spec } = cachedQuota(one);
      const charge = chargeOf(spec, object, evaluatorFor(resource), contextOf(namespace));
      charges.set(uid, noteArrival(known, charge));
    }
  };
  const changed = (object: V1ResourceQuota, before: V1ResourceQuota | undefined): void => {
    const [quota, previous] = [living(object), living(before)];
    if (specs.replace(previous, quota)) monitors.reconsider();
    noteCharges(quota, previous);
    notifier.notify();
    if (quota !== null) listener.onQuota(quota, previous ?? undefined);
    else if (previous !== null) listener.onQuotaGone(previous);
  };
  const gone = (_: V1ResourceQuota, last: V1ResourceQuota | undefined): void => {
    const quota = living(last);
    if (specs.replace(quota, null)) monitors.reconsider();
    noteCharges(null, quota);
    notifier.notify();
    if (quota !== null) listener.onQuotaGone(quota);
  };
  const { informer: quotas } = openInformer<V1ResourceQuota>(
    kubeConfig,
    {
      name: QUOTAS_WATCH,
      path: '/api/v1/resourcequotas',
      shape: shapeQuota,
      onChange: changed,
      onDelete: gone,
      onState: () => notifier.notify(),
    },
    { log, signal },
  );

  const contextOf = (namespace: string): UsageContext => ({
    now: Date.now(),
    deviceClasses: monitors.deviceClasses,
    podNamed: (name) => monitors.get(PODS, name, namespace),
  });
  const countNow = ({ namespace, spec }: CachedQuota): UsageCount =>
    calculateUsage(
      spec,
      monitors.evaluators,
      (resource) => monitors.objectsOf(resource, namespace),
      contextOf(namespace),
    );
  const neededFor = ({ spec }: CachedQuota): readonly GroupResource[] =>
    neededResources([spec], monitors.evaluators, { deviceClasses: monitors.deviceClasses });
  /** Whether a cache that this quota is counted from is about to be filled for the first time. */
  const isFilling = (quota: CachedQuota): boolean =>
    neededFor(quota).some((resource) => {
      const known = monitors.objectsOf(resource, quota.namespace);
      return 'unavailable' in known && known.isFilling;
    });

  const isReady = (): boolean => quotas.isSynced() && monitors.isDiscovered;

  const cache: UsageCache = {
    quota: (namespace, name) => living(quotas.get(name, namespace)),
    quotas: (namespace) => quotas.list(namespace).flatMap((one) => living(one) ?? []),
    reached: async (versions, until) => {
      const behind = await Promise.all(
        Object.entries(versions).map(async ([name, version]) => {
          const own = name === QUOTAS ? await quotas.reached(version, until) : true;
          return own && (await monitors.reached(name, version, until)) ? [] : [name];
        }),
      );
      return behind.flat();
    },
    quotaMoved: async (namespace, name, resourceVersion, until) => {
      const hasMoved = (): boolean =>
        quotas.isSynced() && living(quotas.get(name, namespace))?.resourceVersion !== resourceVersion;
      while (!hasMoved() && !until.aborted) await notifier.notified(until);
      return hasMoved();
    },
    count: async (quota, until) => {
      while (!until.aborted && isFilling(quota)) await notifier.notified(until);
      return countNow(quota);
    },
    unsettledCharges: (quota) => {
      const now = Date.now();
      const since = unsettledSince(monitors.connectionsOf(neededFor(quota)), now);
      return unsettledCharges(charges.get(quota.uid) ?? [], since, now);
    },
    staleValues,
    deviceClasses: () => monitors.deviceClasses,
    watched: () => monitors.watched,
  };
  return {
    ...cache,
    countNow,
    evaluators: () => monitors.evaluators,
    isReady,
    chargeEnds: (namespace) => {
      const known = monitors.objectsOf(PODS, namespace);
      return 'objects' in known ? known.objects.flatMap((pod) => chargeEndsAt(PODS, pod) ?? []) : [];
    },
    ready: async (until) => {
      while (!isReady() && !until.aborted) await notifier.notified(until);
      return isReady();
    },
    informers: () => new Map<string, Informer<KubernetesObject>>([[QUOTAS_WATCH, quotas], ...monitors.informers]),
    stop: async () => {
      await Promise.all([quotas.stop(), monitors.stop()]);
    },
  };
}

/**
 * What the quotas of the cluster count, each combination of limits once: thousands of quotas have a handful, and only a new
 * one, or the end of one, can change what has to be watched.
 */
class CountedSpecs {
  readonly #specs = new Map<string, { readonly spec: CountingQuota; quotas: number }>();

  get all(): Iterable<CountingQuota> {
    return [...this.#specs.values()].map(({ spec }) => spec);
  }

  /** One quota takes another's place, or comes or goes. Returns whether there is a combination more or less. */
  replace(before: CachedQuota | null, after: CachedQuota | null): boolean {
    const [left, came] = [before, after].map((quota) => (quota === null ? null : limitsOf(quota)));
    if (left === came) return false;
    const isNew = came != null && after !== null && this.#add(came, after.spec);
    const isLast = left != null && this.#remove(left);
    return isNew || isLast;
  }

  #add(limits: string, spec: CountingQuota): boolean {
    const known = this.#specs.get(limits);
    if (known !== undefined) known.quotas += 1;
    else this.#specs.set(limits, { spec, quotas: 1 });
    return known === undefined;
  }

  #remove(limits: string): boolean {
    const known = this.#specs.get(limits);
    if (known === undefined) return false;
    known.quotas -= 1;
    if (known.quotas > 0) return false;
    this.#specs.delete(limits);
    return true;
  }
}

function limitsOf({ spec }: CachedQuota): string {
  return JSON.stringify(Object.keys(spec.hard ?? {}).toSorted());
}
