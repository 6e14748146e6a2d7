import { type GroupResource, groupResourceName } from '../../domain/kernel/group-resource.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { StaleValue } from '../../domain/quota-usage/observation.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import { changesUsage, chargeEndsAt, replenishes } from '../../domain/quota-usage/changes.ts';
import type { ChangeKind, CoalesceLimits } from '../../domain/quota-usage/coalesce.ts';
import type { CountedObject } from '../../domain/quota-usage/evaluator.ts';
import type { CachedQuota, Reached, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import { furthest } from '../../domain/quota-usage/reached.ts';
import { withUnsettledCharges } from '../../domain/quota-usage/recent-charges.ts';
import { isUrgent, desiredStatus } from '../../domain/quota-usage/status.ts';
import type { Log } from '../../platform/log/log.ts';
import { Alarms } from './alarms.ts';
import { AuditRegistry, type WrongQuota } from './audit-registry.ts';
import type { RunningUsageCache } from './cache.ts';
import type { UsageListener } from './usage-listener.ts';
import { hintPriorities, usageHint, type UsageQueuedHint } from './hint.ts';
import type { UsageMetrics } from './metrics.ts';
import { NamespaceRecounts } from './namespace-recounts.ts';

export interface UsageWatchOptions {
  readonly cluster: string;
  readonly policy: UsagePolicy;
  /** Milliseconds between two counts of every quota; 0 for none. */
  readonly resyncMs: number;
  /** Milliseconds: the longest gap between two counts of a busy namespace. */
  readonly maxGapMs: number;
  readonly cache: () => Pick<
    RunningUsageCache,
    'quotas' | 'countNow' | 'unsettledCharges' | 'evaluators' | 'deviceClasses' | 'chargeEnds'
  >;
  readonly hint: (hint: UsageQueuedHint) => void;
  /** Told of every count: what the quota really uses. */
  readonly onCounted: (quota: CachedQuota, used: ResourceList) => void;
  readonly metrics: UsageMetrics;
  readonly log: Log;
}

export interface UsageWatch extends UsageListener {
  /** What is wrong in a quota's status by this count, and since when. */
  readonly staleValues: (quota: CachedQuota, count: UsageCount) => readonly StaleValue[];
  /** Quotas that have been wrong for longer than the audit waits. */
  readonly wrong: () => readonly WrongQuota[];
  /** Quotas that could not be counted in full the last time. */
  readonly unmeasured: () => readonly WrongQuota[];
  readonly waiting: () => number;
  /** The last count of a quota, as far as it could be counted; null before the first. */
  readonly countedUsed: (namespace: string, name: string) => ResourceList | null;
  readonly stop: () => void;
}

/** Milliseconds: what comes together (the pods of a ReplicaSet that is scaled down) is counted together. */
const SETTLE_MS = 20;
/**
 * Milliseconds: admission charges an object before it is there, and the quota's watch may tell of it after the object's. By
 * then the status is true in nearly every case, and a count that finds it so costs nothing.
 */
const CHARGED_SETTLE_MS = 200;

const ALARM_STEP_MS = 1_000;

/** What is known of one quota from count to count. */
interface QuotaState {
  readonly quota: CachedQuota;
  used: ResourceList;
  /** How many of its resources could not be counted. */
  unmeasured: number;
  /** Audit: the resources that an episode was started for; null while nothing is wrong. */
  reported: string | null;
  /** The first change that the status does not know; null while it is true. */
  staleSince: number | null;
}

/**
 * Counts the quotas of a namespace when something in it changed, and hints at those whose status is not what was counted. It
 * decides nothing: the episode counts again, and a status that admission or an earlier episode made true costs nothing.
 */
export function createUsageWatch(options: UsageWatchOptions): UsageWatch {
  const { cluster, policy, cache, metrics, log } = options;
  const limits: CoalesceLimits = {
    settleMs: SETTLE_MS,
    chargedSettleMs: CHARGED_SETTLE_MS,
    maxGapMs: Math.max(options.maxGapMs, SETTLE_MS),
  };
  const states = new Map<string, QuotaState>();
  /** How far the caches have come in what concerns a namespace. */
  const seen = new Map<string, Reached>();
  /** Counts a namespace when a charge ends, or a late status becomes a wrong one. */
  const alarms = new Alarms((namespace) => recounts.note(namespace, 'moved'));
  const audits = new AuditRegistry(policy);
  /** What makes the next count of a namespace one of a resync, which waits behind the others. */
  const resynced = new Set<string>();

  const recounts = new NamespaceRecounts(limits, (namespace, changedAt) => {
    metrics.recounts.inc();
    const isResync = resynced.delete(namespace);
    const now = Date.now();
    for (const at of cache().chargeEnds(namespace)) if (at >= now) alarms.set(namespace, at);
    for (const quota of cache().quotas(namespace)) {
      try {
        evaluate(quota, cache().countNow(quota), changedAt, isResync);
      } catch (error) {
        log.error({ err: error, namespace, quota: quota.name }, `the quota ${keyOf(quota)} could not be counted`);
      }
    }
  });

  /** Takes in a count, and hints if the status says something else. */
  function evaluate(quota: CachedQuota, count: UsageCount, changedAt: number, isResync: boolean): void {
    const key = keyOf(quota);
    const before = states.get(key);
    const fresh: QuotaState = { quota, used: {}, unmeasured: 0, reported: null, staleSince: null };
    const state = before?.quota.uid === quota.uid ? before : fresh;
    states.set(key, state);
    state.used = count.used;
    state.unmeasured = count.unmeasured.flatMap(({ keys }) => keys).length;
    options.onCounted(quota, count.used);
    if (policy.mode === 'audit') return evaluateAudit(quota, state, count, isResync);
    if (desiredStatus(quota, count).isWritten) {
      state.staleSince = null;
      return;
    }
    state.staleSince ??= changedAt;
    const unsettled = cache().unsettledCharges(quota);
    // What is held up now is counted again when it need not be any more, which nothing else tells of.
    if (unsettled.countAgainAt !== null) alarms.set(quota.namespace, unsettled.countAgainAt);
    if (desiredStatus(quota, withUnsettledCharges(count, quota.status.used ?? {}, unsettled.amounts)).isWritten) return;
    const isFirst = isUrgent(quota, cache().evaluators(), { deviceClasses: cache().deviceClasses() });
    const priority = isFirst ? hintPriorities.urgent : isResync ? hintPriorities.resync : hintPriorities.ordinary;
    hint(quota, { starts: true, cause: isResync ? 'resync' : 'the usage changed', priority });
  }

  function evaluateAudit(quota: CachedQuota, state: QuotaState, count: UsageCount, isResync: boolean): void {
    const now = Date.now();
    const staleValues = audits.take(quota, count);
    const wrong = staleValues.filter(({ since }) => now - since >= policy.auditAfterMs);
    const reported = wrong.length === 0 ? null : wrong.map(({ resource }) => resource).join(' ');
    // An episode that is under way looks for itself now and then; it is woken when others are wrong, or none. At a resync as
    // well: it may have been terminated, or the hint lost, and nothing else would ever begin it again.
    if (reported !== null && (reported !== state.reported || isResync)) {
      const priority = reported === state.reported ? hintPriorities.resync : hintPriorities.ordinary;
      state.reported = reported;
      hint(quota, { starts: true, cause: 'the status stays wrong', priority });
    } else if (staleValues.length === 0 && state.reported !== null && count.unmeasured.length === 0) {
      state.reported = null;
      hint(quota, { starts: false, cause: 'the status is true again', priority: hintPriorities.ordinary });
    }
    for (const { since } of staleValues) {
      const at = since + policy.auditAfterMs;
      // By the second, so that a number that moves all the time does not set an alarm for each of its moments.
      if (at > now) alarms.set(quota.namespace, Math.ceil(at / ALARM_STEP_MS) * ALARM_STEP_MS);
    }
  }

  function hint(quota: CachedQuota, what: Pick<UsageQueuedHint, 'starts' | 'cause' | 'priority' | 'isGone'>): void {
    const { namespace, name } = quota;
    const reached = furthest(seen.get(namespace) ?? {}, { resourcequotas: quota.resourceVersion });
    metrics.hints.inc({ priority: String(what.priority) });
    options.hint(usageHint({ cluster, namespace, quota: name }, { ...what, reached }));
  }

  function noteChange(namespace: string, kind: ChangeKind): void {
    // What a resync finds waits behind the others; what changed besides does not.
    resynced.delete(namespace);
    recounts.note(namespace, kind);
  }

  function saw(resource: GroupResource, object: CountedObject): string | null {
    const { namespace, resourceVersion } = object.metadata ?? {};
    // A namespace without a quota is nobody's business here.
    if (namespace === undefined || cache().quotas(namespace).length === 0) return null;
    metrics.changes.inc({ resource: groupResourceName(resource) });
    if (resourceVersion !== undefined) {
      seen.set(namespace, furthest(seen.get(namespace) ?? {}, { [groupResourceName(resource)]: resourceVersion }));
    }
    return namespace;
  }

  const resync = (): void => {
    for (const namespace of new Set(
      cache()
        .quotas()
        .map((quota) => quota.namespace),
    )) {
      resynced.add(namespace);
      recounts.note(namespace, 'charged');
    }
  };
  const resyncing = options.resyncMs === 0 ? null : setInterval(resync, options.resyncMs);

  return {
    onObject: (resource, object, previous) => {
      const now = Date.now();
      // When it begins to be deleted a pod is charged as before: nothing changes until its grace is over.
      const endsAt = chargeEndsAt(resource, object);
      const itsNamespace = object.metadata?.namespace;
      if (endsAt !== null && endsAt >= now && itsNamespace !== undefined) alarms.set(itsNamespace, endsAt);
      const isMoved = previous !== undefined && replenishes(resource, previous, object, now);
      if (previous !== undefined && !isMoved && !changesUsage(resource, previous, object, now)) return;
      const namespace = saw(resource, object);
      if (namespace === null) return;
      noteChange(namespace, isMoved ? 'moved' : 'charged');
    },
    onObjectGone: (resource, object) => {
      const namespace = saw(resource, object);
      if (namespace !== null) noteChange(namespace, 'moved');
    },
    onQuota: (quota, previous) => {
      const state = states.get(keyOf(quota));
      const isSpecSame = previous !== undefined && JSON.stringify(previous.spec) === JSON.stringify(quota.spec);
      if (previous !== undefined && isSpecSame && JSON.stringify(previous.status) === JSON.stringify(quota.status))
        return;
      if (isSpecSame) {
        // A status write: an episode's own equals the count and ends here, and somebody else's is looked at.
        if (state !== undefined) noteLag(quota, state);
        noteChange(quota.namespace, 'charged');
      } else {
        noteChange(quota.namespace, 'urgent');
      }
    },
    onQuotaGone: (quota) => {
      states.delete(keyOf(quota));
      audits.forget(quota);
      noteChange(quota.namespace, 'moved');
      hint(quota, { starts: false, cause: 'the quota is deleted', priority: hintPriorities.ordinary, isGone: true });
      if (cache().quotas(quota.namespace).length === 0) seen.delete(quota.namespace);
    },
    onFilled: () => {
      for (const namespace of new Set(
        cache()
          .quotas()
          .map((quota) => quota.namespace),
      ))
        noteChange(namespace, 'charged');
    },
    staleValues: (quota, count) => {
      const found = audits.take(quota, count);
      // A count that waited for a cache may be of a quota that has gone since, which nobody would forget again.
      const isThere = cache()
        .quotas(quota.namespace)
        .some(({ uid }) => uid === quota.uid);
      if (!isThere) audits.forget(quota);
      return found;
    },
    wrong: () => audits.wrong(),
    unmeasured: () =>
      [...states.values()]
        .filter(({ unmeasured }) => unmeasured > 0)
        .map(({ quota: { namespace, name }, unmeasured }) => ({ namespace, quota: name, resources: unmeasured })),
    waiting: () => recounts.waiting,
    countedUsed: (namespace, name) => states.get(`${namespace}/${name}`)?.used ?? null,
    stop: () => {
      if (resyncing !== null) clearInterval(resyncing);
      alarms.stop();
      recounts.stop();
    },
  };

  /** The status that was waited for is there: how long that took. */
  function noteLag(quota: CachedQuota, state: QuotaState): void {
    if (state.staleSince === null || !desiredStatus(quota, cache().countNow(quota)).isWritten) return;
    metrics.lag.observe((Date.now() - state.staleSince) / 1000);
    state.staleSince = null;
  }
}

function keyOf({ namespace, name }: CachedQuota): string {
  return `${namespace}/${name}`;
}
