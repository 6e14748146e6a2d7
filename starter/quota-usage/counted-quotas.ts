import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, StaleValue, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import { withUnsettledCharges } from '../../domain/quota-usage/recent-charges.ts';
import { desiredStatus, isUrgent } from '../../domain/quota-usage/status.ts';
import { AuditRegistry, type WrongQuota } from './audit-registry.ts';
import type { RunningUsageCache } from './cache.ts';
import { priorities } from '../../domain/kernel/priority.ts';
import type { QueuedUsageRequest } from './reconcile-request.ts';
import type { UsageMetrics } from './metrics.ts';

/** Why an episode of a quota is started or woken. */
export type RequestCause = Pick<QueuedUsageRequest, 'starts' | 'cause' | 'priority' | 'isGone'>;

export interface CountedQuotasOptions {
  readonly policy: UsagePolicy;
  readonly cache: () => Pick<
    RunningUsageCache,
    'quotas' | 'countNow' | 'unsettledCharges' | 'evaluators' | 'deviceClasses'
  >;
  readonly request: (quota: CachedQuota, cause: RequestCause) => void;
  /** Called with a moment at which a count has to be repeated, because no event will report the change. */
  readonly countAgainAt: (namespace: string, at: number) => void;
  /** Called with every count: the real usage of the quota. */
  readonly onCounted: (quota: CachedQuota, used: ResourceList) => void;
  readonly metrics: Pick<UsageMetrics, 'lag'>;
}

/** Moments are rounded to seconds, so that constantly moving values do not set many alarms. */
const ALARM_STEP_MS = 1_000;

/** State of one quota between counts. */
interface QuotaState {
  readonly quota: CachedQuota;
  used: ResourceList;
  /** How many of its resources could not be counted. */
  unmeasured: number;
  /** Audit: the resources that an episode was started for; null while nothing is wrong. */
  reported: string | null;
  /** The first change that the status does not reflect; null while the status is right. */
  staleSince: number | null;
}

/** The last count of each quota, and whether its status differs; an episode gets a reconcile request then. */
export class CountedQuotas {
  readonly #options: CountedQuotasOptions;
  readonly #states = new Map<string, QuotaState>();
  readonly #audits: AuditRegistry;

  constructor(options: CountedQuotasOptions) {
    this.#options = options;
    this.#audits = new AuditRegistry(options.policy);
  }

  /** Adds a count, and enqueues a reconcile request if the status differs. */
  evaluate(quota: CachedQuota, count: UsageCount, changedAt: number, isResync: boolean): void {
    const key = quotaKey(quota);
    const before = this.#states.get(key);
    const fresh: QuotaState = { quota, used: {}, unmeasured: 0, reported: null, staleSince: null };
    const state = before?.quota.uid === quota.uid ? before : fresh;
    this.#states.set(key, state);
    state.used = count.used;
    state.unmeasured = count.unmeasured.flatMap(({ keys }) => keys).length;
    this.#options.onCounted(quota, count.used);
    if (this.#options.policy.mode === 'audit') this.#evaluateAudit(quota, state, count, isResync);
    else this.#evaluateOwn(quota, state, count, { changedAt, isResync });
  }

  #evaluateOwn(
    quota: CachedQuota,
    state: QuotaState,
    count: UsageCount,
    { changedAt, isResync }: { readonly changedAt: number; readonly isResync: boolean },
  ): void {
    const { request, countAgainAt } = this.#options;
    const cache = this.#options.cache();
    if (desiredStatus(quota, count).isWritten) {
      state.staleSince = null;
      return;
    }
    state.staleSince ??= changedAt;
    const unsettled = cache.unsettledCharges(quota);
    if (unsettled.countAgainAt !== null) countAgainAt(quota.namespace, unsettled.countAgainAt);
    if (desiredStatus(quota, withUnsettledCharges(count, quota.status.used ?? {}, unsettled.amounts)).isWritten) return;
    const isFirst = isUrgent(quota, cache.evaluators(), { deviceClasses: cache.deviceClasses() });
    const priority = isFirst ? priorities.urgent : isResync ? priorities.resync : priorities.routine;
    request(quota, { starts: true, cause: isResync ? 'resync' : 'the usage changed', priority });
  }

  #evaluateAudit(quota: CachedQuota, state: QuotaState, count: UsageCount, isResync: boolean): void {
    const { policy, request, countAgainAt } = this.#options;
    const now = Date.now();
    const staleValues = this.#audits.add(quota, count);
    const wrong = staleValues.filter(({ since }) => now - since >= policy.auditAfterMs);
    const reported = wrong.length === 0 ? null : wrong.map(({ resource }) => resource).join(' ');
    // A running episode checks by itself periodically; it is woken when other resources are wrong, or none. Also at a
    // resync: the episode may have been terminated or the request lost, and nothing else would start it again.
    if (reported !== null && (reported !== state.reported || isResync)) {
      const priority = reported === state.reported ? priorities.resync : priorities.routine;
      state.reported = reported;
      request(quota, { starts: true, cause: 'the status stays wrong', priority });
    } else if (staleValues.length === 0 && state.reported !== null && count.unmeasured.length === 0) {
      state.reported = null;
      request(quota, { starts: false, cause: 'the status is true again', priority: priorities.routine });
    }
    for (const { since } of staleValues) {
      const at = since + policy.auditAfterMs;
      if (at > now) countAgainAt(quota.namespace, Math.ceil(at / ALARM_STEP_MS) * ALARM_STEP_MS);
    }
  }

  /** Called after a status was written: if it is the right one, measures how long that took. */
  onStatus(quota: CachedQuota): void {
    const { cache, metrics } = this.#options;
    const state = this.#states.get(quotaKey(quota));
    if (state === undefined || state.staleSince === null) return;
    if (!desiredStatus(quota, cache().countNow(quota)).isWritten) return;
    metrics.lag.observe((Date.now() - state.staleSince) / 1000);
    state.staleSince = null;
  }

  forget(quota: CachedQuota): void {
    this.#states.delete(quotaKey(quota));
    this.#audits.forget(quota);
  }

  /** The stale values of a quota's status by this count, and since when. */
  staleValues(quota: CachedQuota, count: UsageCount): readonly StaleValue[] {
    const found = this.#audits.add(quota, count);
    // A count that waited for a cache may be about a quota that is gone meanwhile; its state would never be removed.
    const quotas = this.#options.cache().quotas(quota.namespace);
    if (!quotas.some(({ uid }) => uid === quota.uid)) this.#audits.forget(quota);
    return found;
  }

  /** Quotas that have been wrong for longer than the audit's delay. */
  wrong(): readonly WrongQuota[] {
    return this.#audits.wrong();
  }

  /** Quotas whose last count was incomplete. */
  unmeasured(): readonly WrongQuota[] {
    return [...this.#states.values()]
      .filter(({ unmeasured }) => unmeasured > 0)
      .map(({ quota: { namespace, name }, unmeasured }) => ({ namespace, quota: name, resources: unmeasured }));
  }

  /** The last count of a quota without what could not be counted; null before the first. */
  used(namespace: string, name: string): ResourceList | null {
    return this.#states.get(quotaKey({ namespace, name }))?.used ?? null;
  }
}

/** A quota by namespace and name. */
export function quotaKey({ namespace, name }: Pick<CachedQuota, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
