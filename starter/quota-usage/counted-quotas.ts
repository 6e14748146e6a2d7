import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import { priorities } from '../../domain/kernel/priority.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, StaleValue, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import { withUnsettledCharges } from '../../domain/quota-usage/recent-charges.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import { desiredStatus, isUrgent } from '../../domain/quota-usage/status.ts';
import { AuditRegistry, type WrongQuota } from './audit-registry.ts';
import type { RunningUsageCache } from './cache.ts';
import type { QueuedUsageRequest } from './reconcile-request.ts';
import type { UsageMetrics } from './metrics.ts';
import type { WantedStatus, WriteProblem } from './status-writer.ts';

/** Why an episode of a quota is started or woken. */
export type RequestCause = Pick<
  QueuedUsageRequest,
  'starts' | 'cause' | 'isPaused' | 'refused' | 'priority' | 'isGone'
>;

export interface CountedQuotasOptions {
  readonly policy: UsagePolicy;
  readonly cache: () => Pick<
    RunningUsageCache,
    'quotas' | 'countNow' | 'unsettledCharges' | 'confirmCharges' | 'evaluators' | 'deviceClasses'
  >;
  readonly request: (quota: CachedQuota, cause: RequestCause) => void;
  /** Whether this starter is the one that writes. */
  readonly isOwner: () => boolean;
  /** In mode `own`: writes a status that differs; returns false where another starter is the one that writes. */
  readonly write: (wanted: WantedStatus) => boolean;
  /** Called with a moment at which a count has to be repeated, because no event will report the change. */
  readonly countAgainAt: (namespace: string, at: MonotonicMs) => void;
  /** Called with every count: the real usage of the quota. */
  readonly onCounted: (quota: CachedQuota, used: ResourceList) => void;
  /** Called with every write, and how many milliseconds after the first change that the status did not know. */
  readonly onWritten: (write: { readonly namespace: string; readonly quota: string; readonly lagMs: number }) => void;
  readonly metrics: Pick<UsageMetrics, 'lag'>;
}

/** Milliseconds to which moments are rounded, so that constantly moving values do not set many alarms. */
const ALARM_STEP_MS = { audit: 1_000, own: 10_000 } as const;
/** Milliseconds after which a number that cannot be counted is told, in mode `own`. */
const UNMEASURED_MS = 60_000;

/** State of one quota between counts. */
interface QuotaState {
  readonly quota: CachedQuota;
  used: ResourceList;
  /** How many of its resources could not be counted. */
  unmeasured: number;
  /** What an episode was started for; null while there is nothing to tell. */
  reported: string | null;
  /** Since when a number cannot be counted; null while all can. */
  unmeasuredSince: MonotonicMs | null;
  /** Why its status is not written; null while it is. */
  problem: WriteProblem['kind'] | null;
  /** The first change that the status does not reflect; null while the status is right. */
  staleSince: MonotonicMs | null;
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
  evaluate(quota: CachedQuota, count: UsageCount, changedAt: MonotonicMs, isResync: boolean): void {
    const key = quotaKey(quota);
    const before = this.#states.get(key);
    const state = before?.quota.uid === quota.uid ? before : freshState(quota);
    this.#states.set(key, state);
    state.used = count.used;
    state.unmeasured = count.unmeasured.flatMap(({ keys }) => keys).length;
    state.unmeasuredSince = state.unmeasured === 0 ? null : (state.unmeasuredSince ?? performance.now());
    const { mode } = this.#options.policy;
    const isInHand = mode === 'own' && this.#evaluateOwn(quota, state, count, { changedAt, isResync });
    this.#tell(quota, state, count, { isResync, isInHand });
    this.#options.onCounted(quota, count.used);
  }

  /** Whether the quota is counted again by itself for as long as its status differs. */
  #evaluateOwn(
    quota: CachedQuota,
    state: QuotaState,
    count: UsageCount,
    { changedAt, isResync }: { readonly changedAt: MonotonicMs; readonly isResync: boolean },
  ): boolean {
    const { write } = this.#options;
    const cache = this.#options.cache();
    if (desiredStatus(quota, count).isWritten) {
      state.staleSince = null;
      state.problem = null;
      return true;
    }
    state.staleSince ??= changedAt;
    const counted = withUnsettledCharges(count, quota.status.used ?? {}, cache.unsettledCharges(quota));
    this.#confirm(
      quota,
      Object.keys(counted.used).filter((resource) => counted.used[resource] !== count.used[resource]),
    );
    const status = desiredStatus(quota, counted);
    if (status.isWritten) return true;
    const isFirst = isUrgent(quota, cache.evaluators(), { deviceClasses: cache.deviceClasses() });
    const priority = isFirst ? priorities.urgent : isResync ? priorities.resync : priorities.routine;
    return write({ quota, status, priority });
  }

  /** Has the charges checked that alone keep a status from being lowered. */
  #confirm(quota: CachedQuota, resources: readonly string[]): void {
    const { cache, countAgainAt, isOwner } = this.#options;
    if (resources.length === 0 || !isOwner()) return;
    const at = cache().confirmCharges(quota, resources);
    if (at !== null) countAgainAt(quota.namespace, at);
  }

  /** The status that was wanted of a quota is written: measures how long that took. */
  onWritten({ quota, status }: WantedStatus): void {
    const { metrics, countAgainAt, onWritten } = this.#options;
    const state = this.#states.get(quotaKey(quota));
    if (state === undefined || state.quota.uid !== quota.uid) return;
    const lagMs = state.staleSince === null ? 0 : performance.now() - state.staleSince;
    metrics.lag.observe(lagMs / 1_000);
    onWritten({ namespace: quota.namespace, quota: quota.name, lagMs });
    state.staleSince = null;
    state.problem = null;
    this.#audits.add({ ...quota, status }, { used: state.used, unmeasured: [] });
    // An episode that told of it is told that it is over.
    if (state.reported !== null) countAgainAt(quota.namespace, performance.now());
  }

  /** A status is not written, which a person has to know: an episode tells it. */
  onProblem(quota: CachedQuota, { kind, message }: WriteProblem): void {
    const state = this.#states.get(quotaKey(quota));
    if (state === undefined || state.problem === kind) return;
    state.problem = kind;
    state.reported = kind;
    const hint = kind === 'paused' ? { isPaused: true } : { refused: message };
    this.#options.request(quota, { starts: true, cause: message, ...hint, priority: priorities.routine });
  }

  /** The namespaces of quotas whose status is not true as far as it is known. */
  untrueNamespaces(): ReadonlySet<string> {
    const untrue = [...this.#states.values()].filter(({ staleSince }) => staleSince !== null);
    return new Set(untrue.map(({ quota: { namespace } }) => namespace));
  }

  /** Has an episode tell what stays wrong, and that it is over. */
  #tell(
    quota: CachedQuota,
    state: QuotaState,
    count: UsageCount,
    { isResync, isInHand }: { readonly isResync: boolean; readonly isInHand: boolean },
  ): void {
    const { policy, request, countAgainAt } = this.#options;
    const now = performance.now();
    const staleValues = this.#audits.add(quota, count);
    const wrong = staleValues.filter(({ since }) => now - since >= policy.auditAfterMs);
    const unmeasuredUntil = (policy.mode === 'own' ? (state.unmeasuredSince ?? Infinity) : Infinity) + UNMEASURED_MS;
    const reported =
      state.problem ??
      (wrong.length > 0
        ? wrong.map(({ resource }) => resource).join(' ')
        : now >= unmeasuredUntil
          ? 'unmeasured'
          : null);
    // A running episode checks by itself periodically; it is woken when other resources are wrong, or none. Also at a
    // resync: the episode may have been terminated or the request lost, and nothing else would start it again.
    if (reported !== null && (reported !== state.reported || isResync)) {
      const priority = reported === state.reported ? priorities.resync : priorities.routine;
      state.reported = reported;
      request(quota, { starts: true, cause: causeOf(reported), isPaused: reported === 'paused', priority });
    } else if (staleValues.length === 0 && state.reported !== null && count.unmeasured.length === 0) {
      state.reported = null;
      request(quota, { starts: false, cause: 'the status is true again', priority: priorities.routine });
    }
    const step = ALARM_STEP_MS[policy.mode];
    const wrongFrom = isInHand ? [] : staleValues.map(({ since }) => since + policy.auditAfterMs);
    for (const at of [...wrongFrom, unmeasuredUntil]) {
      if (at > now && Number.isFinite(at)) countAgainAt(quota.namespace, Math.ceil(at / step) * step);
    }
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
    // Episodes and people go by the time of the day.
    const startedAt = Date.now() - performance.now();
    return found.map((value) => ({ ...value, since: Math.round(startedAt + value.since) }));
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

function freshState(quota: CachedQuota): QuotaState {
  const nothingKnown = { used: {}, unmeasured: 0, unmeasuredSince: null };
  return { quota, ...nothingKnown, reported: null, problem: null, staleSince: null };
}

/** Why an episode is asked for, in words. */
function causeOf(reported: string): string {
  switch (reported) {
    case 'paused':
      return 'the status is wrong, and nothing may be written';
    case 'refused':
      return 'the status cannot be written';
    case 'unmeasured':
      return 'a number cannot be counted';
    default:
      return 'the status stays wrong';
  }
}

/** A quota by namespace and name. */
export function quotaKey({ namespace, name }: Pick<CachedQuota, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
